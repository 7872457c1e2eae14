"""What events say of a row, of which the latest counts; equal times go by value, so that arrival does not matter."""

from collections.abc import Sequence
from functools import lru_cache

from sqlalchemy import Table, insert, select, update

from headwater.model import SchemaField
from headwater.model.name_keys import key_of
from headwater.store import schema
from headwater.store.ingest.field_spelling import READ, WRITTEN
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.statements import DatedSchema


def propose_attribute(
    writer: Writer, column: tuple[Table, str], row_id: int, value: str | None, at: int | None
) -> None:
    """Sets an attribute of a row, unless what is there was said later. An empty value says nothing."""
    if value and at is not None:
        writer.pending.propose_attribute(column, row_id, value, at)


def propose_schema(
    writer: Writer, dataset_id: int, fields: Sequence[SchemaField], at: int, *, written: bool = False
) -> None:
    """Makes these the fields of a dataset, in this order, unless its schema was told later."""
    if not fields:
        return
    digest = _digest(tuple(fields))
    ids = writer.fields(dataset_id, [field.name for field in fields], at, WRITTEN if written else READ)
    placed = [(ids[field.name], field.type, field.name) for field in fields]
    if writer.renames(dataset_id):
        placed = [(*one[:2], one[2] if writer.still_named(dataset_id, one[2], at) else "") for one in placed]
    writer.pending.schema(dataset_id, DatedSchema(at, digest, tuple(placed)), written=written)


@lru_cache(maxsize=1000)
def _digest(fields: tuple[SchemaField, ...]) -> bytes:
    return key_of(*(part for field in fields for part in (field.name, field.type)))


def add_run_dataset(writer: Writer, run_id: int, dataset_id: int, *, written: bool, has_lineage: bool) -> None:
    """Notes that a run read or wrote a dataset, and whether it said how."""
    writer.runs_to_summarize.add(run_id)
    writer.pending.add_run_dataset((run_id, dataset_id, written), has_lineage=has_lineage)


def add_change(writer: Writer, run_id: int, dataset_id: int, left: tuple[int, bytes] | None = None) -> None:
    """Notes that a run altered, renamed, emptied or dropped a dataset: it wrote no rows, and owes no lineage.

    ``left`` is the schema that it left, and when; the latest counts.
    """
    writer.pending.write_runs(writer.connection)
    row = {"run_id": run_id, "dataset_id": dataset_id}
    at, digest = left or (None, None)
    values = {"schema_at": at, "schema_digest": digest}
    known = writer.connection.execute(select(schema.dataset_change).filter_by(**row)).first()
    if known is None:
        writer.connection.execute(insert(schema.dataset_change), row | values)
    elif left is not None and (known.schema_at is None or left > (known.schema_at, known.schema_digest)):
        writer.connection.execute(update(schema.dataset_change).filter_by(**row).values(**values))
