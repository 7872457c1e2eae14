"""What jobs read and write now, and which versions they had: derived from what their runs did."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, exists, func, select

from headwater.model import Dataset, Job
from headwater.store import schema
from headwater.store.catalog import touched
from headwater.store.catalog.identities import job_version
from headwater.store.catalog.touched import Touched
from headwater.store.events import DECLARED
from headwater.store.rows import rows_for

_RUN = schema.run
_TOUCH = schema.run_dataset
_DOING = exists().where(_TOUCH.c.run_id == _RUN.c.id)


@dataclass(frozen=True, slots=True)
class JobVersion:
    """A job while it read and wrote these datasets: since when, and the newest run of it.

    ``run`` is None where only job events told of it.
    """

    uuid: UUID
    at: int
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]
    newest_at: int
    run: int | None


def touched_by(connection: Connection, jobs: Collection[int]) -> dict[int, Touched]:
    """What the newest run of each job did that did something; nothing for jobs without such a run."""
    newest = _newest_runs(connection, jobs)
    used = touched.by_runs(connection, list(newest.values()))
    return {job: used[run] for job, run in newest.items() if run in used}


def versions(connection: Connection, job_id: int, job: Job, location: str) -> tuple[JobVersion, ...]:
    """The versions of a job, the newest first. All its runs are looked at, because none is kept."""
    mine = select(_RUN.c.id, _RUN.c.state, _RUN.c.state_at).where(_RUN.c.job_id == job_id, _DOING)
    rows = connection.execute(mine.order_by(_RUN.c.state_at.desc(), _RUN.c.uuid.desc())).all()
    used = touched.by_runs(connection, [row.id for row in rows])
    named = touched.named(connection, used.values())
    alike: dict[Touched, list[Any]] = {}
    for row in rows:
        alike.setdefault(used[row.id], []).append(row)
    return tuple(_versions(job, location, alike, named))


def _versions(
    job: Job, location: str, alike: dict[Touched, list[Any]], named: dict[int, Dataset]
) -> Iterator[JobVersion]:
    for touch, rows in alike.items():
        read, written = (frozenset(named[one] for one in ids) for ids in (touch.read, touch.written))
        uuid = job_version(job, read, written, location)
        newest = rows[0].state_at
        yield JobVersion(uuid, rows[-1].state_at, tuple(sorted(read)), tuple(sorted(written)), newest, _run(rows))


def _run(rows: Sequence[Any]) -> int | None:
    return next((row.id for row in rows if row.state != DECLARED), None)


def _newest_runs(connection: Connection, jobs: Collection[int]) -> dict[int, int]:
    order = (_RUN.c.state_at.desc(), _RUN.c.uuid.desc())
    place = func.row_number().over(partition_by=_RUN.c.job_id, order_by=order)
    question = select(_RUN.c.id, _RUN.c.job_id, place.label("place")).where(_DOING)

    def first(some: list[int]) -> Select[Any]:
        every = question.where(_RUN.c.job_id.in_(some)).subquery()
        return select(every.c.id, every.c.job_id).where(every.c.place == 1)

    return {row.job_id: row.id for row in rows_for(connection, jobs, first)}
