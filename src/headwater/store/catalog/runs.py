"""Runs with their states, what they read and wrote, and what their events say of them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from headwater.model import Dataset, Job
from headwater.model.time import BEGINNING
from headwater.openlineage.reading.events import DECLARED, FINAL
from headwater.openlineage.reading.json_values import text
from headwater.openlineage.reading.merged_facets import RunEvents
from headwater.store import schema
from headwater.store.catalog import run_datasets
from headwater.store.catalog.events import unpacked
from headwater.store.catalog.job_versions import job_version
from headwater.store.catalog.run_datasets import DatasetUse, RunDatasets
from headwater.store.read_model import versions
from headwater.store.read_model.pages import Listing, Page, among, paged
from headwater.store.read_model.versions import Place
from headwater.store.read_model.visibility import runs_seen
from headwater.store.sql.databases import rows_for

NEW = "NEW"
STATES = {"START": "RUNNING", "RUNNING": "RUNNING", "COMPLETE": "COMPLETED", "FAIL": "FAILED", "ABORT": "ABORTED"}
"""The states of runs in the words of Marquez (RunState.java), by the last event's type; any other type is NEW."""

_EVENT = schema.event
_RUN = schema.run
_JOB = schema.job
_BEGUN = func.coalesce(_RUN.c.started_at, _RUN.c.state_at)


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run; moments are microseconds since 1970, None where no event has them.

    ``identity`` is that of the store, which has the namespace in it when a key with limits sent the run.
    """

    id: int
    uuid: str
    job: Job
    state: str
    started_at: int | None
    ended_at: int | None
    version: UUID
    inputs: tuple[DatasetUse, ...]
    outputs: tuple[DatasetUse, ...]
    events: RunEvents
    identity: str = ""

    @property
    def limited(self) -> bool:
        """Whether a key with limits sent it."""
        return self.identity != self.uuid


def with_events(question: Select[Any]) -> Select[Any]:
    """A question about runs without those that no run event has."""
    return question.where(_RUN.c.state.not_in(("", DECLARED)))


def newest_first() -> tuple[ColumnElement[Any], ...]:
    """The order in which runs are listed."""
    return _BEGUN.desc(), _RUN.c.uuid


def listing(connection: Connection, job_id: int, page: Page) -> Listing[StoredRun]:
    """The runs of a job, the newest first."""
    mine = with_events(select(_RUN.c.id).where(_RUN.c.job_id == job_id)).order_by(*newest_first())
    found = paged(connection, mine, page)
    ids = [row.id for row in found.items]
    return Listing(among(ids, whole(connection, ids)), found.total)


def find(connection: Connection, uuid: str) -> int | None:
    """The id of the run with a UUID, None when no run event has it or it may not be seen."""
    written = {text(uuid), text(uuid).lower()}
    mine = with_events(select(_RUN.c.id).where(or_(_RUN.c.uuid.in_(written), _RUN.c.shown.in_(written))))
    return connection.execute(mine.where(runs_seen(connection)).order_by(_RUN.c.id).limit(1)).scalar()


def newest(connection: Connection, jobs: Collection[int], most: int) -> dict[int, list[int]]:
    """The ids of the newest runs of each job, the newest first."""

    def first(jobs: list[int]) -> Select[Any]:
        # Of each job only the runs are ranked that began no earlier than the last that is wanted.
        last = with_events(select(_BEGUN).where(_RUN.c.job_id == _JOB.c.id).correlate(_JOB)).order_by(_BEGUN.desc())
        since = last.offset(most - 1).limit(1).scalar_subquery()
        wanted = select(_JOB.c.id, func.coalesce(since, BEGINNING).label("since")).where(_JOB.c.id.in_(jobs)).subquery()
        place = func.row_number().over(partition_by=_RUN.c.job_id, order_by=newest_first())
        ranked = with_events(select(_RUN.c.id, _RUN.c.job_id, place.label("place")))
        every = ranked.join(wanted, and_(wanted.c.id == _RUN.c.job_id, wanted.c.since <= _BEGUN)).subquery()
        return select(every.c.id, every.c.job_id).where(every.c.place <= most).order_by(every.c.place)

    found: dict[int, list[int]] = {}
    for row in rows_for(connection, jobs, first):
        found.setdefault(row.job_id, []).append(row.id)
    return found


def whole(connection: Connection, ids: Collection[int]) -> dict[int, StoredRun]:
    """Runs by id with what their events say."""
    return _stored(connection, ids, _events)


def outlines(connection: Connection, ids: Collection[int]) -> dict[int, StoredRun]:
    """Runs by id without what has to be read from events: no facets, arguments, nominal times."""
    return _stored(connection, ids, _spans)


def _events(connection: Connection, runs: Collection[int]) -> dict[int, RunEvents]:
    """Return the events of runs; later events override earlier ones."""
    question = select(_EVENT.c.run_id, _EVENT.c.at, _EVENT.c.payload).order_by(_EVENT.c.at, _EVENT.c.digest)
    found: dict[int, RunEvents] = {}
    for row in rows_for(connection, runs, lambda some: question.where(_EVENT.c.run_id.in_(some))):
        run = found.setdefault(row.run_id, RunEvents(row.at))
        run.last_at = row.at
        run.add(unpacked(row.payload))
    return found


def _spans(connection: Connection, runs: Collection[int]) -> dict[int, RunEvents]:
    """Return the times of the first and the last event of runs, for which no event is read."""
    at = _EVENT.c.at
    question = select(_EVENT.c.run_id, func.min(at), func.max(at)).group_by(_EVENT.c.run_id)
    rows = rows_for(connection, runs, lambda some: question.where(_EVENT.c.run_id.in_(some)))
    return {run: RunEvents(first, last) for run, first, last in rows}


def _stored(
    connection: Connection,
    ids: Collection[int],
    events_of: Callable[[Connection, Collection[int]], dict[int, RunEvents]],
) -> dict[int, StoredRun]:
    question = select(_RUN, _JOB.c.namespace, _JOB.c.name, _JOB.c.location).join(_JOB, _JOB.c.id == _RUN.c.job_id)
    rows = list(rows_for(connection, ids, lambda some: question.where(_RUN.c.id.in_(some))))
    used, altered = run_datasets.by_runs(connection, ids), versions.altered_by(connection, ids)
    named = run_datasets.named(used.values()) | run_datasets.names(connection, set().union(*altered.values()))
    events = events_of(connection, ids)
    read = {(one, _begun(row)) for row in rows for one in used.get(row.id, RunDatasets()).read}
    then = run_datasets.at_moments(connection, named, read)
    runs = {row.id: _run(row, used.get(row.id, RunDatasets()), then, events.get(row.id)) for row in rows}
    return runs | {run: _with_altered(runs[run], (named[one] for one in some)) for run, some in altered.items()}


def _with_altered(run: StoredRun, datasets: Iterable[Dataset]) -> StoredRun:
    """A run with the versions that it made of datasets by altering them, beside those of what it wrote."""
    made = {one.named: one for one in run.outputs} | {
        one: run_datasets.written_by(one, run.identity, run.uuid) for one in datasets
    }
    return replace(run, outputs=tuple(sorted(made.values(), key=_by_name)))


def _run(row: Any, used: RunDatasets, then: Mapping[Place, DatasetUse], events: RunEvents | None) -> StoredRun:
    job = Job(row.namespace, row.name)
    read, written = frozenset(used.read.values()), frozenset(used.written.values())
    return StoredRun(
        row.id,
        row.shown or row.uuid,
        job,
        STATES.get(row.state, NEW if row.started_at is None else STATES["START"]),
        row.started_at,
        row.state_at if row.state in FINAL else None,
        job_version(job, read, written, row.location or ""),
        tuple(sorted((then[one, _begun(row)] for one in used.read), key=_by_name)),
        tuple(sorted((run_datasets.written_by(one, row.uuid, row.shown) for one in written), key=_by_name)),
        events or RunEvents(row.state_at, row.state_at),
        row.uuid,
    )


def _begun(row: Any) -> int:
    begun: int = row.state_at if row.started_at is None else row.started_at
    return begun


def _by_name(used: DatasetUse) -> Dataset:
    return used.named


def upstream(connection: Connection, run_id: int, depth: int, most: int = 1_000) -> Iterator[StoredRun]:
    """A run and those before it, level by level, each once (Marquez, LineageDao.getUpstreamRuns).

    Runs of jobs that may not be seen are left out, their ids too, and what is before them.
    """
    visited: set[int] = set()
    frontier = {run_id}
    for _ in range(depth + 1):
        level = outlines(connection, frontier)
        visited |= frontier
        producers = _runs_seen(connection, {used.run_id for run in level.values() for used in run.inputs if used.run})
        level_runs = [_with_seen_inputs(run, producers) for run in level.values()]
        yield from sorted(level_runs, key=lambda run: (run.job.name, run.uuid))
        frontier = producers - visited
        if not frontier or len(visited) > most:
            return


def _runs_seen(connection: Connection, runs_read: Collection[int]) -> set[int]:
    question = select(_RUN.c.id).where(runs_seen(connection))
    return {row.id for row in rows_for(connection, runs_read, lambda some: question.where(_RUN.c.id.in_(some)))}


def _with_seen_inputs(run: StoredRun, producers: Collection[int]) -> StoredRun:
    inputs = (used if used.run_id in producers else replace(used, run="") for used in run.inputs)
    return replace(run, inputs=tuple(inputs))
