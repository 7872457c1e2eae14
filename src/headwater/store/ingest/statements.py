"""The statements that write a batch: each for many rows, none depending on what is there already."""

from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Insert, LargeBinary, Table, Text, Update, and_, case, or_, select, update

from headwater.model.name_keys import keys_of
from headwater.store import schema
from headwater.store.sql.bulk import Addition, BoundValues, Change, Upsert, add_rows
from headwater.store.sql.rows import rows_for

_RUN = schema.run
_DATASET = schema.dataset
_FACET = schema.facet
_FIELD = schema.field
_SCHEMA = schema.dataset_schema
_TOUCH = schema.run_dataset
_ID, _MOMENT, _DIGEST = BigInteger(), BigInteger(), LargeBinary()

Values = dict[str, Any]
Place = tuple[str, int]
"""A type and a place."""


class DatedSchema(NamedTuple):
    """The fields of a dataset in their order, as ids with types and names, and when that was said.

    A field that has another name by now has none here.
    """

    at: int
    digest: bytes
    fields: tuple[tuple[int, str, str], ...]

    @property
    def places(self) -> dict[int, Place]:
        """The type and the place of each field, by id."""
        return {field: (kind, place) for place, (field, kind, _) in enumerate(self.fields)}

    @property
    def names(self) -> dict[int, str]:
        """The name of each field, by id."""
        return {field: name for field, _, name in self.fields if name}


ATTRIBUTES = {
    schema.job: ("type", "sql", "description", "location"),
    schema.dataset: ("source", "lifecycle", "version", "description"),
}
"""The columns of which the latest word counts; beside each is one that says when that was."""


def with_moments(table: Table) -> tuple[str, ...]:
    """These columns of a table, each with the one beside it; and those of the first and the last moment."""
    return (*chain.from_iterable((name, f"{name}_at") for name in ATTRIBUTES[table]), "first_at", "last_at")


RUN_COLUMNS = ("job_id", "parent_id", "state", "state_at", "started_at", "engine")
"""The columns of a run's row that events change."""


def _update_run(given: BoundValues) -> Update:
    return update(_RUN).where(_RUN.c.id == given["row"]).values({name: given[name] for name in RUN_COLUMNS})


UPDATE_RUN = Change({"row": _ID, **{name: _RUN.c[name].type for name in RUN_COLUMNS}}, _update_run)


@cache
def later(table: Table, name: str) -> Change:
    """Sets an attribute unless what is there was said later; of equal times the greater value stays."""
    known, known_at = table.c[name], table.c[f"{name}_at"]

    def set_latest(given: BoundValues) -> Update:
        value, at = given["value"], given["moment"]
        later = or_(known_at.is_(None), known_at < at, and_(known_at == at, known < value))
        return update(table).where(table.c.id == given["row"], later).values({name: value, f"{name}_at": at})

    return Change({"row": _ID, "value": Text(), "moment": _MOMENT}, set_latest)


def _run_dataset(new: Upsert) -> Insert:
    told, known = new.excluded, _TOUCH.c
    later = or_(
        and_(told.schema_at.is_not(None), known.schema_at.is_(None)),
        told.schema_at > known.schema_at,
        and_(told.schema_at == known.schema_at, told.schema_digest > known.schema_digest),
    )
    latest = {name: case((later, told[name]), else_=known[name]) for name in ("schema_digest", "schema_at")}
    return new.on_conflict_do_update(
        index_elements=["run_id", "dataset_id", "written"],
        set_={"has_lineage": or_(known.has_lineage, told.has_lineage), **latest},
        where=or_(and_(told.has_lineage, ~known.has_lineage), later),
    )


def _unless_known(new: Upsert) -> Insert:
    return new.on_conflict_do_nothing()


def _latest_facet(new: Upsert) -> Insert:
    at, event = new.excluded.at, new.excluded.event_digest
    later = or_(at > _FACET.c.at, and_(at == _FACET.c.at, event > _FACET.c.event_digest))
    return new.on_conflict_do_update(
        index_elements=["dataset_id", "job_id", "name"], set_={"at": at, "event_digest": event}, where=later
    )


