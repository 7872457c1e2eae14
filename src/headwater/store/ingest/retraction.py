"""Lineage and replacements of rows that are taken back, to be written again by their runs."""

from collections.abc import Collection, Iterable

from sqlalchemy import Connection, delete, select

from headwater.store import schema
from headwater.store.graph.index.log import Pair, note
from headwater.store.graph.timeline import Scope
from headwater.store.sql.rows import rows_for

_FIELD = schema.field
_LINEAGE = schema.lineage
_REPLACEMENT = schema.replacement


def retract_lineage(connection: Connection, pairs: Iterable[Pair]) -> set[int]:
    """Remove the lineage of (job, output) pairs; return the runs that it was of, whose lineage is to be recomputed."""
    runs: set[int] = set()
    for job, output in pairs:
        mine = (_LINEAGE.c.job_id == job, _LINEAGE.c.output_id == output)
        runs.update(connection.execute(select(_LINEAGE.c.run_id).where(*mine)).scalars())
        connection.execute(delete(_LINEAGE).where(*mine))
        Scope(connection, job, output).clear()
        note(connection, [(job, output)])
    return runs


def retract_replacements(connection: Connection, datasets: Collection[int]) -> set[int]:
    """Remove the replacements of datasets; return the runs that made them, which are to be looked at again."""
    question = select(_REPLACEMENT.c.run_id)
    rows = rows_for(connection, datasets, lambda some: question.where(_REPLACEMENT.c.dataset_id.in_(some)))
    runs = {row.run_id for row in rows}
    connection.execute(delete(_REPLACEMENT).where(_REPLACEMENT.c.dataset_id.in_(datasets)))
    return runs


def pairs_of_dataset(connection: Connection, dataset: int) -> set[Pair]:
    """The (job, output) pairs whose lineage reads or writes a dataset, now or in the past."""
    mine = select(_FIELD.c.id).where(_FIELD.c.dataset_id == dataset)
    questions = [select(_LINEAGE.c.job_id, _LINEAGE.c.output_id).where(_LINEAGE.c.output_id == dataset)]
    for edges in (schema.edge, schema.edge_history):
        output = select(edges.c.job_id, _FIELD.c.dataset_id).join(_FIELD, _FIELD.c.id == edges.c.output_field)
        questions.append(output.where(edges.c.input_field.in_(mine)).distinct())
    for edges in (schema.dataset_edge, schema.dataset_edge_history):
        output = select(edges.c.job_id, edges.c.output_dataset).where(edges.c.input_field.in_(mine))
        questions.append(output.distinct())
    return {(job, output) for question in questions for job, output in connection.execute(question)}
