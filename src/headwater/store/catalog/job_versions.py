"""The inputs and outputs of jobs now, and the versions of jobs: both follow from their runs."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import CTE, Connection, Select, func, select

from headwater.model import Dataset, Job
from headwater.openlineage.reading.events import DECLARED
from headwater.store import schema
from headwater.store.catalog import run_datasets
from headwater.store.catalog.run_datasets import RunDatasets
from headwater.store.read_model.pages import Listing, Page, paged
from headwater.store.read_model.versions import uuid_of
from headwater.store.sql.databases import rows_for

_RUN = schema.run
_JOB = schema.job
_NEWEST_FIRST = (_RUN.c.state_at.desc(), _RUN.c.uuid.desc())
_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class JobVersion:
    """A job while it read and wrote these datasets: since when, and the newest run of it.

    ``run`` is None where only job events named it.
    """

    uuid: UUID
    at: int
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]
    newest_at: int
    run: int | None


def job_version(job: Job, inputs: frozenset[Dataset], outputs: frozenset[Dataset], location: str) -> UUID:
    """The version of a job that reads and writes these datasets and whose code is at a location."""
    names = [part for some in (inputs, outputs) for one in sorted(some) for part in (one.namespace, one.name)]
    return uuid_of("job version", job.namespace, job.name, str(len(inputs)), *names, location)


def job_uuid(job: Job) -> UUID:
    """The UUID of a job."""
    return uuid_of("job", job.namespace, job.name)


def datasets_of_newest_runs(connection: Connection, jobs: Collection[int]) -> dict[int, RunDatasets]:
    """The datasets of each job's newest run that read or wrote any; jobs without such a run are left out."""
    newest = _newest_runs(connection, jobs)
    used = run_datasets.by_runs(connection, list(newest.values()))
    return {job: used[run] for job, run in newest.items() if run in used}


def versions(connection: Connection, job_id: int, job: Job, location: str, page: Page) -> Listing[JobVersion]:
    """The versions of a job, the one with the newest run first."""
    kinds = _kinds(job_id)
    found = paged(
        connection, _newest_of(job_id, kinds), page, select(kinds.c.touched).where(kinds.c.touched.is_not(None))
    )
    return Listing(tuple(_versions(connection, job, location, found.items)), found.total)


def find_version(connection: Connection, job_id: int, job: Job, location: str, version: UUID) -> JobVersion | None:
    """The version of a job with a UUID; the newest are looked at first."""
    rows = connection.execute(_newest_of(job_id, _kinds(job_id))).all()
    parts = (rows[begin : begin + _AT_ONCE] for begin in range(0, len(rows), _AT_ONCE))
    found = (one for some in parts for one in _versions(connection, job, location, some))
    return next((one for one in found if one.uuid == version), None)


def _kinds(job_id: int) -> CTE:
    """Every digest of what runs of a job touched, each by one look-up in an index; at last one that is missing."""
    mine = select(_RUN.c.touched).where(_RUN.c.job_id == job_id, _RUN.c.touched.is_not(None))
    first = mine.order_by(_RUN.c.touched).limit(1).scalar_subquery()
    kinds = select(first.label("touched")).cte("kinds", recursive=True)
    next_ = mine.where(_RUN.c.touched > kinds.c.touched).order_by(_RUN.c.touched).limit(1).correlate(kinds)
    return kinds.union_all(select(next_.scalar_subquery()).where(kinds.c.touched.is_not(None)))


def _newest_of(job_id: int, kinds: CTE) -> Select[Any]:
    """For each kind its newest run, the newest that was a run, and when the first of them ended."""
    alike = select(_RUN.c.id).where(_RUN.c.job_id == job_id, _RUN.c.touched == kinds.c.touched).correlate(kinds)
    newest = alike.order_by(*_NEWEST_FIRST).limit(1)
    ran = newest.where(_RUN.c.state != DECLARED).scalar_subquery()
    oldest = alike.with_only_columns(func.min(_RUN.c.state_at)).scalar_subquery()
    columns = (newest.scalar_subquery().label("newest"), ran.label("ran"), oldest.label("oldest"))
    found = select(*columns).where(kinds.c.touched.is_not(None)).subquery()
    question = select(found.c.newest, found.c.ran, found.c.oldest, _RUN.c.state_at)
    return question.join(_RUN, _RUN.c.id == found.c.newest).order_by(*_NEWEST_FIRST)


def _versions(connection: Connection, job: Job, location: str, rows: Sequence[Any]) -> Iterator[JobVersion]:
    used = run_datasets.by_runs(connection, [row.newest for row in rows])
    for row in rows:
        touch = used[row.newest]
        read, written = frozenset(touch.read.values()), frozenset(touch.written.values())
        uuid = job_version(job, read, written, location)
        yield JobVersion(uuid, row.oldest, tuple(sorted(read)), tuple(sorted(written)), row.state_at, row.ran)


def _newest_runs(connection: Connection, jobs: Collection[int]) -> dict[int, int]:
    mine = select(_RUN.c.id).where(_RUN.c.job_id == _JOB.c.id, _RUN.c.touched.is_not(None)).correlate(_JOB)
    newest = mine.order_by(*_NEWEST_FIRST).limit(1).scalar_subquery()
    question = select(_JOB.c.id, newest.label("run"))
    rows = rows_for(connection, jobs, lambda some: question.where(_JOB.c.id.in_(some)))
    return {row.id: row.run for row in rows if row.run is not None}
