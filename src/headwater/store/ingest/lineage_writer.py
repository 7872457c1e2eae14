"""Writes the lineage of runs: all at once where there was none of a job's output, or where it is as before.

The same lineage between the same ids is the same edges: a job that runs again adds none.

Else the edges of the output are set for the time in which the run's lineage holds, one run after the other.
"""

from collections.abc import Collection, Iterable
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import Any, NamedTuple
from weakref import ref

from sqlalchemy import Connection, FromClause, Select, and_, bindparam, func, or_, select

from headwater.model.time import BEGINNING, FOREVER
from headwater.openlineage.reading.lineage_facets import EncodedLineage
from headwater.store import schema
from headwater.store.graph.timeline import (
    DATASET_EDGES,
    FIELD_EDGES,
    Edge,
    Pair,
    Scope,
    Span,
    add_ended,
    add_first,
    note,
)
from headwater.store.ingest.replacements import (
    Replacement,
    Run,
    RunEnd,
    add_replacements,
    first_after,
    jobs_of,
    latest_replacements,
    with_writer,
    writers_since,
)
from headwater.store.sql.databases import add_rows, pairs_for

EdgesOfOutput = tuple[tuple[Edge, ...], tuple[Edge, ...]]
"""Edges of fields, and those that act on all fields of a dataset; sorted, each once."""


class Ids(NamedTuple):
    """The ids of all that lineage names, each in the order of the lineage: its output, the fields of that, the inputs,
    and its transformations."""

    output: int
    fields: tuple[int, ...]
    inputs: tuple[int, ...]
    transformations: tuple[int, ...]


class Edges:
    """The edges of one output between ids; made when they are needed, which is seldom.

    As long as lineage is in memory, so are the ids that it had last, and the digest.
    ``more`` are edges that the store has by their ids.
    """

    def __init__(self, *lineages: tuple[EncodedLineage, Ids], more: EdgesOfOutput = ((), ())) -> None:
        self._lineages = lineages
        self._more = more

    def __or__(self, other: "Edges") -> "Edges":
        more = tuple((*mine, *others) for mine, others in zip(self._more, other._more, strict=True))
        return Edges(*self._lineages, *other._lineages, more=(more[0], more[1]))

    @property
    def fields(self) -> tuple[Edge, ...]:
        """Those of its fields."""
        return self._all[0]

    @property
    def dataset(self) -> tuple[Edge, ...]:
        """Those that act on all of its fields."""
        return self._all[1]

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal edges."""
        if len(self._lineages) != 1 or any(self._more):
            return _digest(*self._all)
        [(lineage, ids)] = self._lineages
        key = id(lineage)
        known = _LAST.get(key)
        if known is None or known[0]() is not lineage or known[1] != ids:
            known = _LAST[key] = (ref(lineage, lambda _: _LAST.pop(key, None)), ids, _digest(*self._all))
        return known[2]

    @cached_property
    def _all(self) -> EdgesOfOutput:
        if len(self._lineages) == 1 and not any(self._more):
            return _edges(*self._lineages[0])
        each = (self._more, *(_edges(lineage, ids) for lineage, ids in self._lineages))
        fields, datasets = zip(*each, strict=True)
        return _sorted(chain.from_iterable(fields)), _sorted(chain.from_iterable(datasets))


_LAST: dict[int, tuple["ref[EncodedLineage]", Ids, bytes]] = {}


def _digest(fields: tuple[Edge, ...], dataset: tuple[Edge, ...]) -> bytes:
    return blake2b(f"({_shown(fields)}, {_shown(dataset)})".encode(), digest_size=16).digest()


def _shown(edges: tuple[Edge, ...]) -> str:
    """The text of which digests have been made from the first version on."""
    each = ["Edge(output=%d, input=%d, transformation=%d)"] * len(edges)
    return f"[{', '.join(each)}]" % tuple(chain.from_iterable(edges))


def _edges(lineage: EncodedLineage, ids: Ids) -> EdgesOfOutput:
    output, fields, inputs, transformations = ids
    of_fields = [
        (fields[field], inputs[one], transformations[transformation]) for field, one, transformation in lineage.edges
    ]
    return _sorted(of_fields), _sorted(
        [(output, inputs[one], transformations[transformation]) for one, transformation in lineage.dataset]
    )


def _sorted(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    return tuple(sorted(set(edges)))


_LINEAGE = schema.lineage
_ROW = ("job_id", "output_id", "run_id", "at", "digest")
_AT, _UUID = _LINEAGE.c.at, schema.run.c.uuid
_OF_RUN = (schema.run.c.id, schema.run.c.state, schema.run.c.state_at)
_OF_PAIR = select(_AT, _UUID, _LINEAGE.c.digest, *_OF_RUN).join(schema.run, schema.run.c.id == _LINEAGE.c.run_id)
_OF_PAIR = _OF_PAIR.where(_LINEAGE.c.job_id == bindparam("job"), _LINEAGE.c.output_id == bindparam("output")).limit(1)
_MOMENT, _THE_UUID = bindparam("moment", type_=_AT.type), bindparam("the_uuid", type_=_UUID.type)
_BEFORE = _OF_PAIR.where(or_(_AT < _MOMENT, and_(_AT == _MOMENT, _UUID < _THE_UUID))).order_by(_AT.desc(), _UUID.desc())
_AFTER = _OF_PAIR.where(or_(_AT > _MOMENT, and_(_AT == _MOMENT, _UUID > _THE_UUID))).order_by(_AT, _UUID)
_FROM = _OF_PAIR.where(or_(_AT > _MOMENT, and_(_AT == _MOMENT, _UUID >= _THE_UUID))).order_by(_AT, _UUID)


class RunLineage(NamedTuple):
    """The edges that one run has to one output, and from when on they hold."""

    edges: Edges
    at: int

    @property
    def digest(self) -> bytes:
        """Equal for equal edges."""
        return self.edges.digest


class Latest(NamedTuple):
    """The latest lineage of a job's output: its moment, digest and run; None where several runs have some of then."""

    at: int
    digest: bytes | None
    run: int | None