_OF_TOUCH = ("run_id", "dataset_id", "written", "has_lineage", "at", "schema_digest", "schema_at")
ADD_RUN_DATASET = Addition(_TOUCH, _OF_TOUCH, _run_dataset)
"""A row for each dataset of a run; one that is there gets lineage when there is some, and the later schema."""

NEW_GAP = Addition(schema.gap, ("run_id", "key", "kind", "what", "why", "output"), _unless_known)
"""A row for each gap that is not known yet."""

NEW_FIELD_NAME = Addition(schema.field_name, ("key", "folded_key", "name"), _unless_known)
"""A row for each name of a field that is not known yet."""

LATEST_FACET = Addition(_FACET, ("dataset_id", "job_id", "name", "at", "event_digest"), _latest_facet)
"""The event that tells a facet, unless a later one is known."""


def field_name(name: str) -> tuple[bytes, bytes, str]:
    """The row of a name of fields."""
    return (*keys_of(name), name)


@cache
def spanning(table: Table) -> Change:
    """The first and the last moment; one that comes after the row was hidden shows it again."""

    def span(given: BoundValues) -> Update:
        known, first, last = table.c, given["first"], given["last"]
        return (
            update(table)
            .where(known.id == given["row"])
            .values(
                first_at=case((known.first_at < first, known.first_at), else_=first),
                last_at=case((known.last_at > last, known.last_at), else_=last),
                hidden_at=case((known.hidden_at < last, None), else_=known.hidden_at),
            )
        )

    return Change({"row": _ID, "first": _MOMENT, "last": _MOMENT}, span)


_TOLD = select(_DATASET.c.id, _DATASET.c.schema_at, _DATASET.c.schema_digest)


def _set_schema(given: BoundValues) -> Update:
    told = update(_DATASET).where(_DATASET.c.id == given["dataset"])
    return told.values(schema_digest=given["digest"], schema_at=given["moment"])


def _unplace(given: BoundValues) -> Update:
    return update(_FIELD).where(_FIELD.c.dataset_id == given["dataset"]).values(ordinal=None, type="")


def _place(given: BoundValues) -> Update:
    return update(_FIELD).where(_FIELD.c.id == given["field"]).values(ordinal=given["ordinal"], type=given["type"])


_SET_SCHEMA = Change({"dataset": _ID, "digest": _DIGEST, "moment": _MOMENT}, _set_schema)
_UNPLACE = Change({"dataset": _ID}, _unplace)
PLACE = Change({"field": _ID, "type": Text(), "ordinal": _FIELD.c.ordinal.type}, _place)
"""The type of a field, and its place among those of its dataset."""


def set_later_schemas(connection: Connection, told: dict[int, DatedSchema]) -> dict[int, Place]:
    """Notes the schemas that were told later than those that are known; the places that they give fields, by id."""
    later: dict[int, DatedSchema] = {}
    placed_before: list[tuple[int]] = []
    placed: dict[int, Place] = {}
    for dataset, at, digest in rows_for(connection, told, lambda some: _TOLD.where(_DATASET.c.id.in_(some))):
        now = told[dataset]
        if at is None or (now.at, now.digest) > (at, digest):
            later[dataset] = now
            if now.digest != digest:
                placed |= now.places
                placed_before += [(dataset,)] if digest is not None else []
    _SET_SCHEMA(connection, [(dataset, one.digest, one.at) for dataset, one in later.items()])
    _UNPLACE(connection, placed_before)
    return placed


def add_schemas(connection: Connection, schemas: Mapping[bytes, str]) -> None:
    """Add the schemas of versions that are not there yet, each once by its content."""
    present = rows_for(connection, schemas, lambda some: select(_SCHEMA.c.digest).where(_SCHEMA.c.digest.in_(some)))
    new = schemas.keys() - {row.digest for row in present}
    add_rows(connection, _SCHEMA, ("digest", "fields"), [(digest, schemas[digest]) for digest in sorted(new)])
