"""What events say of a row, of which the latest counts; equal times go by value, so that arrival does not matter."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Table, and_, bindparam, insert, or_, select, update

from headwater.model import SchemaField
from headwater.store import schema
from headwater.store.ids import Writer, key_of

_DATASET = schema.dataset
_FIELD = schema.field


def offer(writer: Writer, column: tuple[Table, str], row_id: int, value: str | None, at: int | None) -> None:
    """Sets an attribute of a row, unless what is there was said later. An empty value says nothing."""
    if not value or at is None:
        return
    table, name = column
    known, known_at = table.c[name], table.c[f"{name}_at"]
    later = or_(known_at.is_(None), known_at < at, and_(known_at == at, known < value))
    change = update(table).where(table.c.id == row_id, later).values({name: value, f"{name}_at": at})
    writer.connection.execute(change)


def offer_schema(writer: Writer, dataset_id: int, fields: Sequence[SchemaField], at: int | None) -> None:
    """Makes these the fields of a dataset, in this order, unless its schema was told later."""
    if not fields or at is None:
        return
    digest = key_of(*(part for field in fields for part in (field.name, field.type)))
    known = writer.connection.execute(select(_DATASET).where(_DATASET.c.id == dataset_id)).one()
    ids = writer.fields(dataset_id, (field.name for field in fields))
    if known.schema_at is not None and (known.schema_at, known.schema_digest) >= (at, digest):
        return
    values = {"schema_digest": digest, "schema_at": at}
    writer.connection.execute(update(_DATASET).where(_DATASET.c.id == dataset_id).values(**values))
    if known.schema_digest != digest:
        _replace_schema(writer, dataset_id, [(ids[field.name], field.type) for field in fields])


def touch(writer: Writer, run_id: int, dataset_id: int, *, written: bool, has_lineage: bool) -> None:
    """Notes that a run read or wrote a dataset, and whether it said how."""
    table = schema.run_dataset
    key: dict[str, Any] = {"run_id": run_id, "dataset_id": dataset_id, "written": written}
    known = writer.connection.execute(select(table.c.has_lineage).filter_by(**key)).scalar()
    if known is None:
        writer.connection.execute(insert(table).values(**key, has_lineage=has_lineage))
    elif has_lineage and not known:
        writer.connection.execute(update(table).filter_by(**key).values(has_lineage=True))


def _replace_schema(writer: Writer, dataset_id: int, fields: Iterable[tuple[int, str]]) -> None:
    writer.connection.execute(update(_FIELD).where(_FIELD.c.dataset_id == dataset_id).values(ordinal=None, type=""))
    place = (
        update(_FIELD)
        .where(_FIELD.c.id == bindparam("field"))
        .values(ordinal=bindparam("place"), type=bindparam("kind"))
    )
    rows = [{"field": field, "place": place, "kind": kind} for place, (field, kind) in enumerate(fields)]
    writer.connection.execute(place, rows)
