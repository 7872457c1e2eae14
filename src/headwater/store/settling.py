"""The current lineage of a job's output: that of its latest successful run, in whatever order events arrive.

A streaming query is successful as long as it runs: it may never end, and what it has written is written.
"""

import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, and_, bindparam, exists, insert, or_, select

from headwater.model import ColumnLineage, Dataset, Dependency
from headwater.store import schema
from headwater.store.events import SUCCESSFUL, Event, read_event
from headwater.store.ids import Writer
from headwater.store.index.log import Pair, note
from headwater.store.lookup import Lookup
from headwater.store.rows import rows_for
from headwater.store.schema import FOREVER
from headwater.store.symlinks import dataset_id
from headwater.store.timeline import DATASET_EDGES, FIELD_EDGES, Edge, Scope, Span, Tables, add_first
from headwater.store.withdrawal import withdraw

_RUNNING = "RUNNING"
_LINEAGE = schema.lineage
_RUN = schema.run
_EVENT = schema.event.c
_TELLING = select(_EVENT.id, _EVENT.digest, _EVENT.type, _EVENT.run_id).where(_EVENT.has_lineage)
_TELLING = _TELLING.order_by(_EVENT.at, _EVENT.digest)
_TELL = insert(_LINEAGE)
_DATASET = schema.dataset.c
_UNTOLD = Lookup(select(_DATASET.id).where(~exists().where(_LINEAGE.c.output_id == _DATASET.id)), _DATASET.id)
_AT, _UUID = _LINEAGE.c.at, _RUN.c.uuid
_TOLD = select(_AT, _UUID, _LINEAGE.c.digest).join(schema.run, schema.run.c.id == _LINEAGE.c.run_id)
_TOLD = _TOLD.where(_LINEAGE.c.job_id == bindparam("job"), _LINEAGE.c.output_id == bindparam("output")).limit(1)
_MOMENT, _THE_UUID = bindparam("moment", type_=_AT.type), bindparam("the_uuid", type_=_UUID.type)
_BEFORE = _TOLD.where(or_(_AT < _MOMENT, and_(_AT == _MOMENT, _UUID < _THE_UUID))).order_by(_AT.desc(), _UUID.desc())
_AFTER = _TOLD.where(or_(_AT > _MOMENT, and_(_AT == _MOMENT, _UUID > _THE_UUID))).order_by(_AT, _UUID)


@dataclass(frozen=True)
class Told:
    """The edges that one run told of one output, and from when on they hold."""

    fields: frozenset[Edge]
    dataset: frozenset[Edge]
    since: int

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal edges."""
        edges = repr((sorted(self.fields), sorted(self.dataset)))
        return blake2b(edges.encode(), digest_size=16).digest()


class Case(NamedTuple):
    """A run that may have to tell its lineage again: its row, what it has told, and its events that tell lineage."""

    run: Row[Any]
    known: list[Row[Any]]
    telling: list[Row[Any]]


class FirstTold:
    """What is told of outputs of which nothing is known: it is compared with nothing, and written all at once.

    ``outputs`` are datasets that the batch tells lineage of.
    """

    def __init__(self, connection: Connection, outputs: Collection[int]) -> None:
        self._connection = connection
        self._untold = {row[0] for row in _UNTOLD.bare(connection, outputs)}
        self._kept: set[int] = set()
        self._rows: list[dict[str, Any]] = []
        self._edges: dict[Tables, list[tuple[int, ...]]] = {FIELD_EDGES: [], DATASET_EDGES: []}

    def take(self, run: Row[Any], output: int, told: Told) -> bool:
        """Keeps what a run tells of an output, or says that something is known of it already."""
        if output in self._kept:
            self.flush()
        if output not in self._untold:
            return False
        self._untold.remove(output)
        self._kept.add(output)
        self._rows.append(_row(run, output, told))
        for tables, edges in ((FIELD_EDGES, told.fields), (DATASET_EDGES, told.dataset)):
            self._edges[tables] += [(*edge, run.job_id, told.since) for edge in edges]
        return True

    def flush(self) -> None:
        """Writes what was kept, before somebody reads it."""
        if self._rows:
            self._connection.execute(_TELL, self._rows)
            note(self._connection, ((row["job_id"], row["output_id"]) for row in self._rows))
        for tables, rows in self._edges.items():
            add_first(self._connection, tables, rows)
            rows.clear()
        self._kept.clear()
        self._rows.clear()


def settle(writer: Writer) -> None:
    """Makes the edges of every unsettled run what the run's events say by now."""
    while writer.unsettled:
        told = [(case, _told(writer, case)) for case in _cases(writer, sorted(writer.unsettled))]
        writer.moved |= writer.unsettled
        writer.unsettled.clear()
        first = FirstTold(writer.connection, {output for _, outputs in told for output in outputs})
        for case, outputs in told:
            _settle(writer, case, outputs, first)
        first.flush()


