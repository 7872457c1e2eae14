"""Writing what runs tell of a job's output: that nothing was known of, or that is as before, all at once."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, FromClause, Select, and_, bindparam, func, or_, select

from headwater.model.time import BEGINNING, FOREVER
from headwater.store import schema
from headwater.store.graph.index.log import Pair, note
from headwater.store.graph.numbering import Edges
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Scope, Span, add_ended, add_first
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
from headwater.store.sql.bulk import add_rows
from headwater.store.sql.rows import pairs_for

_LINEAGE = schema.lineage
_ROW = ("job_id", "output_id", "run_id", "at", "digest")
_AT, _UUID = _LINEAGE.c.at, schema.run.c.uuid
_OF_RUN = (schema.run.c.id, schema.run.c.state, schema.run.c.state_at)
_TOLD = select(_AT, _UUID, _LINEAGE.c.digest, *_OF_RUN).join(schema.run, schema.run.c.id == _LINEAGE.c.run_id)
_TOLD = _TOLD.where(_LINEAGE.c.job_id == bindparam("job"), _LINEAGE.c.output_id == bindparam("output")).limit(1)
_MOMENT, _THE_UUID = bindparam("moment", type_=_AT.type), bindparam("the_uuid", type_=_UUID.type)
_BEFORE = _TOLD.where(or_(_AT < _MOMENT, and_(_AT == _MOMENT, _UUID < _THE_UUID))).order_by(_AT.desc(), _UUID.desc())
_AFTER = _TOLD.where(or_(_AT > _MOMENT, and_(_AT == _MOMENT, _UUID > _THE_UUID))).order_by(_AT, _UUID)

_FROM = _TOLD.where(or_(_AT > _MOMENT, and_(_AT == _MOMENT, _UUID >= _THE_UUID))).order_by(_AT, _UUID)


class RunLineage(NamedTuple):
    """The edges that one run told of one output, and from when on they hold."""

    edges: Edges
    at: int

    @property
    def digest(self) -> bytes:
        """Equal for equal edges."""
        return self.edges.digest


class Latest(NamedTuple):
    """When lineage of a job's output was told last, its digest, and the run; None where several runs told some then."""

    at: int
    digest: bytes | None
    run: int | None


class LineageWriter:
    """Takes what runs tell of (job, output) pairs, and which datasets they replace; `flush` writes all of it."""

    def __init__(self, connection: Connection, pairs: Collection[Pair], replaced: Collection[int] = ()) -> None:
        self._connection = connection
        self._latest: dict[Pair, Latest | None] = {**_latest(connection, pairs)}
        self._ends = latest_replacements(connection, {output for _, output in pairs}.union(replaced))
        since = [(one, self._ends[one].at if one in self._ends else BEGINNING) for one in replaced]
        self._writers = writers_since(connection, since) if since else {}
        self._told: list[tuple[int, int, int, RunLineage]] = []
        self._first: dict[Pair, RunLineage] = {}
        self._ended: list[tuple[int, RunLineage, int]] = []
        self._replaced: list[tuple[int, int, Replacement]] = []

    def write(self, run: Run, output: int, told: RunLineage) -> None:
        """Takes what a run tells of an output that it has not told of before."""
        pair = (run.job_id, output)
        latest = self._latest[pair] if pair in self._latest else _latest(self._connection, [pair])[pair]
        if latest is None and not self.replaced_after(output, run):
            self._first[pair] = told
        elif latest is None or not self._goes_on(run, output, told, latest):
            self.flush()
            _set_edges(self._connection, run, output, told, replaced=output in self._ends)
        self._told.append((*pair, run.id, told))
        self._latest[pair] = _later(latest, told, run)
        with_writer(self._writers.setdefault(output, {}), told.at, run)

    def replace(self, run: Run, dataset: int, replacement: Replacement) -> None:
        """Takes that a run replaced the rows of a dataset, after what it tells of it: lineage of others ends there."""
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
        """Drops what was known of pairs, after their lineage was taken back."""
        for pair in pairs:
            self._latest.pop(pair, None)

    def flush(self) -> None:
        """Writes what was taken, before somebody reads it."""
        first = [(job, told) for (job, _), told in self._first.items()]
        # Digests too are made while PostgreSQL writes.
        fields = ((*edge, job, told.at) for job, told in first if told.digest for edge in told.edges.fields)
        datasets = ((*edge, job, told.at) for job, told in first for edge in told.edges.dataset)
        add_first(self._connection, FIELD_EDGES, fields)
        add_first(self._connection, DATASET_EDGES, datasets)
        for tables, of in ((FIELD_EDGES, "fields"), (DATASET_EDGES, "dataset")):
            ended = [(*edge, job, told.at, at) for job, told, at in self._ended for edge in getattr(told.edges, of)]
            add_ended(self._connection, tables, ended)
        note(self._connection, self._first)
        rows = ((job, output, run, told.at, told.digest) for job, output, run, told in self._told)
        add_rows(self._connection, _LINEAGE, _ROW, rows)
        add_replacements(self._connection, self._replaced)
        for taken in (self._told, self._first, self._ended, self._replaced):
            taken.clear()

    def _goes_on(self, run: Run, output: int, told: RunLineage, latest: Latest) -> bool:
        """Whether a run tells what held before it and still does: the same, later, and nothing was replaced since."""
        if told.at <= latest.at or told.digest != latest.digest or self.replaced_after(output, run):
            return False
        end = self._ends.get(output)
        return end is None or end.at < latest.at or end == RunEnd(latest.at, latest.run)

    def _end_latest(self, pair: Pair, at: int) -> None:
        """Ends lineage that still holds; what was not written yet is written as ended."""
        told = self._first.pop(pair, None)
        if told is None:
            self.flush()
            _end_within(self._connection, pair, Span(at, FOREVER))
        elif told.at < at:
            self._ended.append((pair[0], told, at))


