"""Jobs with what they read and write now, their newest runs, tags and facets."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Connection, Select, exists, or_, select, true

from headwater.model import Dataset, Job
from headwater.openlineage.reading.events import NO_JOB
from headwater.openlineage.reading.merged_facets import Facets
from headwater.store import schema
from headwater.store.catalog import events, job_versions, moments, runs, tags
from headwater.store.catalog.job_versions import job_version
from headwater.store.catalog.runs import StoredRun
from headwater.store.questions import names
from headwater.store.read_model.pages import Listing, Page, among, paged, seen
from headwater.store.read_model.visibility import Sees
from headwater.store.sql.databases import rows_for

NEWEST = 10
"""As many runs come with a job as in Marquez (JobDao.findAllWithRun)."""

_JOB = schema.job
_RUN = schema.run


@dataclass(frozen=True, slots=True)
class StoredJob:
    """A job as the store keeps it.

    ``inputs`` and ``outputs`` are those of its newest run that has some; ``version`` stands for them and the location.
    ``parent`` is the job that this one's name says it is a part of. ``runs`` are the newest, the newest first; of them
    only the first is whole, where all of the job was asked for.
    """

    id: int
    named: Job
    parent: Job | None
    description: str
    location: str
    created_at: int
    updated_at: int
    inputs: tuple[Dataset, ...]
    outputs: tuple[Dataset, ...]
    version: UUID | None
    tags: tuple[str, ...]
    runs: tuple[StoredRun, ...] = ()
    facets: Facets = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class JobFilter:
    """Which jobs to list: of one namespace or all that somebody may see, with the newest run in some states."""

    namespace: str | None = None
    states: frozenset[str] = frozenset()
    sees: Sees = None


def listing(connection: Connection, job_filter: JobFilter, page: Page) -> Listing[StoredJob]:
    """The jobs, the one with the latest event first."""
    mine = shown(select(_JOB.c.id)).where(_in_namespace(connection, job_filter), _in_state(job_filter.states))
    order = (_JOB.c.last_at.is_(None), _JOB.c.last_at.desc(), _JOB.c.namespace, _JOB.c.name)
    found = paged(connection, mine.order_by(*order), page)
    ids = [row.id for row in found.items]
    return Listing(among(ids, whole(connection, ids)), found.total)


def shown(question: Select[Any]) -> Select[Any]:
    """A question about jobs without those that are hidden, and what stands for the job of events without one."""
    return question.where(_JOB.c.name != NO_JOB.name, _JOB.c.hidden_at.is_(None))


def whole(connection: Connection, ids: Collection[int]) -> dict[int, StoredJob]:
    """Jobs by id with everything that is known of them."""
    facets, newest = events.of_jobs(connection, ids), runs.newest(connection, ids, NEWEST)
    first = runs.whole(connection, [some[0] for some in newest.values()])
    known = runs.outlines(connection, [one for some in newest.values() for one in some[1:]]) | first
    return {
        one: replace(job, facets=facets[one], runs=among(newest.get(one, ()), known))
        for one, job in outlines(connection, ids).items()
    }


def outlines(connection: Connection, ids: Collection[int]) -> dict[int, StoredJob]:
    """Jobs by id without their runs and what has to be read from events."""
    rows = list(rows_for(connection, ids, lambda some: select(_JOB).where(_JOB.c.id.in_(some))))
    used = job_versions.datasets_of_newest_runs(connection, ids)
    ends = {one: (frozenset(some.read.values()), frozenset(some.written.values())) for one, some in used.items()}
    return _stored_jobs(connection, rows, ends, tags.of_jobs(connection, ids))


Ends = tuple[frozenset[Dataset], frozenset[Dataset]]


def _stored_jobs(
    connection: Connection, rows: Sequence[Any], ends: Mapping[int, Ends], put: Mapping[int, tags.Tags]
) -> dict[int, StoredJob]:
    spans = moments.of_jobs(connection, rows)
    own = {row.id: Job(row.namespace, row.name) for row in rows}
    parents = names.applications(connection, own)
    found = {}
    for row in rows:
        read, written = ends.get(row.id, (frozenset[Dataset](), frozenset[Dataset]()))
        found[row.id] = StoredJob(
            row.id,
            own[row.id],
            parents[row.id] if parents[row.id] != own[row.id] else None,
            row.description or "",
            row.location or "",
            *spans[row.id],
            tuple(sorted(read)),
            tuple(sorted(written)),
            job_version(own[row.id], read, written, row.location or "") if row.id in ends else None,
            put[row.id].own,
        )
    return found


def _in_namespace(connection: Connection, job_filter: JobFilter) -> ColumnElement[bool]:
    if job_filter.namespace is not None:
        return _JOB.c.namespace == job_filter.namespace
    return seen(connection, _JOB.c.namespace, job_filter.sees)


def _in_state(states: frozenset[str]) -> ColumnElement[bool]:
    """That the newest run is in one of some states; a job without runs is listed always, as in Marquez."""
    if not states:
        return true()
    names = [name for name, state in runs.STATES.items() if state in states]
    mine = runs.with_events(select(_RUN.c.state).where(_RUN.c.job_id == _JOB.c.id).correlate(_JOB))
    newest = mine.order_by(*runs.newest_first()).limit(1).scalar_subquery()
    matches = or_(newest.in_(names), ~exists(mine))
    return or_(matches, newest.not_in(list(runs.STATES))) if runs.NEW in states else matches
