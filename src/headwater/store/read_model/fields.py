"""The fields that datasets have now: those of their schemas, and those that only lineage or tags name."""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, select

from headwater.store import schema
from headwater.store.read_model.presence import presence
from headwater.store.read_model.visibility import described_fields, references
from headwater.store.sql.rows import rows_for

_FIELD = schema.field
_DATASET = schema.dataset
_TELLING = (
    schema.edge.c.output_field,
    schema.edge.c.input_field,
    schema.dataset_edge.c.input_field,
    schema.tagging.c.field_id,
)


def lasting(connection: Connection, datasets: Collection[int]) -> list[Any]:
    """The rows of the fields, those of each schema in its order, then the others by name.

    A field that is no more in the schema of its dataset is left out, unless lineage of now or a tag names it; one
    that ended with a replacement is left out whatever names it.
    """
    question = select(_FIELD, _DATASET.c.schema_at).join(_DATASET, _DATASET.c.id == _FIELD.c.dataset_id)
    question = question.where(described_fields(connection))
    rows = list(rows_for(connection, datasets, lambda some: question.where(_FIELD.c.dataset_id.in_(some))))
    unplaced = [row.id for row in rows if row.ordinal is None and row.schema_at is not None]
    gone = (set(unplaced) - _in_lineage(connection, unplaced)) | ended_fields(connection, rows)
    known = [row for row in rows if row.id not in gone]
    return sorted(known, key=lambda row: (row.ordinal is None, row.ordinal or 0, row.name))


def ended_fields(connection: Connection, rows: Iterable[Any]) -> set[int]:
    """The fields that a run left out when it replaced all rows of their dataset, and that nobody has written since.

    Args:
        rows: rows of fields, of which those without a place in the latest schema may have ended.
    """
    unplaced = {row.id: row.dataset_id for row in rows if row.ordinal is None}
    if not unplaced or not presence(connection).replacements:
        return set()
    replaced = _replaced(connection, set(unplaced.values()))
    fields = [field for field, dataset in unplaced.items() if dataset in replaced]
    edge = schema.edge.c.output_field
    made = select(edge.label("field")).distinct()
    written = {row.field for row in rows_for(connection, fields, lambda some: made.where(edge.in_(some)))}
    return set(fields) - written


def _replaced(connection: Connection, datasets: Collection[int]) -> set[int]:
    """The datasets of which all rows were replaced by a run that has their columns."""
    mine = schema.replacement.c
    question = select(mine.dataset_id).where(mine.certain, mine.has_schema).distinct()
    rows = rows_for(connection, datasets, lambda some: question.where(mine.dataset_id.in_(some)))
    return {row.dataset_id for row in rows}


def _in_lineage(connection: Connection, fields: Collection[int]) -> set[int]:
    found: set[int] = set()
    marked = references(connection)
    for column in _TELLING:
        question = select(column.label("field")).distinct()
        if marked and "transformation_id" in column.table.c:
            question = question.where(column.table.c.transformation_id.not_in(marked))
        rows = rows_for(
            connection,
            fields,
            lambda some, question=question, column=column: question.where(column.in_(some)),  # type: ignore[misc]
        )
        found.update(row.field for row in rows)
    return found