class LineageWriter:
    """Collects the lineage of (job, output) pairs, and the replacements of datasets; `flush` writes all of it.

    ``ends`` says that there are replacements, of any dataset.
    """

    def __init__(
        self, connection: Connection, pairs: Collection[Pair], replaced: Collection[int], *, ends: bool
    ) -> None:
        self._connection = connection
        self._latest: dict[Pair, Latest | None] = {**_latest(connection, pairs)}
        outputs = {output for _, output in pairs}.union(replaced)
        self._ends = latest_replacements(connection, outputs) if ends else {}
        since = [(one, self._ends[one].at if one in self._ends else BEGINNING) for one in replaced]
        self._writers = writers_since(connection, since) if since else {}
        self._written: list[tuple[int, int, int, RunLineage]] = []
        self._first: dict[Pair, RunLineage] = {}
        self._ended: list[tuple[int, RunLineage, int]] = []
        self._replaced: list[tuple[int, int, Replacement]] = []

    def write(self, run: Run, output: int, lineage: RunLineage) -> None:
        """Add the lineage that a run has of an output, of which it had none before."""
        pair = (run.job_id, output)
        latest = self._latest[pair] if pair in self._latest else _latest(self._connection, [pair])[pair]
        if latest is None and not self.replaced_after(output, run):
            self._first[pair] = lineage
        elif latest is None or not self._goes_on(run, output, lineage, latest):
            self.flush()
            _set_edges(self._connection, run, output, lineage, replaced=output in self._ends)
        self._written.append((*pair, run.id, lineage))
        self._latest[pair] = _later(latest, lineage, run)
        with_writer(self._writers.setdefault(output, {}), lineage.at, run)

    def replace(self, run: Run, dataset: int, replacement: Replacement) -> None:
        """Add that a run replaced the rows of a dataset, after its own lineage of it: lineage of others ends there."""
        self._replaced.append((dataset, run.id, replacement))
        if not replacement.certain:
            return
        writers, at = self._writers.setdefault(dataset, {}), replacement.at
        end = self._ends.get(dataset)
        others = {job: writer for job, writer in writers.items() if writer[1].id != run.id}
        if (end is not None and end.at >= at) or any(since >= at for since, _ in others.values()):
            self.flush()
            for job in jobs_of(self._connection, dataset):
                _end(self._connection, run, (job, dataset), at)
        else:
            for job, (_, writer) in others.items():
                if writer.last < at:
                    self._end_latest((job, dataset), at)
                    del writers[job]
        if end is None or end.at < at:
            self._ends[dataset] = RunEnd(at, run.id)
        elif end.at == at and end.run != run.id:
            self._ends[dataset] = RunEnd(at, None)

    def replaced_after(self, output: int, run: Run) -> bool:
        """Whether another run may have replaced a dataset after this one ended."""
        end = self._ends.get(output)
        return end is not None and end.run != run.id and end.at >= run.last

    def forget(self, pairs: Iterable[Pair]) -> None:
        """Forget the latest lineage of pairs, after it was retracted."""
        for pair in pairs:
            self._latest.pop(pair, None)

    def flush(self) -> None:
        """Write all that was added, before somebody reads it."""
        added = self._written, self._first, self._ended, self._replaced
        if not any(added):
            return
        first = [(job, lineage) for (job, _), lineage in self._first.items()]
        # Digests too are made while PostgreSQL writes.
        fields = ((*edge, job, lineage.at) for job, lineage in first if lineage.digest for edge in lineage.edges.fields)
        datasets = ((*edge, job, lineage.at) for job, lineage in first for edge in lineage.edges.dataset)
        add_first(self._connection, FIELD_EDGES, fields)
        add_first(self._connection, DATASET_EDGES, datasets)
        for tables, of in ((FIELD_EDGES, "fields"), (DATASET_EDGES, "dataset")):
            ended = [
                (*edge, job, lineage.at, at) for job, lineage, at in self._ended for edge in getattr(lineage.edges, of)
            ]
            add_ended(self._connection, tables, ended)
        note(self._connection, self._first)
        rows = ((job, output, run, lineage.at, lineage.digest) for job, output, run, lineage in self._written)
        add_rows(self._connection, _LINEAGE, _ROW, rows)
        add_replacements(self._connection, self._replaced)
        for taken in added:
            taken.clear()

    def _goes_on(self, run: Run, output: int, lineage: RunLineage, latest: Latest) -> bool:
        """Whether a run has the lineage that held before it and still does: later, and nothing was replaced since."""
        if lineage.at <= latest.at or lineage.digest != latest.digest or self.replaced_after(output, run):
            return False
        end = self._ends.get(output)
        return end is None or end.at < latest.at or end == RunEnd(latest.at, latest.run)

    def _end_latest(self, pair: Pair, at: int) -> None:
        """End lineage that still holds; what was not written yet is written as ended."""
        lineage = self._first.pop(pair, None)
        if lineage is None:
            self.flush()
            _end_within(self._connection, pair, Span(at, FOREVER))
        elif lineage.at < at:
            self._ended.append((pair[0], lineage, at))


