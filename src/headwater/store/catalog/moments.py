"""When events first and last spoke of something, also of what they only mention."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from headwater.store import schema
from headwater.store.read_model.visibility import references
from headwater.store.sql.databases import rows_for

Span = tuple[int, int]

_RUN = schema.run
_FIELD = schema.field


def of_datasets(connection: Connection, rows: Sequence[Any]) -> dict[int, Span]:
    """When each dataset was first and last described by an event; one that lineage only names, when named."""
    spans, marked = _spans(rows), references(connection)
    for edges in (schema.edge, schema.dataset_edge):
        missing = [row.id for row in rows if row.id not in spans]
        since = edges.c.valid_from
        named = select(_FIELD.c.dataset_id, func.min(since), func.max(since)).group_by(_FIELD.c.dataset_id)
        named = named.join(edges, edges.c.input_field == _FIELD.c.id)
        named = named.where(edges.c.transformation_id.not_in(marked)) if marked else named
        found = rows_for(
            connection,
            missing,
            lambda some, named=named: named.where(_FIELD.c.dataset_id.in_(some)),  # type: ignore[misc]
        )
        spans |= {one: (first, last) for one, first, last in found}
    return {row.id: spans.get(row.id, (0, 0)) for row in rows}


def of_jobs(connection: Connection, rows: Sequence[Any]) -> dict[int, Span]:
    """When each job was first and last in an event; one that is only the parent of others: when their runs changed."""
    spans = _spans(rows)
    missing = [row.id for row in rows if row.id not in spans]
    parent, at = _RUN.alias("parent"), _RUN.c.state_at
    named = select(parent.c.job_id, func.min(func.coalesce(_RUN.c.started_at, at)), func.max(at))
    named = named.join(parent, parent.c.id == _RUN.c.parent_id).group_by(parent.c.job_id)
    found = rows_for(connection, missing, lambda some: named.where(parent.c.job_id.in_(some)))
    spans |= {one: (first, last) for one, first, last in found}
    return {row.id: spans.get(row.id, (0, 0)) for row in rows}


def _spans(rows: Iterable[Any]) -> dict[int, Span]:
    return {row.id: (row.first_at, row.last_at) for row in rows if row.first_at is not None}
