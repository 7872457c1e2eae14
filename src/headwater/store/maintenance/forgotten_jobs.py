"""Jobs that are gone: hidden from lists until an event names them again, and their lineage ended.

What a job was, and what it made of datasets until then, stays: its events, its runs, the edges of the past.
"""

from collections.abc import Collection

from sqlalchemy import Connection, delete, or_, select, update

from headwater.errors import AmbiguousName, UnknownName
from headwater.model import Job
from headwater.model.time import now
from headwater.openlineage.reading.events import NO_JOB
from headwater.store import schema
from headwater.store.ingest.lineage_writer import end_lineage
from headwater.store.questions import names
from headwater.store.questions.lookup.typed_names import like
from headwater.store.store import Store

_JOB = schema.job.c
_LINEAGE = schema.lineage
_MOST_SHOWN = 5
_MOST_COMPARED = 5_000


def forget_job(store: Store, name: str) -> tuple[Job, ...]:
    """Forget a job and the jobs that are parts of it, such as an application's statements; they are returned.

    Args:
        store: the store, which is written.
        name: the whole name of a job, with its namespace before a slash where several have the name.

    Raises:
        UnknownName, AmbiguousName: no job has that name, or several.
        StoreError: the store cannot be written.
    """
    with store.write() as connection:
        found = _with_parts(connection, _find(connection, name))
        forget(connection, list(found), now())
    return tuple(sorted(found.values(), key=lambda job: (job.namespace, job.name)))


def forget(connection: Connection, jobs: Collection[int], at: int) -> None:
    """Hide jobs until an event later than a moment names them, and end the lineage that they have by then."""
    connection.execute(update(schema.job).where(_JOB.id.in_(jobs)).values(hidden_at=at))
    pairs = select(_LINEAGE.c.job_id, _LINEAGE.c.output_id).where(_LINEAGE.c.job_id.in_(jobs)).distinct()
    for job, output in connection.execute(pairs).all():
        end_lineage(connection, (job, output), at)
    connection.execute(delete(_LINEAGE).where(_LINEAGE.c.job_id.in_(jobs)))


def _find(connection: Connection, name: str) -> int:
    known = select(_JOB.id, _JOB.namespace, _JOB.name).where(_JOB.hidden_at.is_(None), _JOB.name != NO_JOB.name)
    of_name = known.where(or_(_JOB.name == name, _JOB.namespace + "/" + _JOB.name == name))
    rows = sorted(connection.execute(of_name).all(), key=lambda row: (row.namespace, row.name))
    if len(rows) > 1:
        shown = ", ".join(f"{row.namespace}/{row.name}" for row in rows[:_MOST_SHOWN])
        raise AmbiguousName(f"{len(rows)} jobs are called {name!r}: {shown}. Put the namespace and a slash before it.")
    if not rows:
        near = like(name, (row.name for row in connection.execute(known.limit(_MOST_COMPARED))))
        hint = f" Near: {', '.join(near)}." if near else " `headwater jobs` lists what the store knows."
        raise UnknownName(f"No job is called {name[:200]!r}.{hint}")
    return int(rows[0].id)


def _with_parts(connection: Connection, job: int) -> dict[int, Job]:
    """The job, and those of its namespace that its runs have started and whose names begin with its own."""
    whole = names.jobs(connection, [job])[job]
    begins = _JOB.name.startswith(f"{whole.name}.", autoescape=True)
    parts = select(_JOB.id).where(_JOB.namespace == whole.namespace, _JOB.hidden_at.is_(None), begins)
    found = names.jobs(connection, connection.execute(parts).scalars().all())
    owners = names.applications(connection, found)
    return {job: whole} | {key: one for key, one in found.items() if owners[key] == whole}
