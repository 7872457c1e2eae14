"""Runs that restored a version of a dataset: which lineage holds again from their end on.

A restored version has the lineage that held when the run which made it had ended. Where that run cannot be found, all
lineage that the dataset ever had may hold again. Whose turn it is follows `headwater.store.ingest.replacements`.
"""

from collections.abc import Collection, Iterator, Mapping

from sqlalchemy import Connection, and_, select, union

from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Edge, Tables
from headwater.store.ingest.replacements import Run
from headwater.store.sql.rows import rows_for

_REPLACEMENT = schema.replacement.c
_LINEAGE = schema.lineage.c
_RUN = schema.run.c
_ANY = select(_REPLACEMENT.run_id).where(_REPLACEMENT.restores).limit(1)
_RESTORATIONS = select(_REPLACEMENT.dataset_id, _REPLACEMENT.run_id, _REPLACEMENT.at).where(_REPLACEMENT.restores)

Restoration = tuple[int, int]
"""A run that restored (first), and the dataset."""


def later_restorations(
    connection: Connection, changed: Mapping[int, int], looked_at: Collection[int]
) -> list[Restoration]:
    """The restorations of datasets that ended at a moment or after it, by runs that are not ``looked_at``."""
    if not changed or connection.execute(_ANY).first() is None:
        return []
    rows = rows_for(connection, changed, lambda some: _RESTORATIONS.where(_REPLACEMENT.dataset_id.in_(some)))
    return [
        (row.run_id, row.dataset_id)
        for row in rows
        if row.at >= changed[row.dataset_id] and row.run_id not in looked_at
    ]


def earlier_writers(connection: Connection, dataset: int, before: int) -> list[tuple[int, int]]:
    """The runs that have lineage of a dataset or replaced its rows, and when: before a moment, the last one first."""
    lineage = select(_LINEAGE.run_id).where(_LINEAGE.output_id == dataset)
    replaced = select(_REPLACEMENT.run_id).where(_REPLACEMENT.dataset_id == dataset)
    question = select(_RUN.id, _RUN.state_at).where(_RUN.id.in_(union(lineage, replaced)), _RUN.state_at < before)
    return [(row.id, row.state_at) for row in connection.execute(question.order_by(_RUN.state_at.desc()))]


def restored_edges(
    connection: Connection, dataset: int, by: Run, moment: int | None
) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """The edges into a dataset that a run brings back: to its fields, and to the whole of it.

    They are those that held at a ``moment``; without one all that ever held before the run had ended.
    """
    fields, of_dataset = (
        tuple(sorted(set(_edges(connection, tables, dataset, by, moment)))) for tables in (FIELD_EDGES, DATASET_EDGES)
    )
    return fields, of_dataset


def _edges(connection: Connection, tables: Tables, dataset: int, by: Run, moment: int | None) -> Iterator[Edge]:
    for table in tables:
        output = table.c.output_field if tables is FIELD_EDGES else table.c.output_dataset
        mine = output == dataset
        if tables is FIELD_EDGES:
            mine = output.in_(select(schema.field.c.id).where(schema.field.c.dataset_id == dataset))
        held = table.c.valid_from < by.state_at if moment is None else table.c.valid_from <= moment
        if moment is not None and table is tables.history:
            held = and_(held, table.c.valid_to > moment)
        rows = connection.execute(select(output, table.c.input_field, table.c.transformation_id).where(mine, held))
        yield from (tuple(row) for row in rows)
