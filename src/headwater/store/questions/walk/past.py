"""Links that are no longer current, and that made what a current link has read.

A dataset is read when the run that reads it runs; what it had then may have been replaced since. So a walk up goes on
over the links that held at that time: a table that is filled, read and emptied leads from its readers to its sources.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain, islice, takewhile
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, FromClause, Select, Table, and_, func, literal, select

from headwater.model.time import FOREVER
from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Pair, Span, Tables, joined_spans
from headwater.store.ingest.replacements import RunEnd, latest_replacements
from headwater.store.questions.answers import Bounds
from headwater.store.questions.walk.conditions import job_ids, kinds
from headwater.store.questions.walk.edges import STEPS_INSIDE, Row
from headwater.store.questions.walk.readings import Renewal, overlap, parts, read_for, read_until, renewals
from headwater.store.sql.databases import Lookup, pairs_for, rows_for

_LINEAGE = schema.lineage.c
_REPLACEMENT = schema.replacement.c
_TRANSFORMATION = schema.transformation
Owners = Callable[[Collection[int]], Mapping[int, int]]
"""The datasets of fields."""


class Reading(NamedTuple):
    """A link that has read a field, in a span: one of now, or one of the past that ``held`` in another.

    ``inside`` is the link within a dataset by which it did.
    """

    span: Span
    link: Row
    held: Span | None = None
    inside: Row | None = None


class ReadLink(NamedTuple):
    """A past link into a field or its dataset, the span that it held, and a reading of the field then."""

    link: Row
    held: Span
    field: int
    reading: Reading


class PastLinks:
    """Finds the past links that links of a walk up have read from; each is given once for each span that it held.

    What is behind a link depends on that link alone: not on others that read the same column at other times.
    """

    def __init__(self, connection: Connection, bounds: Bounds, owners: Owners) -> None:
        self._connection = connection
        self._jobs = {one for name in bounds.jobs for one in job_ids(connection, name, bounds.sees)}
        self._kinds = kinds(bounds)
        self._owners = owners
        self._ends: dict[int, RunEnd | None] = {}
        self._read: dict[int, list[Span]] = {}
        self._past: dict[Row, set[Span]] = {}
        self._ended: dict[Row, set[Span]] = {}
        self._still: set[tuple[Row, Span]] = set()
        self._renewals: dict[Pair, list[Renewal]] = {}
        self._inside: dict[int, set[Row]] = {}
        self._readings: dict[int, dict[Reading, None]] = {}
        self._dataset_of: dict[int, int] = {}

    @property
    def links(self) -> Collection[Row]:
        """All past links that were found."""
        return self._past.keys()

    def is_part(self, link: Row, held: Span) -> bool:
        """Whether a past link still holds, and has another part of its time now."""
        return (link, held) in self._still

    def read_links(self) -> Iterator[ReadLink]:
        """Yield them with each link that has read what they had made."""
        into: dict[int, list[Row]] = {}
        for row in self._past:
            into.setdefault(row[1], []).append(row)
        for field, readings in self._readings.items():
            for row in chain.from_iterable(into.get(end, ()) for end in (field, -self._dataset_of[field])):
                spans = sorted(self._past[row])
                for one in readings:
                    yield from (ReadLink(row, held, field, one) for held in _read_spans(spans, one.span))

    def add_ended(self, links: Mapping[Row, Collection[Span]]) -> None:
        """Add past links, with the spans that they held, that were found elsewhere: what they have read is wanted."""
        self._ended |= {row: set(held) for row, held in links.items()}

    def behind(self, rows: Iterable[Row]) -> list[Row]:
        """The past links behind some links of now, or behind past ones that this gave before."""
        links = [row for row in dict.fromkeys(rows) if row[0] > 0]
        owners = {**self._owners({node for row in links for node in row[:2] if node > 0})}
        new = [one for one in set(owners.values()) if one not in self._ends]
        found = latest_replacements(self._connection, new) if new else {}
        self._ends |= {one: found.get(one) for one in new}
        links = [row for row in links if self._ends[owners[row[0]]] is not None]
        if not links:
            return []
        wanted: dict[int, list[Span]] = {}
        for row in links:
            if row[2] in STEPS_INSIDE:  # read when what is made of it is read
                self._inside.setdefault(row[1], set()).add(row)
                wanted.setdefault(row[0], []).extend(self._read.get(row[1], ()))
                self._note(row[0], owners[row[0]], (one._replace(inside=row) for one in self._readings.get(row[1], ())))
        for row, held, span in self._spans([row for row in links if row[2] not in STEPS_INSIDE], owners):
            end = self._ends[owners[row[0]]]
            if end is not None and end.at > span.start:
                for inside in (None, *self._inside.get(row[0], ())):
                    column = row[0] if inside is None else inside[0]
                    owners[column] = owners[row[0]]
                    wanted.setdefault(column, []).append(span)
                    self._note(column, owners[column], [Reading(span, row, held, inside)])
        return self._found({one: read for one, some in wanted.items() if (read := self._unread(one, some))}, owners)

    def _note(self, field: int, dataset: int, readings: Iterable[Reading]) -> None:
        self._dataset_of[field] = dataset
        self._readings.setdefault(field, {}).update(dict.fromkeys(readings))

    def _unread(self, field: int, spans: list[Span]) -> list[Span]:
        """Note when a field was read; gives these spans in order if there are moments among them that are new."""
        before = self._read.get(field, [])
        self._read[field] = joined_spans(sorted([*before, *spans]))
        return joined_spans(sorted(spans)) if self._read[field] != before else []

    def _spans(self, links: list[Row], owners: Mapping[int, int]) -> Iterator[tuple[Row, Span | None, Span]]:
        """When the input of each link was read: by the last run where it replaced all rows, else by all of them.

        A link of the past was for each part of the time in which it held (`headwater.store.questions.walk.readings`).
        """
        pairs = {(row[3], _dataset(row, owners)) for row in links}
        last: dict[Pair, Any] = {}
        for run in sorted(pairs_for(self._connection, pairs, _last), key=lambda one: (one.at, one.uuid)):
            last[run.job_id, run.output_id] = run
        runs = self._replacing({row.run_id for row in last.values()})
        since = self._since([row for row in links if row in self._ended or not self._anew(row, owners, last, runs)])
        self._look_up_renewals({(row[3], _dataset(row, owners)) for row in links if row in self._ended})
        for row in links:
            run = last.get((row[3], _dataset(row, owners)))
            if run is not None and (row in since or row not in self._ended):
                begin = run.at if self._anew(row, owners, last, runs) else min(since.get(row, run.at), run.at)
                yield row, None, Span(*read_until(begin, run.at))
            for held in self._ended.get(row, ()):
                yield row, held, read_for(held, self._renewals_of(row, owners))

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
            for source, output, transformation, job, at in lookup.bare(self._connection, outputs) if outputs else ():
                found[source, sign * output, transformation, job] = at
        return {row: found[row] for row in rows if row in found}

    def _found(self, read_spans: Mapping[int, list[Span]], owners: Mapping[int, int]) -> list[Row]:
        """The past links into fields, and into their datasets, that held when these were read."""
        of_dataset: dict[int, list[Span]] = {}
        for field, read in read_spans.items():
            of_dataset.setdefault(owners[field], []).extend(read)
        joined = {one: joined_spans(sorted(read)) for one, read in of_dataset.items()}
        found: dict[Row, None] = {}
        for tables, outputs, sign in ((FIELD_EDGES, read_spans, 1), (DATASET_EDGES, joined, -1)):
            for row, one in self._parts(tables, outputs, sign, owners) if outputs else ():
                if one not in self._past.get(row, ()) and any(_read_spans(outputs[sign * row[1]], one)):
                    self._past.setdefault(row, set()).add(one)
                    self._ended.setdefault(row, set()).add(one)
                    found[row] = None
        return list(found)

    def _parts(
        self, tables: Tables, outputs: Collection[int], sign: int, owners: Mapping[int, int]
    ) -> Iterator[tuple[Row, Span]]:
        """Yield the links into outputs with each part of the time in which they held, without what is so now."""
        every = [*self._held(tables.history, outputs, sign), *self._held(tables.current, outputs, sign)]
        self._look_up_renewals({(row[3], _dataset(row, owners)) for row, _ in every})
        renewed = {row[0] for row, _ in every if self._renewals[row[3], _dataset(row, owners)]}
        inputs = {**owners, **self._owners(renewed)} if renewed else owners
        for row, held in every:
            found = [(row, one) for one in parts(held, self._renewals_of(row, inputs))]
            self._still.update(found if held.end == FOREVER else ())
            yield from found

    def _look_up_renewals(self, pairs: set[Pair]) -> None:
        new = pairs - self._renewals.keys()
        found = renewals(self._connection, new) if new else {}
        self._renewals |= {one: found.get(one, []) for one in new}

    def _renewals_of(self, row: Row, owners: Mapping[int, int]) -> list[Renewal]:
        """When a link's output was made anew by its job; not of itself, which it then is whenever it was read."""
        found = self._renewals[row[3], _dataset(row, owners)]
        return found if found and owners[row[0]] != _dataset(row, owners) else []

    def _held(self, table: Table, outputs: Collection[int], sign: int) -> Iterator[tuple[Row, Span]]:
        output = table.c.output_field if "output_field" in table.c else table.c.output_dataset
        until = table.c.valid_to if "valid_to" in table.c else literal(FOREVER, BigInteger())
        how = (table.c.transformation_id, table.c.job_id, table.c.valid_from, until)
        question = select(table.c.input_field, output, *how)
        if self._kinds:
            question = question.join(_TRANSFORMATION, _TRANSFORMATION.c.id == table.c.transformation_id).where(
                *self._kinds
            )
        for source, end, transformation, job, *held in rows_for(
            self._connection, outputs, lambda some: question.where(output.in_(some))
        ):
            if not self._jobs or job in self._jobs:
                yield (source, sign * end, transformation, job), Span(*held)


