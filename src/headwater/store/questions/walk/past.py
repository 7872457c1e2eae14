"""Links that are no longer current, and that made what a current link has read.

A dataset is read when the run that reads it runs; what it had then may have been replaced since. So a walk up goes on
over the links that held at that time: a table that is filled, read and emptied leads from its readers to its sources.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, FromClause, Select, and_, func, select

from headwater.store import schema
from headwater.store.graph.index.log import Pair
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Tables
from headwater.store.ingest.replacements import RunEnd, latest_replacements
from headwater.store.questions.answers import Bounds
from headwater.store.questions.walk.edges import Row, job_ids, kinds
from headwater.store.read_model.presence import presence
from headwater.store.sql.rows import Lookup, pairs_for, rows_for

_LINEAGE = schema.lineage.c
_REPLACEMENT = schema.replacement.c
_WAY = schema.transformation
Owners = Callable[[Collection[int]], Mapping[int, int]]
"""The datasets of fields."""


class Interval(NamedTuple):
    """From a moment to another, both included."""

    start: int
    end: int

    def joined(self, other: "Interval | None") -> "Interval":
        """The interval with another, and what is between."""
        return self if other is None else Interval(min(self.start, other.start), max(self.end, other.end))


class PastLinks:
    """Finds the past links that links of a walk up have read from; each is given once."""

    def __init__(self, connection: Connection, bounds: Bounds, owners: Owners) -> None:
        self._connection = connection
        self._jobs = {one for name in bounds.jobs for one in job_ids(connection, name, bounds.sees)}
        self._kinds = kinds(bounds)
        self._owners = owners
        self._ends: dict[int, RunEnd | None] = {}
        self._read: dict[int, Interval] = {}
        self._past: dict[Row, Interval] = {}

    def behind(self, rows: Iterable[Row]) -> list[Row]:
        """The past links behind some links of now, or behind past ones that this gave before."""
        links = [row for row in dict.fromkeys(rows) if row[0] > 0]
        owners = self._owners({node for row in links for node in row[:2] if node > 0})
        new = [one for one in set(owners.values()) if one not in self._ends]
        found = latest_replacements(self._connection, new) if new and presence(self._connection).replacements else {}
        self._ends |= {one: found.get(one) for one in new}
        links = [row for row in links if self._ends[owners[row[0]]] is not None]
        if not links:
            return []
        wanted: dict[int, Interval] = {}
        for row, read in self._intervals(links, owners):
            end, known = self._ends[owners[row[0]]], self._read.get(row[0])
            grown = read.joined(known)
            if end is not None and end.at > read.start and grown != known:
                wanted[row[0]] = self._read[row[0]] = grown
        return self._found(wanted, owners) if wanted else []

    def _intervals(self, links: list[Row], owners: Mapping[int, int]) -> Iterator[tuple[Row, Interval]]:
        """When the input of each link was read: by the last run where it replaced all rows, else by all of them."""
        pairs = {(row[3], _dataset(row, owners)) for row in links}
        last = {(row.job_id, row.output_id): row for row in pairs_for(self._connection, pairs, _last)}
        runs = self._replacing({row.run_id for row in last.values()})
        since = self._since([row for row in links if not self._anew(row, owners, last, runs)])
        for row in links:
            run = last.get((row[3], _dataset(row, owners)))
            if run is not None:
                yield row, Interval(min(since.get(row, run.at), run.at) - 1, run.at - 1)
            if row in self._past:
                yield row, self._past[row]

    def _anew(self, row: Row, owners: Mapping[int, int], last: Mapping[Pair, Any], runs: Collection[Pair]) -> bool:
        """Whether all rows of a link's output are of its last run, and none of what was there before."""
        output = _dataset(row, owners)
        run = last.get((row[3], output))
        return run is not None and (run.run_id, output) in runs and owners[row[0]] != output

    def _replacing(self, runs: Collection[int]) -> set[Pair]:
        question = select(_REPLACEMENT.run_id, _REPLACEMENT.dataset_id).where(_REPLACEMENT.certain)
        rows = rows_for(self._connection, runs, lambda some: question.where(_REPLACEMENT.run_id.in_(some)))
        return {(row.run_id, row.dataset_id) for row in rows}

    def _since(self, rows: Collection[Row]) -> dict[Row, int]:
        """Since when links of now hold."""
        found: dict[Row, int] = {}
        for lookup, sign in ((_FIELDS_SINCE, 1), (_DATASETS_SINCE, -1)):
            outputs = {sign * row[1] for row in rows if sign * row[1] > 0}
            for source, output, way, job, at in lookup.bare(self._connection, outputs) if outputs else ():
                found[source, sign * output, way, job] = at
        return {row: found[row] for row in rows if row in found}

    def _found(self, wanted: Mapping[int, Interval], owners: Mapping[int, int]) -> list[Row]:
        """The past links into fields, and into their datasets, that held when these were read."""
        of_dataset: dict[int, Interval] = {}
        for field, read in wanted.items():
            of_dataset[owners[field]] = read.joined(of_dataset.get(owners[field]))
        found: list[Row] = []
        for tables, outputs, sign in ((FIELD_EDGES, wanted, 1), (DATASET_EDGES, of_dataset, -1)):
            for source, output, way, job, start, end in self._history(tables, outputs):
                row, held = (source, sign * output, way, job), Interval(start - 1, end)
                read = outputs[output]
                if end > read.start and start <= read.end and held.joined(self._past.get(row)) != self._past.get(row):
                    self._past[row] = held.joined(self._past.get(row))
                    found.append(row)
        return found

    def _history(self, tables: Tables, outputs: Collection[int]) -> Iterator[tuple[int, ...]]:
        table = tables.history
        output = table.c.output_field if tables is FIELD_EDGES else table.c.output_dataset
        how = (table.c.transformation_id, table.c.job_id, table.c.valid_from, table.c.valid_to)
        question = select(table.c.input_field, output, *how)
        if self._kinds:
            question = question.join(_WAY, _WAY.c.id == table.c.transformation_id).where(*self._kinds)
        rows = rows_for(self._connection, outputs, lambda some: question.where(output.in_(some)))
        return (tuple(row) for row in rows if not self._jobs or row.job_id in self._jobs)


def _dataset(row: Row, owners: Mapping[int, int]) -> int:
    return owners[row[1]] if row[1] > 0 else -row[1]


def _last(pair: FromClause) -> Select[Any]:
    """The last runs with lineage of pairs."""
    other = schema.lineage.alias().c
    at = select(func.max(other.at)).where(other.job_id == pair.c.one, other.output_id == pair.c.other)
    mine = and_(_LINEAGE.job_id == pair.c.one, _LINEAGE.output_id == pair.c.other, _LINEAGE.at == at.scalar_subquery())
    question = select(_LINEAGE.job_id, _LINEAGE.output_id, _LINEAGE.at, _LINEAGE.run_id).select_from(pair)
    return question.join(schema.lineage, mine)


def _since(table: Any, output: Any) -> Lookup:
    how = (table.c.transformation_id, table.c.job_id, table.c.valid_from)
    return Lookup(select(table.c.input_field, output, *how), output)


_FIELDS_SINCE = _since(schema.edge, schema.edge.c.output_field)
_DATASETS_SINCE = _since(schema.dataset_edge, schema.dataset_edge.c.output_dataset)
