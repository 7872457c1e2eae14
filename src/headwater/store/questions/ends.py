"""Where walks up end: the columns that nothing stands before, and the evidence on each."""

from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any

from sqlalchemy import Connection, Select, and_, func, select

from headwater.graph import closed_cycles
from headwater.model import Dataset
from headwater.model.names import keys_of
from headwater.openlineage.reading.events import FINAL, SUCCESSFUL
from headwater.store import schema
from headwater.store.ingest.field_spelling import READ
from headwater.store.ingest.replacements import latest_replacements, writers_since
from headwater.store.questions import names
from headwater.store.questions.answers import Bounds, Column, Direction, End, Evidence, Sees
from headwater.store.questions.lookup.typed_names import fit, tail
from headwater.store.questions.walk.closure import Closure
from headwater.store.questions.walk.edges import edges_within
from headwater.store.questions.walk.path_transformations import Steps
from headwater.store.read_model.fields import ended_fields
from headwater.store.read_model.presence import presence
from headwater.store.read_model.visibility import references
from headwater.store.sql.databases import rows_for

_FIELD = schema.field
_DATASET = schema.dataset
_LINEAGE = schema.lineage
_WRITES = schema.run_dataset
_GAP = schema.gap
_RUN = schema.run
_OPAQUE = "opaque"  # a gap of this kind leaves lineage whole, and coarse
_MOST = 3
_COMPARED = 1_000  # names; comparing takes about 20 µs each


def evidence(connection: Connection, dataset_of: Mapping[int, int], *, now: bool = True) -> dict[int, Evidence]:
    """Why columns have no step before them; each comes with its dataset.

    Replacements are looked at where ``now`` says that the answer is about now.
    """
    datasets = set(dataset_of.values())
    explained = _explained(connection, datasets)
    written = _written(connection, datasets - explained)
    partial = _partial(connection, explained)
    inside = [field for field, dataset in dataset_of.items() if dataset in explained]
    question = select(_FIELD.c.id, _FIELD.c.dataset_id, _FIELD.c.ordinal, _FIELD.c.spelled_by)
    rows = list(rows_for(connection, inside, lambda some: question.where(_FIELD.c.id.in_(some))))
    unnamed = {row.id for row in rows if row.spelled_by <= READ}
    emptied = _emptied(connection, explained) if now else set()
    ended = ended_fields(connection, rows) if now else set()

    def of(field: int, dataset: int) -> Evidence:
        if dataset not in explained:
            return Evidence.NO_LINEAGE if dataset in written else Evidence.UNWRITTEN
        if field in unnamed:
            return Evidence.UNNAMED
        if dataset in emptied or field in ended:
            return Evidence.REPLACED
        return Evidence.PARTIAL if dataset in partial else Evidence.LITERAL

    return {field: of(field, dataset) for field, dataset in dataset_of.items()}


def near_columns(connection: Connection, column: Column, sees: Sees = None) -> tuple[Column, ...]:
    """Columns that may be meant by one that no run wrote: like ones of its dataset, and its name in like datasets."""
    if column.path:
        return ()
    question = select(_FIELD.c.id, _FIELD.c.name).where(_FIELD.c.spelled_by > READ).limit(_COMPARED)
    beside = question.where(_FIELD.c.dataset_id == column.dataset.id, _FIELD.c.id != column.id)
    rows = connection.execute(beside).all()
    near = _like(column.name, {row.name: row.id for row in rows})
    near += _in_like_datasets(connection, column)
    found = names.columns(connection, near)
    seen = [found[one] for one in near if sees is None or sees(found[one].dataset.dataset.namespace)]
    return tuple(seen[:_MOST])


def _in_like_datasets(connection: Connection, column: Column) -> list[int]:
    """The fields of the same name in written datasets whose names are like that of the column's."""
    question = select(_FIELD.c.id, _DATASET.c.namespace, _DATASET.c.name).join(
        _DATASET, _DATASET.c.id == _FIELD.c.dataset_id
    )
    same = _FIELD.c.folded_key == keys_of(column.name)[1]
    mine = question.where(same, _FIELD.c.dataset_id != column.dataset.id, _FIELD.c.spelled_by > READ).limit(_COMPARED)
    found = {str(Dataset(row.namespace, row.name)): row.id for row in connection.execute(mine)}
    return [found[name] for name in get_close_matches(str(column.dataset), found, n=_MOST, cutoff=0.8)]


def _like(name: str, fields: Mapping[str, int]) -> list[int]:
    """The fields whose names are the same but for case and underscores, or look alike; the best first."""
    by_plain = {tail(one).replace("_", ""): field_id for one, field_id in fields.items()}
    return [by_plain[one] for one in get_close_matches(tail(name).replace("_", ""), by_plain, n=_MOST, cutoff=0.7)]