def _later(latest: Latest | None, lineage: RunLineage, run: Run) -> Latest:
    if latest is None or lineage.at > latest.at:
        return Latest(lineage.at, lineage.digest, run.id)
    return latest if lineage.at < latest.at else Latest(latest.at, None, None)


def _latest(connection: Connection, pairs: Collection[Pair]) -> dict[Pair, Latest | None]:
    """The latest lineage of each pair, None where there is none."""
    found: dict[Pair, Latest | None] = dict.fromkeys(pairs)
    for job, output, at, digest, run in pairs_for(connection, pairs, _latest_of_pairs):
        alone = found[job, output] is None
        found[job, output] = Latest(at, digest, run) if alone else Latest(at, None, None)
    return found


def _latest_of_pairs(pair: FromClause) -> Select[Any]:
    mine, other = _LINEAGE.c, _LINEAGE.alias().c
    last = select(func.max(other.at)).where(other.job_id == pair.c.one, other.output_id == pair.c.other)
    question = select(mine.job_id, mine.output_id, mine.at, mine.digest, mine.run_id).select_from(pair)
    of_pair = and_(mine.job_id == pair.c.one, mine.output_id == pair.c.other, mine.at == last.scalar_subquery())
    return question.join(_LINEAGE, of_pair)


def _set_edges(connection: Connection, run: Run, output: int, lineage: RunLineage, *, replaced: bool) -> None:
    """Set the edges from then on until the next run of the job, or until another replaced all; equal times go by id.

    ``replaced`` says that the output was ever replaced.
    """
    place = {"job": run.job_id, "output": output, "moment": lineage.at, "the_uuid": run.uuid}
    before, after = connection.execute(_BEFORE, place).first(), connection.execute(_AFTER, place).first()
    following = after.at if after is not None else FOREVER
    if not replaced and before is not None and before.digest == lineage.digest:
        return
    end = max(lineage.at, min(following, first_after(connection, output, run))) if replaced else following
    scope = Scope(connection, run.job_id, output)
    if lineage.at < end:
        scope.set_edges_during(FIELD_EDGES, Span(lineage.at, end), lineage.edges.fields)
        scope.set_edges_during(DATASET_EDGES, Span(lineage.at, end), lineage.edges.dataset)
    if end < following:
        _end_within(connection, (run.job_id, output), Span(end, following))
    note(connection, [(run.job_id, output)])


def _end(connection: Connection, by: Run, pair: Pair, at: int) -> None:
    """End the lineage of the last run of a pair before a replacement, until its job runs again."""
    place = {"job": pair[0], "output": pair[1], "moment": at, "the_uuid": by.uuid}
    before, after = connection.execute(_BEFORE, place).first(), connection.execute(_FROM, place).first()
    if before is None or before.id == by.id:
        return
    last = Run(before.id, before.uuid, pair[0], before.state, before.state_at)
    if (last.last, last.uuid) < (at, by.uuid):
        _end_within(connection, pair, Span(at, after.at if after is not None else FOREVER))


def end_lineage(connection: Connection, pair: Pair, at: int) -> None:
    """End all edges of a pair that hold at a moment, or begin later."""
    _end_within(connection, pair, Span(at, FOREVER))


def _end_within(connection: Connection, pair: Pair, window: Span) -> None:
    """End all edges of a pair within a window."""
    if window.start < window.end:
        scope = Scope(connection, *pair)
        scope.set_edges_during(FIELD_EDGES, window, ())
        scope.set_edges_during(DATASET_EDGES, window, ())
        note(connection, [pair])