def _cases(writer: Writer, runs: list[int]) -> list[Case]:
    connection = writer.connection
    known = _by_run(rows_for(connection, runs, lambda some: select(_LINEAGE).where(_LINEAGE.c.run_id.in_(some))))
    telling = _by_run(rows_for(connection, runs, lambda some: _TELLING.where(_EVENT.run_id.in_(some))))
    rows = rows_for(connection, runs, lambda some: select(_RUN).where(_RUN.c.id.in_(some)))
    return [Case(run, known.get(run.id, []), telling.get(run.id, [])) for run in rows]


def _by_run(rows: Iterable[Row[Any]]) -> dict[int, list[Row[Any]]]:
    found: dict[int, list[Row[Any]]] = {}
    for row in rows:
        found.setdefault(row.run_id, []).append(row)
    return found


def _settle(writer: Writer, case: Case, told: dict[int, Told], first: "FirstTold") -> None:
    run = case.run
    outdated = [_pair(row) for row in case.known if not _still_so(row, run, told)]
    if outdated:
        first.flush()
        withdraw(writer, outdated)
        writer.unsettled.add(run.id)
        return
    for output in told.keys() - {row.output_id for row in case.known}:
        if not first.take(run, output, told[output]):
            _tell(writer, run, output, told[output])


def _pair(row: Row[Any]) -> Pair:
    return row.job_id, row.output_id


def _still_so(row: Row[Any], run: Row[Any], told: dict[int, Told]) -> bool:
    now = told.get(row.output_id)
    return now is not None and (row.job_id, row.at, row.digest) == (run.job_id, now.since, now.digest)


def _told(writer: Writer, case: Case) -> dict[int, Told]:
    """Per output what the latest event with its lineage says: a run's events add up (OpenLineage, "Run Cycle").

    What a stream tells holds since it first told lineage of that output: one run has one time for each.
    """
    told: dict[int, Told] = {}
    run, succeeded = case.run, case.run.state in SUCCESSFUL
    for row in case.telling:
        if not succeeded and row.type != _RUNNING:
            continue
        known = writer.read.get(row.digest) or _read_again(writer, row.id)
        streams = row.type == _RUNNING and known.about.streaming
        if not (succeeded or streams):
            continue
        for output, edges in _of_event(writer, known, known.at if streams else run.state_at).items():
            told[output] = replace(edges, since=min(edges.since, told.get(output, edges).since))
    return told


def _read_again(writer: Writer, event_id: int) -> Event:
    payload = select(schema.event.c.payload).where(schema.event.c.id == event_id)
    return read_event(zlib.decompress(writer.connection.execute(payload).scalar_one()))


def _of_event(writer: Writer, event: Event, since: int) -> dict[int, Told]:
    told: dict[int, Told] = {}
    for output in event.outputs:
        if output.lineage is not None:
            owner = dataset_id(writer, output.description.dataset, event.at)
            fields, dataset = _edges(writer, owner, output.lineage, event.at)
            earlier = told.get(owner, Told(frozenset(), frozenset(), since))
            told[owner] = Told(earlier.fields | fields, earlier.dataset | dataset, since)
    return told


def _edges(writer: Writer, output: int, lineage: ColumnLineage, at: int) -> tuple[frozenset[Edge], frozenset[Edge]]:
    ids = writer.fields(output, lineage.fields, at)
    sources = _sources(writer, lineage.dependencies, at)
    fields = {Edge(ids[name], *sources[one]) for name, inputs in lineage.fields.items() for one in inputs}
    return frozenset(fields), frozenset(Edge(output, *sources[one]) for one in lineage.dataset)


def _sources(writer: Writer, told: frozenset[Dependency], at: int) -> dict[Dependency, tuple[int, int]]:
    """The ids of field and transformation of each dependency."""
    named: dict[Dataset, set[str]] = {}
    for one in told:
        named.setdefault(one.input.dataset, set()).add(one.input.name)
    # All of a dataset at once: events may be the first to tell of its fields.
    fields = {one: writer.fields(dataset_id(writer, one, at), sorted(names), at) for one, names in named.items()}
    return {one: (fields[one.input.dataset][one.input.name], writer.transformation(one.transformation)) for one in told}


def _tell(writer: Writer, run: Row[Any], output: int, told: Told) -> None:
    scope = Scope(writer.connection, run.job_id, output)
    before, after = _neighbours(writer, run, output, told.since)
    end = after.at if after is not None else FOREVER
    if told.since < end and (before is None or before.digest != told.digest):
        window = Span(told.since, end)
        scope.paint(FIELD_EDGES, window, told.fields)
        scope.paint(DATASET_EDGES, window, told.dataset)
        note(writer.connection, [(run.job_id, output)])
    writer.connection.execute(_TELL, _row(run, output, told))


def _row(run: Row[Any], output: int, told: Told) -> dict[str, Any]:
    return {"job_id": run.job_id, "output_id": output, "run_id": run.id, "at": told.since, "digest": told.digest}


def _neighbours(writer: Writer, run: Row[Any], output: int, since: int) -> tuple[Any, Any]:
    """The runs just before and just after that told lineage of the same job's output; equal times go by run id."""
    place = {"job": run.job_id, "output": output, "moment": since, "the_uuid": run.uuid}
    return writer.connection.execute(_BEFORE, place).first(), writer.connection.execute(_AFTER, place).first()
