"""What events say of a row, of which the latest counts; equal times go by value, so that arrival does not matter."""

from collections.abc import Iterable, Sequence
from functools import cache

from sqlalchemy import Table, Update, and_, bindparam, insert, or_, select, update

from headwater.model import SchemaField
from headwater.store import schema
from headwater.store.ids import Writer
from headwater.store.keys import key_of

_DATASET = schema.dataset
_FIELD = schema.field


def offer(writer: Writer, column: tuple[Table, str], row_id: int, value: str | None, at: int | None) -> None:
    """Sets an attribute of a row, unless what is there was said later. An empty value says nothing."""
    if value and at is not None:
        writer.connection.execute(_later(*column), {"row": row_id, "value": value, "moment": at})


@cache
def _later(table: Table, name: str) -> Update:
    known, known_at = table.c[name], table.c[f"{name}_at"]
    value, at = bindparam("value", type_=known.type), bindparam("moment", type_=known_at.type)
    later = or_(known_at.is_(None), known_at < at, and_(known_at == at, known < value))
    return update(table).where(table.c.id == bindparam("row"), later).values({name: value, f"{name}_at": at})


def offer_schema(writer: Writer, dataset_id: int, fields: Sequence[SchemaField], at: int | None) -> None:
    """Makes these the fields of a dataset, in this order, unless its schema was told later."""
    if not fields or at is None:
        return
    digest = key_of(*(part for field in fields for part in (field.name, field.type)))
    known = writer.connection.execute(_TOLD_SCHEMA, {"dataset": dataset_id}).one()
    ids = writer.fields(dataset_id, (field.name for field in fields), at)
    if known.schema_at is not None and (known.schema_at, known.schema_digest) >= (at, digest):
        return
    writer.connection.execute(_TELL_SCHEMA, {"dataset": dataset_id, "digest": digest, "moment": at})
    if known.schema_digest != digest:
        _replace_schema(writer, dataset_id, [(ids[field.name], field.type) for field in fields])


_MINE = _DATASET.c.id == bindparam("dataset")
_TOLD_SCHEMA = select(_DATASET.c.schema_at, _DATASET.c.schema_digest).where(_MINE)
_TELL_SCHEMA = update(_DATASET).where(_MINE).values(schema_digest=bindparam("digest"), schema_at=bindparam("moment"))


def touch(writer: Writer, run_id: int, dataset_id: int, *, written: bool, has_lineage: bool) -> None:
    """Notes that a run read or wrote a dataset, and whether it said how."""
    place = (run_id, dataset_id, written)
    key = {"run": run_id, "dataset": dataset_id, "way": written}
    known = writer.touched.get(place)
    if known is None:
        known = writer.connection.execute(_TOUCHED, key).scalar()
    if known is None:
        row = {"run_id": run_id, "dataset_id": dataset_id, "written": written, "has_lineage": has_lineage}
        writer.connection.execute(_TOUCH, row)
    elif has_lineage and not known:
        writer.connection.execute(_TOUCH_AGAIN, key)
    writer.touched[place] = bool(known) or has_lineage


def note_change(writer: Writer, run_id: int, dataset_id: int) -> None:
    """Notes that a run altered, renamed, emptied or dropped a dataset: it wrote no rows, and owes no lineage."""
    row = {"run_id": run_id, "dataset_id": dataset_id}
    if writer.connection.execute(select(_CHANGE.run_id).filter_by(**row)).first() is None:
        writer.connection.execute(insert(schema.dataset_change), row)


_CHANGE = schema.dataset_change.c
_TABLE = schema.run_dataset
_PLACE = and_(
    _TABLE.c.run_id == bindparam("run"),
    _TABLE.c.dataset_id == bindparam("dataset"),
    _TABLE.c.written == bindparam("way"),
)
_TOUCHED = select(_TABLE.c.has_lineage).where(_PLACE)
_TOUCH = insert(_TABLE)
_TOUCH_AGAIN = update(_TABLE).where(_PLACE).values(has_lineage=True)


def _replace_schema(writer: Writer, dataset_id: int, fields: Iterable[tuple[int, str]]) -> None:
    writer.connection.execute(update(_FIELD).where(_FIELD.c.dataset_id == dataset_id).values(ordinal=None, type=""))
    place = (
        update(_FIELD)
        .where(_FIELD.c.id == bindparam("field"))
        .values(ordinal=bindparam("place"), type=bindparam("kind"))
    )
    rows = [{"field": field, "place": place, "kind": kind} for place, (field, kind) in enumerate(fields)]
    writer.connection.execute(place, rows)
