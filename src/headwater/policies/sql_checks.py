"""Queries of policies: read-only SQL over views of the lineage, the same for every database."""

from collections.abc import Iterator, Sequence

import sqlglot
from sqlalchemy import Connection, Select, literal, select, text, true, union_all
from sqlalchemy.exc import DBAPIError
from sqlglot import exp
from sqlglot.errors import SqlglotError

from headwater.errors import PolicyError
from headwater.store import schema
from headwater.yaml_map import Word

_MOST = 10_000
"""The largest number of rows of a query that become findings."""

Cell = tuple[str, object]
"""The name of a column of the answer, and a value."""


def rows_of(connection: Connection, query: Word) -> Iterator[Sequence[Cell]]:
    """Yield the rows of a query over the views ``datasets``, ``columns``, ``edges``, ``jobs`` and ``tags``.

    Raises:
        PolicyError: it is more than one SELECT, reads something else, or the database refuses it.
    """
    _require_select(query)
    views = ", ".join(
        f"{name} AS ({view.compile(connection.engine, compile_kwargs={'literal_binds': True})})"
        for name, view in VIEWS.items()
    )
    inner = query.text.rstrip().rstrip(";")
    # A colon in a text of SQLAlchemy begins a parameter.
    whole = text(f"WITH {views} SELECT * FROM ({inner}) AS finding LIMIT {_MOST}".replace(":", r"\:"))
    try:
        found = connection.execute(whole)
        columns = list(found.keys())
        yield from ([*zip(columns, row, strict=True)] for row in found.all())
    except DBAPIError as fault:
        reason = str(fault.orig).splitlines()[0]
        raise PolicyError(f"{query.place}: the query cannot be answered: {reason}.") from None


def _require_select(query: Word) -> None:
    try:
        statements = sqlglot.parse(query.text)
    except SqlglotError as fault:
        raise PolicyError(f"{query.place}: no SQL: {str(fault).splitlines()[0]}") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise PolicyError(f"{query.place}: expected one SELECT; a query of a policy changes nothing.")
    own = {one.alias_or_name for one in statements[0].find_all(exp.CTE)}
    others = {one.name for one in statements[0].find_all(exp.Table)} - VIEWS.keys() - own
    if others:
        known = ", ".join(sorted(VIEWS))
        raise PolicyError(f"{query.place}: it reads {min(others)!r}: expected one of the views {known}.")


_DATASET, _FIELD, _JOB, _TRANSFORMATION, _TAGGING = (
    schema.dataset.c,
    schema.field.c,
    schema.job.c,
    schema.transformation.c,
    schema.tagging.c,
)


def _edges(kind: str) -> Select[tuple[object, ...]]:
    """Return the edges of fields, or those that act on a whole dataset, whose output column is empty."""
    edge = schema.edge if kind == "field" else schema.dataset_edge
    source, source_field = schema.dataset.alias("source"), schema.field.alias("source_field")
    target = schema.dataset.alias("target")
    question = select(
        source.c.namespace.label("input_namespace"),
        source.c.name.label("input_dataset"),
        source_field.c.name.label("input_column"),
        target.c.namespace.label("output_namespace"),
        target.c.name.label("output_dataset"),
        (_FIELD.name if kind == "field" else literal("")).label("output_column"),
        _TRANSFORMATION.type,
        _TRANSFORMATION.subtype,
        _TRANSFORMATION.masking,
        _TRANSFORMATION.opaque,
        _TRANSFORMATION.description,
        _JOB.name.label("job"),
    ).select_from(edge)
    question = question.join(source_field, source_field.c.id == edge.c.input_field)
    question = question.join(source, source.c.id == source_field.c.dataset_id)
    if kind == "field":
        question = question.join(schema.field, _FIELD.id == edge.c.output_field)
        question = question.join(target, target.c.id == _FIELD.dataset_id)
    else:
        question = question.join(target, target.c.id == edge.c.output_dataset)
    question = question.join(schema.transformation, _TRANSFORMATION.id == edge.c.transformation_id)
    return question.join(schema.job, _JOB.id == edge.c.job_id)


_OF_DATASET = (_DATASET.namespace, _DATASET.name.label("dataset"))
VIEWS = {
    "datasets": select(_DATASET.namespace, _DATASET.name, _DATASET.source, _DATASET.description).where(
        _DATASET.hidden_at.is_(None)
    ),
    "columns": select(*_OF_DATASET, _FIELD.name.label("column_name"), _FIELD.type).join_from(
        schema.field, schema.dataset, _DATASET.id == _FIELD.dataset_id
    ),
    "edges": union_all(_edges("field"), _edges("dataset")),
    "jobs": select(_JOB.namespace, _JOB.name, _JOB.type).where(_JOB.hidden_at.is_(None)),
    "tags": select(*_OF_DATASET, _FIELD.name.label("column_name"), _TAGGING.tag, _TAGGING.value, _TAGGING.source)
    .select_from(schema.tagging)
    .join(schema.dataset, _DATASET.id == _TAGGING.dataset_id)
    .outerjoin(schema.field, _FIELD.id == _TAGGING.field_id)
    .where(true()),
}
"""The views, by name."""
