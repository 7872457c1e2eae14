"""Edges between fields within columns, behind the links of a walk over columns.

The store does not hold them: a question reads them from the events of the runs whose lineage the links are.
"""

import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import Connection, FromClause, Select, and_, func, select

from headwater.model import Dataset, Transformation
from headwater.model.names import FieldRename, caseless, former_name
from headwater.openlineage.reading.json_values import Record, read_json, records, text
from headwater.openlineage.reading.nested_lineage import Leaf, NestedInput, NestedLineage, Path, nested_lineage
from headwater.store import schema
from headwater.store.graph.timeline import Pair
from headwater.store.questions.answers import Bounds
from headwater.store.questions.walk.closure import Closure
from headwater.store.questions.walk.edges import Row
from headwater.store.read_model.presence import presence
from headwater.store.read_model.visibility import unseen_datasets
from headwater.store.sql.databases import pairs_for, rows_for

_LINEAGE = schema.lineage.c
_EVENT = schema.event.c
_NAME = schema.dataset_name.c
_RENAME = schema.field_rename.c
_REPLACEMENT = schema.replacement.c
_MOST_OUTPUTS = 1_000  # whose events are read: one with 100 leaves takes some milliseconds
_AT_ONCE = 50
_MOST_EVENTS = 8  # of a run


class LeafLink(NamedTuple):
    """A path within an output column that is made of one within an input column."""

    output: Path
    input: Path
    transformations: tuple[Transformation, ...]


class LeafLinks(NamedTuple):
    """The parts of a link, all paths that its event has of the output column, and the type that the column had."""

    links: tuple[LeafLink, ...]
    paths: tuple[Path, ...]
    type: str


class _EventLineage(NamedTuple):
    """The nested lineage of an output, and the moment of its event."""

    lineage: NestedLineage
    at: int


class NestedEvents:
    """The nested lineage behind the links of a walk; ``limited`` says that not all events were looked at.

    Args:
        connection: of the store.
        walked: the walk, or some links as one.
        bounds: the moment, and how long events may be read.
        most: the largest number of outputs whose events are read.
    """

    def __init__(self, connection: Connection, walked: Closure, bounds: Bounds, most: int = _MOST_OUTPUTS) -> None:
        self._walked = walked
        datasets = {*walked.dataset_of.values(), *(-row[1] for row in walked.rows if row[1] < 0)}
        self._names = _names(connection, datasets)
        self._renames = _renames(connection, datasets)
        # Even how many fields a hidden column has within would show in the links of those that may be seen.
        self._unseen = unseen_datasets(connection, datasets)
        self._known: dict[tuple[int, int, int], LeafLinks | None] = {}
        # The nearest first: so links stand in a walk.
        pairs = list(dict.fromkeys((row[3], self._owner(row)) for row in walked.rows if row[2] > 0))
        self._of_pair: dict[Pair, _EventLineage] = {}
        self.limited = len(pairs) > most
        ends = time.monotonic() + bounds.seconds
        for begin in range(0, min(len(pairs), most), _AT_ONCE):
            if time.monotonic() > ends:
                self.limited = True
                break
            self._of_pair |= self._read(connection, pairs[begin : begin + _AT_ONCE], bounds.as_of)

    def links(self, input_: int, output: int, job: int) -> LeafLinks | None:
        """The fields within a link that the event of its job has; None where it has none of them."""
        key = (input_, output, job)
        if key not in self._known:
            self._known[key] = self._links(*key)
        return self._known[key]

    def _owner(self, row: Row) -> int:
        return self._walked.dataset_of[row[1]] if row[1] > 0 else -row[1]

    def _links(self, input_: int, output: int, job: int) -> LeafLinks | None:
        owner = self._walked.dataset_of[output] if output > 0 else -output
        known = self._of_pair.get((job, owner))
        if known is None or not self._unseen.isdisjoint((owner, self._walked.dataset_of[input_])):
            return None
        column = self._called(output, known.at) if output > 0 else None
        leaves: Collection[Leaf] = (Leaf((), known.lineage.dataset),)
        if column is not None:
            leaves = known.lineage.fields.get(column, ())
        named = self._called(input_, known.at), self._walked.dataset_of[input_]
        links = tuple(
            LeafLink(leaf.path, one.path, one.transformations)
            for leaf in leaves
            for one in leaf.inputs
            if self._is_of(one, *named, known.at)
        )
        type_ = known.lineage.types.get(column or "", "")
        return LeafLinks(links, tuple(leaf.path for leaf in leaves), type_) if links else None

    def _is_of(self, nested_input: NestedInput, column: str, dataset: int, at: int) -> bool:
        return nested_input.column == column and self._meant(nested_input.dataset, dataset, at)

    def _called(self, field: int, at: int) -> str:
        """The name of a field at a moment, in lower case."""
        renames = self._renames.get(self._walked.dataset_of[field], ())
        return caseless(former_name(renames, self._walked.name_of[field], at))

    def _meant(self, name: Dataset, dataset: int, at: int) -> bool:
        return any(since <= at < until for since, until in self._names.get((dataset, name), ()))

    def _read(self, connection: Connection, pairs: Collection[Pair], as_of: int | None) -> dict[Pair, _EventLineage]:
        runs: dict[int, set[Pair]] = {}
        for job, output, run in pairs_for(connection, pairs, lambda some: _last(some, as_of)):
            runs.setdefault(run, set()).add((job, output))
        restored = _restored(connection, runs)
        found: dict[Pair, _EventLineage] = {}
        for run, at, event in _latest_events(connection, runs, as_of):
            wanted = {pair[1]: pair for pair in runs[run] if (run, pair[1]) not in restored}
            for dataset, outputs in self._outputs(event, wanted, at):
                known = [nested_lineage(one) for one in outputs]
                runs[run].discard(wanted[dataset])
                if (lineage := _joined(known)) is not None:
                    found[wanted[dataset]] = _EventLineage(lineage, at)
        return found

    def _outputs(self, event: Record, datasets: Collection[int], at: int) -> Iterator[tuple[int, list[Record]]]:
        """The outputs of an event that have lineage, by their datasets."""
        outputs = [one for one in records(event, "outputs") if "columnLineage" in (one.get("facets") or {})]
        named = [(Dataset(text(one, "namespace"), text(one, "name")), one) for one in outputs]
        for dataset in datasets:
            mine = [one for name, one in named if self._meant(name, dataset, at)]
            if mine:
                yield dataset, mine


