"""Datasets and fields that are no more, and the fields of now: of schemas, or named by lineage or tags."""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Connection, func, or_, select

from headwater.store import schema
from headwater.store.read_model.presence import once, presence
from headwater.store.read_model.visibility import described_datasets, described_fields, references
from headwater.store.sql.databases import rows_for

_FIELD = schema.field
_DATASET = schema.dataset
_REFERRING_TO_FIELDS = (
    schema.edge.c.output_field,
    schema.edge.c.input_field,
    schema.dataset_edge.c.input_field,
    schema.tagging.c.field_id,
)


def replaced_datasets(connection: Connection) -> set[int]:
    """Datasets that were dropped, or lost their names by renaming, and whose names are others' now."""
    return once(connection, _replaced_datasets_now)


def _replaced_datasets_now(connection: Connection) -> set[int]:
    if not presence(connection).reused_names:
        return set()
    name = schema.dataset_name
    first = name.c.first_key
    reused = select(name.c.id, name.c.dataset_id, func.coalesce(first, name.c.key).label("first"))
    reused = reused.where(or_(first.is_not(None), name.c.key.in_(select(first).where(first.is_not(None)))))
    reused = reused.where(described_datasets(connection, name.c.dataset_id))
    rows = connection.execute(reused.order_by(name.c.since)).all()
    latest = {row.first: row.id for row in rows}
    taken = {row.id: row.dataset_id for row in rows if latest[row.first] != row.id}
    own = select(name.c.id, name.c.dataset_id)
    of_datasets = rows_for(connection, set(taken.values()), lambda some: own.where(name.c.dataset_id.in_(some)))
    return set(taken.values()) - {row.dataset_id for row in of_datasets if row.id not in taken}


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
    for column in _REFERRING_TO_FIELDS:
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
