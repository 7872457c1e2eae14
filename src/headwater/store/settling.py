"""The current lineage of a job's output: that of its latest successful run, in whatever order events arrive.

A streaming query is successful as long as it runs: it may never end, and what it has written is written.
"""

import zlib
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

from sqlalchemy import Row, and_, bindparam, insert, or_, select

from headwater.model import ColumnLineage, Dependency
from headwater.store import schema
from headwater.store.events import SUCCESSFUL, Event, read_event
from headwater.store.ids import Writer
from headwater.store.schema import FOREVER
from headwater.store.symlinks import dataset_id
from headwater.store.timeline import DATASET_EDGES, FIELD_EDGES, Edge, Scope, Span
from headwater.store.withdrawal import Pair, withdraw

_RUNNING = "RUNNING"
_LINEAGE = schema.lineage
_THE_RUN = bindparam("the_run", type_=_LINEAGE.c.run_id.type)
_RUN = select(schema.run).where(schema.run.c.id == _THE_RUN)
_KNOWN = select(_LINEAGE).where(_LINEAGE.c.run_id == _THE_RUN)
_EVENT = schema.event.c
_TELLING = select(_EVENT.id, _EVENT.digest, _EVENT.type).where(_EVENT.run_id == _THE_RUN, _EVENT.has_lineage)
_TELLING = _TELLING.order_by(_EVENT.at, _EVENT.digest)
_TELL = insert(_LINEAGE)
_AT, _UUID = _LINEAGE.c.at, schema.run.c.uuid
_TOLD = select(_AT, _UUID, _LINEAGE.c.digest).join(schema.run, schema.run.c.id == _LINEAGE.c.run_id)
_TOLD = _TOLD.where(_LINEAGE.c.job_id == bindparam("job"), _LINEAGE.c.output_id == bindparam("output")).limit(1)
_MOMENT, _THE_UUID = bindparam("moment", type_=_AT.type), bindparam("the_uuid", type_=_UUID.type)
_BEFORE = _TOLD.where(or_(_AT < _MOMENT, and_(_AT == _MOMENT, _UUID < _THE_UUID))).order_by(_AT.desc(), _UUID.desc())
_AFTER = _TOLD.where(or_(_AT > _MOMENT, and_(_AT == _MOMENT, _UUID > _THE_UUID))).order_by(_AT, _UUID)


class Told(NamedTuple):
    """The edges that one run told of one output, and from when on they hold."""

    fields: frozenset[Edge]
    dataset: frozenset[Edge]
    since: int

    @property
    def digest(self) -> bytes:
        """Equal for equal edges."""
        edges = repr((sorted(self.fields), sorted(self.dataset)))
        return blake2b(edges.encode(), digest_size=16).digest()


def settle(writer: Writer) -> None:
    """Makes the edges of every unsettled run what the run's events say by now."""
    while writer.unsettled:
        _settle(writer, writer.unsettled.pop())


def _settle(writer: Writer, run_id: int) -> None:
    run = writer.connection.execute(_RUN, {"the_run": run_id}).one()
    told = _told(writer, run)
    known = writer.connection.execute(_KNOWN, {"the_run": run_id}).all()
    outdated = [_pair(row) for row in known if not _still_so(row, run, told)]
    if outdated:
        withdraw(writer, outdated)
        writer.unsettled.add(run_id)
        return
    for output in told.keys() - {row.output_id for row in known}:
        _tell(writer, run, output, told[output])


def _pair(row: Row[Any]) -> Pair:
    return row.job_id, row.output_id


def _still_so(row: Row[Any], run: Row[Any], told: dict[int, Told]) -> bool:
    now = told.get(row.output_id)
    return now is not None and (row.job_id, row.at, row.digest) == (run.job_id, now.since, now.digest)


def _told(writer: Writer, run: Row[Any]) -> dict[int, Told]:
    """Per output what the latest event with its lineage says: a run's events add up (OpenLineage, "Run Cycle").

    What a stream tells holds since it first told lineage of that output: one run has one time for each.
    """
    told: dict[int, Told] = {}
    succeeded = run.state in SUCCESSFUL
    for row in writer.connection.execute(_TELLING, {"the_run": run.id}).all():
        if not succeeded and row.type != _RUNNING:
            continue
        known = writer.read.get(row.digest) or _read_again(writer, row.id)
        streams = row.type == _RUNNING and known.about.streaming
        if not (succeeded or streams):
            continue
        for output, edges in _of_event(writer, known, known.at if streams else run.state_at).items():
            told[output] = edges._replace(since=min(edges.since, told.get(output, edges).since))
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
    fields = [
        Edge(ids[name], *source) for name, inputs in lineage.fields.items() for source in _sources(writer, inputs, at)
    ]
    whole = frozenset(Edge(output, *source) for source in _sources(writer, lineage.dataset, at))
    return frozenset(fields), whole


def _sources(writer: Writer, inputs: frozenset[Dependency], at: int) -> Iterable[tuple[int, int]]:
    for dependency in inputs:
        owner = dataset_id(writer, dependency.input.dataset, at)
        name = dependency.input.name
        yield writer.field(owner, name, at), writer.transformation(dependency.transformation)


def _tell(writer: Writer, run: Row[Any], output: int, told: Told) -> None:
    scope = Scope(writer.connection, run.job_id, output)
    before, after = _neighbours(writer, run, output, told.since)
    end = after.at if after is not None else FOREVER
    if told.since < end and (before is None or before.digest != told.digest):
        window = Span(told.since, end)
        scope.paint(FIELD_EDGES, window, told.fields)
        scope.paint(DATASET_EDGES, window, told.dataset)
    values = {"job_id": run.job_id, "output_id": output, "run_id": run.id, "at": told.since, "digest": told.digest}
    writer.connection.execute(_TELL, values)


def _neighbours(writer: Writer, run: Row[Any], output: int, since: int) -> tuple[Any, Any]:
    """The runs just before and just after that told lineage of the same job's output; equal times go by run id."""
    place = {"job": run.job_id, "output": output, "moment": since, "the_uuid": run.uuid}
    return writer.connection.execute(_BEFORE, place).first(), writer.connection.execute(_AFTER, place).first()