def _read_spans(spans: list[Span], other: Span) -> Iterator[Span]:
    """Return those of the spans, which are in order and apart, that have a moment in common with another."""
    begin = bisect_right(spans, other.start, key=lambda one: one.end)
    return takewhile(lambda one: overlap(*other, *one), islice(spans, begin, None))


def _dataset(row: Row, owners: Mapping[int, int]) -> int:
    return owners[row[1]] if row[1] > 0 else -row[1]


def _last(pair: FromClause) -> Select[Any]:
    """The last runs with lineage of pairs."""
    other = schema.lineage.alias().c
    at = select(func.max(other.at)).where(other.job_id == pair.c.one, other.output_id == pair.c.other)
    mine = and_(_LINEAGE.job_id == pair.c.one, _LINEAGE.output_id == pair.c.other, _LINEAGE.at == at.scalar_subquery())
    question = select(_LINEAGE.job_id, _LINEAGE.output_id, _LINEAGE.at, _LINEAGE.run_id, schema.run.c.uuid)
    of_runs = question.select_from(pair).join(schema.lineage, mine)
    return of_runs.join(schema.run, schema.run.c.id == _LINEAGE.run_id)


def _since(table: Any, output: Any) -> Lookup:
    how = (table.c.transformation_id, table.c.job_id, table.c.valid_from)
    return Lookup(select(table.c.input_field, output, *how), output)


_FIELDS_SINCE = _since(schema.edge, schema.edge.c.output_field)
_DATASETS_SINCE = _since(schema.dataset_edge, schema.dataset_edge.c.output_dataset)
