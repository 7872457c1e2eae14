"""Jobs and their versions (Marquez, JobResource)."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from sqlalchemy import Connection

from headwater.answers.redaction import Redaction
from headwater.model import Job
from headwater.model.time import now
from headwater.server.auth.access import Caller, require_namespace
from headwater.server.marquez import documents, event_builders, schemas
from headwater.server.marquez.answers import Json, NamedRoute, missing
from headwater.server.marquez.bodies import JobBody
from headwater.server.marquez.documents import Document
from headwater.server.marquez.namespaces import known_namespace
from headwater.server.marquez.query_params import ThePage, redaction_of, sight, uuid_of
from headwater.server.marquez.runs import known_job
from headwater.server.server import Admin, Reader, TheServer, TheStore, Writer
from headwater.store import Store
from headwater.store.catalog import job_versions, jobs, runs, tags
from headwater.store.catalog.job_versions import JobVersion, job_uuid
from headwater.store.catalog.jobs import JobFilter, StoredJob
from headwater.store.maintenance.forgotten_jobs import forget
from headwater.store.read_model.pages import Page

router = APIRouter(prefix="/api/v1", tags=["jobs"], responses={404: {}}, route_class=NamedRoute)


def _named(namespace: str, job: str) -> Job:
    return Job(namespace, job)


def _states(last_run_states: Annotated[list[str] | None, Query(alias="lastRunStates")] = None) -> frozenset[str]:
    return frozenset(state.upper() for state in last_run_states or ())


TheJob = Annotated[Job, Depends(_named)]
"""The job in the path."""

States = Annotated[frozenset[str], Depends(_states)]
"""``lastRunStates``, repeated for each state that the newest run may have."""


@router.get("/jobs", response_model=schemas.JobList)
def listing(caller: Reader, store: TheStore, page: ThePage, states: States) -> Json:
    """List all jobs, the last updated first."""
    return _listing(store, caller, JobFilter(None, states, sight(caller)), page)


@router.get("/namespaces/{namespace}/jobs", response_model=schemas.JobList)
def listing_of(namespace: str, caller: Reader, store: TheStore, page: ThePage, states: States) -> Json:
    """List the jobs of a namespace, the last updated first."""
    if not caller.sees(namespace):
        missing("Namespace", namespace)
    return _listing(store, caller, JobFilter(namespace, states, sight(caller)), page)


@router.get("/namespaces/{namespace}/jobs/{job}", response_model=schemas.Job)
def one(job: TheJob, caller: Reader, store: TheStore) -> Json:
    """Return a job with its newest runs."""
    with store.read() as connection:
        return Json(document(_whole(connection, caller, job), redaction_of(caller, connection)))


@router.put("/namespaces/{namespace}/jobs/{job}", response_model=schemas.Job)
def describe(job: TheJob, body: JobBody, caller: Writer, server: TheServer, store: TheStore) -> Json:
    """Describe a job, as a job event; with ``runId`` as an event of that run."""
    for namespace in (job.namespace, *(one.namespace for one in body.outputs)):
        require_namespace(caller, namespace)
    with store.read() as connection:
        known_namespace(connection, caller, job.namespace)
    event_builders.ingest(server, caller, event_builders.job_event(job, body, now()))
    with store.write() as connection:
        tags.add(connection, (0, known_job(connection, caller, job)), body.tags or (), now())
        return Json(document(_whole(connection, caller, job), redaction_of(caller, connection)))


@router.delete("/namespaces/{namespace}/jobs/{job}", response_model=schemas.Job)
def hide(job: TheJob, caller: Admin, store: TheStore) -> Json:
    """Hide a job until an event describes it again, and end its lineage."""
    with store.write() as connection:
        stored = _whole(connection, caller, job)
        shown = document(stored, redaction_of(caller, connection))
        forget(connection, [stored.id], now())
    return Json(shown)


@router.get("/namespaces/{namespace}/jobs/{job}/versions", response_model=schemas.JobVersionList)
def versions_of(job: TheJob, caller: Reader, store: TheStore, page: ThePage) -> Json:
    """List the versions of a job, the newest first: one for each set of inputs and outputs."""
    with store.read() as connection:
        stored = _outline(connection, caller, job)
        found = job_versions.versions(connection, stored.id, job, stored.location, page)
        shown = _version_documents(connection, caller, stored, found.items)
    return Json({"versions": shown, "totalCount": found.total})


@router.get("/namespaces/{namespace}/jobs/{job}/versions/{version}", response_model=schemas.JobVersion)
def version_of(job: TheJob, version: str, caller: Reader, store: TheStore) -> Json:
    """Return a version of a job."""
    with store.read() as connection:
        stored = _outline(connection, caller, job)
        wanted = uuid_of(version) or missing("Job version", version)
        found = job_versions.find_version(connection, stored.id, job, stored.location, wanted)
        shown = _version_documents(connection, caller, stored, [found] if found is not None else [])
    return Json(shown[0] if shown else missing("Job version", version))


@router.post("/namespaces/{namespace}/jobs/{job}/tags/{tag}", response_model=schemas.Job)
def tag(job: TheJob, tag: str, caller: Writer, store: TheStore) -> Json:
    """Add a tag to a job."""
    with store.write() as connection:
        tags.add(connection, (0, known_job(connection, caller, job)), [tag], now())
        return Json(document(_whole(connection, caller, job), redaction_of(caller, connection)))


@router.delete("/namespaces/{namespace}/jobs/{job}/tags/{tag}", response_model=schemas.Job)
def untag(job: TheJob, tag: str, caller: Writer, store: TheStore) -> Json:
    """Remove a tag from a job."""
    with store.write() as connection:
        tags.remove(connection, (0, known_job(connection, caller, job)), tag)
        return Json(document(_whole(connection, caller, job), redaction_of(caller, connection)))


def document(stored: StoredJob, redaction: Redaction) -> Document:
    """Return a Job."""
    return documents.job(stored, None if stored.parent is None else job_uuid(stored.parent), redaction)


def _listing(store: Store, caller: Caller, job_filter: JobFilter, page: Page) -> Json:
    with store.read() as connection:
        found = jobs.listing(connection, job_filter, page)
        redaction = redaction_of(caller, connection)
        shown = [document(one, redaction) for one in found.items]
    return Json({"jobs": shown, "totalCount": found.total})


def _whole(connection: Connection, caller: Caller, job: Job) -> StoredJob:
    found = known_job(connection, caller, job)
    return jobs.whole(connection, [found])[found]


def _outline(connection: Connection, caller: Caller, job: Job) -> StoredJob:
    found = known_job(connection, caller, job)
    return jobs.outlines(connection, [found])[found]


def _version_documents(
    connection: Connection, caller: Caller, stored: StoredJob, job_versions: Sequence[JobVersion]
) -> list[Document]:
    newest = runs.whole(connection, [one.run for one in job_versions if one.run is not None])
    redaction = redaction_of(caller, connection)
    return [
        documents.job_version(
            stored.named, stored.location, one, newest.get(one.run) if one.run is not None else None, redaction
        )
        for one in job_versions
    ]
