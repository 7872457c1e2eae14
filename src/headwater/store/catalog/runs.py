"""Runs with their states, what they read and wrote, and what their events say of them."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Select, and_, func, or_, select

from headwater.model import Dataset, Job
from headwater.model.time import BEGINNING
from headwater.openlineage.reading.events import DECLARED, FINAL
from headwater.openlineage.reading.json_values import text
from headwater.store import schema
from headwater.store.catalog import runevents, touched, versions
from headwater.store.catalog.identities import job_version
from headwater.store.catalog.pages import Listing, Page, among, paged
from headwater.store.catalog.runevents import ToldRun
from headwater.store.catalog.sight import runs_seen
from headwater.store.catalog.touched import Touched, Used, VersionsThen
from headwater.store.sql.rows import rows_for

NEW = "NEW"
STATES = {"START": "RUNNING", "RUNNING": "RUNNING", "COMPLETE": "COMPLETED", "FAIL": "FAILED", "ABORT": "ABORTED"}
"""The states of runs in the words of Marquez (RunState.java), by the last event's type; any other type is NEW."""

_RUN = schema.run
_JOB = schema.job
_BEGUN = func.coalesce(_RUN.c.started_at, _RUN.c.state_at)


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run; moments are microseconds since 1970, None where no event told them.

    ``identity`` is that of the store, which has the namespace in it when a key with limits told of the run.
    """

    id: int
    uuid: str
    job: Job
    state: str
    started_at: int | None
    ended_at: int | None
    version: UUID
    inputs: tuple[Used, ...]
    outputs: tuple[Used, ...]
    told: ToldRun
    identity: str = ""

    @property
    def limited(self) -> bool:
        """Whether a key with limits told of it."""
        return self.identity != self.uuid


def told(question: Select[Any]) -> Select[Any]:
    """A question about runs without those that no run event told of."""
    return question.where(_RUN.c.state.not_in(("", DECLARED)))


def newest_first() -> tuple[ColumnElement[Any], ...]:
    """The order in which runs are listed."""
    return _BEGUN.desc(), _RUN.c.uuid


def listing(connection: Connection, job_id: int, page: Page) -> Listing[KeptRun]:
    """The runs of a job, the newest first."""
    mine = told(select(_RUN.c.id).where(_RUN.c.job_id == job_id)).order_by(*newest_first())
    found = paged(connection, mine, page)
    ids = [row.id for row in found.items]
    return Listing(among(ids, whole(connection, ids)), found.total)


def find(connection: Connection, uuid: str) -> int | None:
    """The id of the run with a UUID, None when no run event told of it or it may not be seen."""
    written = {text(uuid), text(uuid).lower()}
    mine = told(select(_RUN.c.id).where(or_(_RUN.c.uuid.in_(written), _RUN.c.shown.in_(written))))
    return connection.execute(mine.where(runs_seen(connection)).order_by(_RUN.c.id).limit(1)).scalar()


def newest(connection: Connection, jobs: Collection[int], most: int) -> dict[int, list[int]]:
    """The ids of the newest runs of each job, the newest first."""

    def first(some: list[int]) -> Select[Any]:
        # Of each job only the runs are ranked that began no earlier than the last that is wanted.
        last = told(select(_BEGUN).where(_RUN.c.job_id == _JOB.c.id).correlate(_JOB)).order_by(_BEGUN.desc())
        since = last.offset(most - 1).limit(1).scalar_subquery()
        wanted = select(_JOB.c.id, func.coalesce(since, BEGINNING).label("since")).where(_JOB.c.id.in_(some)).subquery()
        place = func.row_number().over(partition_by=_RUN.c.job_id, order_by=newest_first())
        ranked = told(select(_RUN.c.id, _RUN.c.job_id, place.label("place")))
        every = ranked.join(wanted, and_(wanted.c.id == _RUN.c.job_id, wanted.c.since <= _BEGUN)).subquery()
        return select(every.c.id, every.c.job_id).where(every.c.place <= most).order_by(every.c.place)

    found: dict[int, list[int]] = {}
    for row in rows_for(connection, jobs, first):
        found.setdefault(row.job_id, []).append(row.id)
    return found


def whole(connection: Connection, ids: Collection[int]) -> dict[int, KeptRun]:
    """Runs by id with what their events say."""
    return _kept(connection, ids, runevents.whole)


def outlines(connection: Connection, ids: Collection[int]) -> dict[int, KeptRun]:
    """Runs by id without what has to be read from events: no facets, arguments, nominal times."""
    return _kept(connection, ids, runevents.spans)


def _kept(
    connection: Connection, ids: Collection[int], tell: Callable[[Connection, Collection[int]], dict[int, ToldRun]]
) -> dict[int, KeptRun]:
    question = select(_RUN, _JOB.c.namespace, _JOB.c.name, _JOB.c.location).join(_JOB, _JOB.c.id == _RUN.c.job_id)
    rows = list(rows_for(connection, ids, lambda some: question.where(_RUN.c.id.in_(some))))
    used, altered = touched.by_runs(connection, ids), versions.altered_by(connection, ids)
    named = touched.named(connection, used.values()) | touched.names(connection, set().union(*altered.values()))
    said = tell(connection, ids)
    then = _versions(connection, rows, used, named)
    runs = {row.id: _run(row, used.get(row.id, Touched()), named, then, said.get(row.id)) for row in rows}
    return runs | {run: _with_altered(runs[run], (named[one] for one in some)) for run, some in altered.items()}


def _with_altered(run: KeptRun, datasets: Iterable[Dataset]) -> KeptRun:
    """A run with the versions that it made of datasets by altering them, beside those of what it wrote."""
    made = {one.named: one for one in run.outputs} | {
        one: touched.written_by(one, run.identity, run.uuid) for one in datasets
    }
    return replace(run, outputs=tuple(sorted(made.values(), key=_by_name)))


def _versions(
    connection: Connection, rows: Sequence[Any], used: dict[int, Touched], named: dict[int, Dataset]
) -> VersionsThen:
    read = {(one, _begun(row)) for row in rows for one in used.get(row.id, Touched()).read}
    return VersionsThen(connection, named, read)


def _run(row: Any, used: Touched, named: dict[int, Dataset], then: VersionsThen, said: ToldRun | None) -> KeptRun:
    job = Job(row.namespace, row.name)
    read, written = (frozenset(named[one] for one in ids) for ids in (used.read, used.written))
    return KeptRun(
        row.id,
        row.shown or row.uuid,
        job,
        STATES.get(row.state, NEW if row.started_at is None else STATES["START"]),
        row.started_at,
        row.state_at if row.state in FINAL else None,
        job_version(job, read, written, row.location or ""),
        tuple(sorted((then(one, _begun(row)) for one in used.read), key=_by_name)),
        tuple(sorted((touched.written_by(named[one], row.uuid, row.shown) for one in used.written), key=_by_name)),
        said or ToldRun(row.state_at, row.state_at),
        row.uuid,
    )


def _begun(row: Any) -> int:
    begun: int = row.state_at if row.started_at is None else row.started_at
    return begun


def _by_name(used: Used) -> Dataset:
    return used.named