def _explained(connection: Connection, datasets: Collection[int]) -> set[int]:
    question = select(_LINEAGE.c.output_id.label("dataset")).distinct()
    return _found(connection, datasets, lambda some: question.where(_LINEAGE.c.output_id.in_(some)))


def _emptied(connection: Connection, datasets: Collection[int]) -> set[int]:
    """The datasets of which all lineage ended with the last replacement of their rows."""
    ends = latest_replacements(connection, datasets) if presence(connection).replacements else {}
    since = writers_since(connection, [(dataset, end.at) for dataset, end in ends.items()]) if ends else {}
    streams = select(_LINEAGE.c.output_id.label("dataset")).join(_RUN, _RUN.c.id == _LINEAGE.c.run_id)
    streams = streams.where(_RUN.c.state.not_in((*FINAL, *SUCCESSFUL)))
    running = _found(connection, ends, lambda some: streams.where(_LINEAGE.c.output_id.in_(some))) if ends else set()
    return ends.keys() - since.keys() - running


def _written(connection: Connection, datasets: Collection[int]) -> set[int]:
    question = select(_WRITES.c.dataset_id.label("dataset")).where(_WRITES.c.written).distinct()
    return _found(connection, datasets, lambda some: question.where(_WRITES.c.dataset_id.in_(some)))


def _partial(connection: Connection, datasets: Collection[int]) -> set[int]:
    """Those of which the latest lineage of some job has gaps."""
    other = _LINEAGE.alias().c
    last = select(func.max(other.at)).where(other.job_id == _LINEAGE.c.job_id, other.output_id == _LINEAGE.c.output_id)
    question = select(_LINEAGE.c.output_id, _DATASET.c.namespace, _DATASET.c.name, _GAP.c.output)
    question = question.join(_GAP, and_(_GAP.c.run_id == _LINEAGE.c.run_id, _GAP.c.kind != _OPAQUE))
    question = question.join(_DATASET, _DATASET.c.id == _LINEAGE.c.output_id)
    question = question.where(_LINEAGE.c.at == last.correlate(_LINEAGE).scalar_subquery())
    rows = rows_for(connection, datasets, lambda some: question.where(_LINEAGE.c.output_id.in_(some)))
    return {
        row.output_id for row in rows if not row.output or fit(Dataset(row.namespace, row.name), row.output) is not None
    }


def _found(connection: Connection, ids: Collection[int], question: Callable[[Any], Select[Any]]) -> set[int]:
    return {row.dataset for row in rows_for(connection, ids, question)}


TO_GUESS = (Evidence.UNNAMED, Evidence.UNWRITTEN)
"""Of a column that was asked for, where another may be meant; of others `Evidence.UNNAMED` alone."""


def ends_of(
    connection: Connection, closure: Closure, columns: Mapping[int, Column], bounds: Bounds
) -> dict[Column, End]:
    """The ends of a walk up, with columns that may be meant instead."""
    found = evidence_of_ends(connection, closure, Steps(closure, Direction.UP), bounds)

    def end(node: int, evidence: Evidence) -> End:
        guessed = evidence in TO_GUESS if not closure.distance[node] else evidence is Evidence.UNNAMED
        return End(evidence, near_columns(connection, columns[node], bounds.sees) if guessed else ())

    return {columns[node]: end(node, known) for node, known in found.items()}


def evidence_of_ends(connection: Connection, closure: Closure, steps: Steps, bounds: Bounds) -> dict[int, Evidence]:
    """The columns that nothing stands before, with what is known of each; of a walk up and its steps."""
    open_ended = closure.distance.keys() - closure.unexplored
    leaves = {node for node in open_ended if not steps(node)}
    cycles = closed_cycles(open_ended - leaves, leaves | closure.unexplored, steps.successors)
    of_leaves = {closure.column_of(node): closure.dataset_of[node] for node in leaves}
    of_columns = evidence(connection, of_leaves, now=bounds.as_of is None)
    found = {node: of_columns[closure.column_of(node)] for node in leaves}
    if bounds.filtered or references(connection):
        found |= dict.fromkeys(_with_more(connection, closure, leaves, bounds), Evidence.FILTERED)
    return found | {node: Evidence.CYCLE for node in cycles if node > 0}


def _with_more(connection: Connection, closure: Closure, leaves: Collection[int], bounds: Bounds) -> set[int]:
    """The leaves that something stands before which a filter left out."""
    every = edges_within(connection, Bounds(bounds.edge_type, bounds.as_of, guess=bounds.guess))
    columns = {closure.column_of(node) for node in leaves}
    into = {row[1] for row in every.of_fields(Direction.UP, columns).links}
    datasets = {closure.dataset_of[node] for node in leaves}
    whole = {-row[1] for row in every.of_datasets(Direction.UP, datasets).links}
    return {node for node in leaves if closure.column_of(node) in into or closure.dataset_of[node] in whole}
