"""Steps from the columns of a dataset to the field that stands for all of them (`explicit_lineage`).

They are not stored, so that a column that becomes known later is among them, whatever the order of events.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, select

from headwater.model import Subtype, Transformation
from headwater.model.name_keys import keys_of
from headwater.openlineage.reading.explicit_lineage import WHOLE
from headwater.store import schema
from headwater.store.questions.answers import Bounds, Direction, EdgeType
from headwater.store.sql.rows import rows_for

ANY_COLUMN = Transformation(Subtype.TRANSFORMATION, opaque=True, description="one of the columns of the dataset")
ANY_COLUMN_ID = -1
"""What stands for it among the ids of transformations; those of the store begin at 1."""

_FIELD = schema.field
_STAR = schema.field.alias("star")
_KEY = keys_of(WHOLE)[1]
_ANY = select(_FIELD.c.id).where(_FIELD.c.folded_key == _KEY).limit(1)

Valid = list[tuple[Any, list[ColumnElement[bool]]]]
"""Tables of edges, each with what is so of an edge that holds."""


def follows_opaque_values(bounds: Bounds) -> bool:
    """Whether a walk within bounds follows an opaque TRANSFORMATION that is not known to mask."""
    if bounds.masking or bounds.edge_type is EdgeType.INDIRECT:
        return False
    return not bounds.subtypes or Subtype.TRANSFORMATION in bounds.subtypes


def has_whole_sources(connection: Connection, bounds: Bounds) -> bool:
    """Whether there are such steps that a walk within bounds may follow: one look-up in an index."""
    return follows_opaque_values(bounds) and connection.execute(_ANY).first() is not None


def whole_source_steps(
    connection: Connection, direction: Direction, fields: Collection[int], valid: Valid, jobs: Collection[int]
) -> list[tuple[int, ...]]:
    """The steps into some of the fields or out of them, as rows of (input, output, transformation, job).

    The job is each that reads the dataset as a whole; one of ``jobs`` where some are given.
    """
    near = _STAR.c.id if direction is Direction.UP else _FIELD.c.id
    question = select(_FIELD.c.id, _STAR.c.id.label("star")).join(_STAR, _STAR.c.dataset_id == _FIELD.c.dataset_id)
    question = question.where(_STAR.c.folded_key == _KEY, _FIELD.c.id != _STAR.c.id)
    rows = list(rows_for(connection, fields, lambda some: question.where(near.in_(some))))
    readers: dict[int, set[int]] = {}
    for table, then in valid:
        for star, job in rows_for(
            connection,
            {row.star for row in rows},
            lambda some, table=table, then=then: _reading(table, then, some),  # type: ignore[misc]
        ):
            readers.setdefault(star, set()).add(job)
    return [
        (row.id, row.star, ANY_COLUMN_ID, job)
        for row in sorted(rows)
        for job in sorted(readers.get(row.star, ()))
        if not jobs or job in jobs
    ]


def _reading(table: Any, then: list[ColumnElement[bool]], stars: Any) -> Select[Any]:
    return select(table.c.input_field, table.c.job_id).where(table.c.input_field.in_(stars), *then).distinct()