def _joined(several: Iterable[NestedLineage | None]) -> NestedLineage | None:
    """The lineage of a dataset that an event names more than once, where each time it has nested lineage."""
    found: NestedLineage | None = None
    for one in several:
        if one is None:
            return None
        found = one if found is None else _both(found, one)
    return found


def _both(one: NestedLineage, other: NestedLineage) -> NestedLineage:
    columns = one.fields.keys() | other.fields.keys()
    fields = {column: (*one.fields.get(column, ()), *other.fields.get(column, ())) for column in columns}
    return NestedLineage(fields, (*one.dataset, *other.dataset), {**one.types, **other.types})


def _last(pair: FromClause, as_of: int | None) -> Select[Any]:
    """The run whose lineage pairs of a job and an output have, or had at a moment."""
    other = schema.lineage.alias().c
    at = select(func.max(other.at)).where(other.job_id == pair.c.one, other.output_id == pair.c.other)
    at = at if as_of is None else at.where(other.at <= as_of)
    mine = and_(_LINEAGE.job_id == pair.c.one, _LINEAGE.output_id == pair.c.other, _LINEAGE.at == at.scalar_subquery())
    question = select(_LINEAGE.job_id, _LINEAGE.output_id, func.max(_LINEAGE.run_id)).select_from(pair)
    return question.join(schema.lineage, mine).group_by(_LINEAGE.job_id, _LINEAGE.output_id).having(func.count() == 1)


def _restored(connection: Connection, runs: Collection[int]) -> set[Pair]:
    """The runs and datasets whose lineage is that of an earlier version."""
    question = select(_REPLACEMENT.run_id, _REPLACEMENT.dataset_id).where(_REPLACEMENT.restores)
    rows = rows_for(connection, runs, lambda some: question.where(_REPLACEMENT.run_id.in_(some)))
    return {(row.run_id, row.dataset_id) for row in rows}


def _latest_events(
    connection: Connection, runs: Collection[int], as_of: int | None
) -> Iterator[tuple[int, int, Record]]:
    """The last events with lineage of runs, each run's latest first: they add up (OpenLineage, "Run Cycle")."""
    question = select(_EVENT.run_id, _EVENT.id, _EVENT.at, _EVENT.digest).where(_EVENT.has_lineage)
    question = question if as_of is None else question.where(_EVENT.at <= as_of)
    rows = rows_for(connection, runs, lambda some: question.where(_EVENT.run_id.in_(some)))
    latest_first = sorted(rows, key=lambda row: (row.run_id, row.at, row.digest), reverse=True)
    ids = [
        row.id for _, of_run in groupby(latest_first, key=lambda row: row.run_id) for row in list(of_run)[:_MOST_EVENTS]
    ]
    payload = select(_EVENT.id, _EVENT.payload)
    payloads = dict(rows_for(connection, ids, lambda some: payload.where(_EVENT.id.in_(some))))
    for row in latest_first:
        if row.id in payloads:
            yield row.run_id, row.at, read_json(zlib.decompress(payloads.pop(row.id)))


def _names(connection: Connection, datasets: Collection[int]) -> dict[tuple[int, Dataset], list[tuple[int, int]]]:
    """From when and until when names meant datasets."""
    found: dict[tuple[int, Dataset], list[tuple[int, int]]] = {}
    question = select(_NAME.dataset_id, _NAME.namespace, _NAME.name, _NAME.since, _NAME.until)
    for row in rows_for(connection, datasets, lambda some: question.where(_NAME.dataset_id.in_(some))):
        found.setdefault((row.dataset_id, Dataset(row.namespace, row.name)), []).append((row.since, row.until))
    return found


def _renames(connection: Connection, datasets: Collection[int]) -> Mapping[int, list[FieldRename]]:
    found: dict[int, list[FieldRename]] = {}
    if presence(connection).field_renames:
        question = select(_RENAME.dataset_id, _RENAME.at, _RENAME.former, _RENAME.present)
        for dataset, *how in rows_for(connection, datasets, lambda some: question.where(_RENAME.dataset_id.in_(some))):
            found.setdefault(dataset, []).append(FieldRename(*how))
    return found
