"""The statements that write a batch: each for many rows, none depending on what is there already."""

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Insert, Table, Update, and_, bindparam, case, insert, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from headwater.store import schema
from headwater.store.bulk import change_rows
from headwater.store.keys import keys_of
from headwater.store.rows import rows_for

_RUN = schema.run
_DATASET = schema.dataset
_FACET = schema.facet
_FIELD = schema.field
_TOUCH = schema.run_dataset

Values = dict[str, Any]


class ToldSchema(NamedTuple):
    """The fields of a dataset in their order, as ids with types, and when that was said."""

    at: int
    digest: bytes
    fields: tuple[tuple[int, str], ...]


def write(connection: Connection, statement: Insert | Update, rows: list[Values]) -> None:
    """Runs a statement for each of the rows, if any."""
    if rows:
        connection.execute(statement, rows)


KEEP = insert(schema.event)
_RUN_COLUMNS = ("job_id", "parent_id", "state", "state_at", "started_at", "engine")
TELL_RUN = update(_RUN).where(_RUN.c.id == bindparam("row"))
TELL_RUN = TELL_RUN.values({name: bindparam(name) for name in _RUN_COLUMNS})


@cache
def later(table: Table, name: str) -> Update:
    """Sets an attribute unless what is there was said later; of equal times the greater value stays."""
    known, known_at = table.c[name], table.c[f"{name}_at"]
    value, at = bindparam("value", type_=known.type), bindparam("moment", type_=known_at.type)
    later = or_(known_at.is_(None), known_at < at, and_(known_at == at, known < value))
    return update(table).where(table.c.id == bindparam("row"), later).values({name: value, f"{name}_at": at})


@cache
def touching(dialect: str) -> Insert:
    """A row for each touch; one that is there learns that lineage was told."""
    touch = _upsert(dialect, _TOUCH)
    return touch.on_conflict_do_update(
        index_elements=["run_id", "dataset_id", "written"],
        set_={"has_lineage": True},
        where=and_(touch.excluded.has_lineage, ~_TOUCH.c.has_lineage),
    )


@cache
def new_gap(dialect: str) -> Insert:
    """A row for each gap that is not known yet."""
    return _upsert(dialect, schema.gap).on_conflict_do_nothing()


@cache
def new_field_name(dialect: str) -> Insert:
    """A row for each name of a field that is not known yet."""
    return _upsert(dialect, schema.field_name).on_conflict_do_nothing()


def field_name(name: str) -> Values:
    """The row of a name of fields."""
    key, folded_key = keys_of(name)
    return {"key": key, "folded_key": folded_key, "name": name}


@cache
def latest_facet(dialect: str) -> Insert:
    """The event that tells a facet, unless a later one is known."""
    facet = _upsert(dialect, _FACET)
    at, event = facet.excluded.at, facet.excluded.event_digest
    later = or_(at > _FACET.c.at, and_(at == _FACET.c.at, event > _FACET.c.event_digest))
    return facet.on_conflict_do_update(
        index_elements=["dataset_id", "job_id", "name"], set_={"at": at, "event_digest": event}, where=later
    )


@cache
def spanning(table: Table) -> Update:
    """The first and the last moment; one that comes after the row was hidden shows it again."""
    first, last = bindparam("first", type_=BigInteger()), bindparam("last", type_=BigInteger())
    known = table.c
    return (
        update(table)
        .where(known.id == bindparam("row"))
        .values(
            first_at=case((known.first_at < first, known.first_at), else_=first),
            last_at=case((known.last_at > last, known.last_at), else_=last),
            hidden_at=case((known.hidden_at < last, None), else_=known.hidden_at),
        )
    )


def _upsert(dialect: str, table: Table) -> "postgresql.Insert | sqlite.Insert":
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)


_TOLD = select(_DATASET.c.id, _DATASET.c.schema_at, _DATASET.c.schema_digest)
_TELL = update(_DATASET).where(_DATASET.c.id == bindparam("dataset"))
_TELL = _TELL.values(schema_digest=bindparam("digest"), schema_at=bindparam("moment"))
_UNPLACE = update(_FIELD).where(_FIELD.c.dataset_id == bindparam("dataset")).values(ordinal=None, type="")


def write_schemas(connection: Connection, told: dict[int, ToldSchema]) -> None:
    """The columns of datasets in their order, where they were told later than those that are known."""
    later: dict[int, ToldSchema] = {}
    changed: dict[int, ToldSchema] = {}
    for dataset, at, digest in rows_for(connection, told, lambda some: _TOLD.where(_DATASET.c.id.in_(some))):
        now = told[dataset]
        if at is None or (now.at, now.digest) > (at, digest):
            later[dataset] = now
            if now.digest != digest:
                changed[dataset] = now
    rows = [{"dataset": dataset, "digest": one.digest, "moment": one.at} for dataset, one in later.items()]
    write(connection, _TELL, rows)
    write(connection, _UNPLACE, [{"dataset": dataset} for dataset in changed])
    placed = [(place, kind, field) for one in changed.values() for place, (field, kind) in enumerate(one.fields)]
    change_rows(connection, _FIELD, ("ordinal", "type", "id"), placed)