def _later(latest: Latest | None, told: RunLineage, run: Run) -> Latest:
    if latest is None or told.at > latest.at:
        return Latest(told.at, told.digest, run.id)
    return latest if told.at < latest.at else Latest(latest.at, None, None)


def _latest(connection: Connection, pairs: Collection[Pair]) -> dict[Pair, Latest | None]:
    """Of each pair what was told last, None where nothing was told."""
    found: dict[Pair, Latest | None] = dict.fromkeys(pairs)
    for job, output, at, digest, run in pairs_for(connection, pairs, _told_last):
        alone = found[job, output] is None
        found[job, output] = Latest(at, digest, run) if alone else Latest(at, None, None)
    return found


def _told_last(pair: FromClause) -> Select[Any]:
    told, other = _LINEAGE.c, _LINEAGE.alias().c
    last = select(func.max(other.at)).where(other.job_id == pair.c.one, other.output_id == pair.c.other)
    question = select(told.job_id, told.output_id, told.at, told.digest, told.run_id).select_from(pair)
    mine = and_(told.job_id == pair.c.one, told.output_id == pair.c.other, told.at == last.scalar_subquery())
    return question.join(_LINEAGE, mine)


def _set_edges(connection: Connection, run: Run, output: int, told: RunLineage, *, replaced: bool) -> None:
    """Makes the edges so from then on until the next run told its own, or another replaced all; equal times go by id.

    ``replaced`` says that the output was ever replaced.
    """
    place = {"job": run.job_id, "output": output, "moment": told.at, "the_uuid": run.uuid}
    before, after = connection.execute(_BEFORE, place).first(), connection.execute(_AFTER, place).first()
    following = after.at if after is not None else FOREVER
    if not replaced and before is not None and before.digest == told.digest:
        return
    end = max(told.at, min(following, first_after(connection, output, run))) if replaced else following
    scope = Scope(connection, run.job_id, output)
    if told.at < end:
        scope.set_edges_during(FIELD_EDGES, Span(told.at, end), told.edges.fields)
        scope.set_edges_during(DATASET_EDGES, Span(told.at, end), told.edges.dataset)
    if end < following:
        _end_within(connection, (run.job_id, output), Span(end, following))
    note(connection, [(run.job_id, output)])


def _end(connection: Connection, by: Run, pair: Pair, at: int) -> None:
    """Ends what the last run before a replacement told of a pair, until the next of its job, or that which replaced."""
    place = {"job": pair[0], "output": pair[1], "moment": at, "the_uuid": by.uuid}
    before, after = connection.execute(_BEFORE, place).first(), connection.execute(_FROM, place).first()
    if before is None or before.id == by.id:
        return
    told = Run(before.id, before.uuid, pair[0], before.state, before.state_at)
    if (told.last, told.uuid) < (at, by.uuid):
        _end_within(connection, pair, Span(at, after.at if after is not None else FOREVER))


def end_lineage(connection: Connection, pair: Pair, at: int) -> None:
    """End all edges of a pair that hold at a moment, or begin later."""
    _end_within(connection, pair, Span(at, FOREVER))


def _end_within(connection: Connection, pair: Pair, window: Span) -> None:
    """Ends all edges of a pair within a window."""
    if window.start < window.end:
        scope = Scope(connection, *pair)
        scope.set_edges_during(FIELD_EDGES, window, ())
        scope.set_edges_during(DATASET_EDGES, window, ())
        note(connection, [pair])
