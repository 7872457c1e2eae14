"""Runs: read, created, started and ended (Marquez, RunResource and JobResource)."""

from typing import Annotated, Literal
from uuid import uuid4

from fastapi import APIRouter, Query
from sqlalchemy import Connection
from starlette.exceptions import HTTPException

from headwater.model import Job
from headwater.model.time import now
from headwater.openlineage.writing.json_events import run_event
from headwater.server.auth.access import Caller
from headwater.server.marquez import documents, event_builders, schemas
from headwater.server.marquez.answers import Json, NamedRoute, missing
from headwater.server.marquez.bodies import RunBody
from headwater.server.marquez.namespaces import known_namespace
from headwater.server.marquez.query_params import ThePage, moment_of, redaction_of
from headwater.server.server import Reader, TheServer, TheStore, Writer
from headwater.store import Store
from headwater.store.catalog import name_ids, runs
from headwater.store.catalog.runs import StoredRun

router = APIRouter(prefix="/api/v1", tags=["runs"], responses={400: {}, 404: {}}, route_class=NamedRoute)

EVENTS = {"start": "START", "complete": "COMPLETE", "fail": "FAIL", "abort": "ABORT"}


@router.get("/namespaces/{namespace}/jobs/{job}/runs", response_model=schemas.RunList)
def listing(namespace: str, job: str, caller: Reader, store: TheStore, page: ThePage) -> Json:
    """List the runs of a job, the newest first."""
    with store.read() as connection:
        found = runs.listing(connection, known_job(connection, caller, Job(namespace, job)), page)
        redaction = redaction_of(caller, connection)
        shown = [documents.run_document(one, redaction) for one in found.items]
    return Json({"runs": shown, "totalCount": found.total})


@router.post(
    "/namespaces/{namespace}/jobs/{job}/runs", status_code=201, response_model=schemas.Run, responses={409: {}}
)
def create(namespace: str, job: str, body: RunBody, caller: Writer, server: TheServer) -> Json:
    """Create a run that has not started, as an event of type OTHER."""
    named, uuid, store = Job(namespace, job), str(body.id or uuid4()), server.seen_by(caller)
    with store.read() as connection:
        known_job(connection, caller, named)
        if runs.find(connection, uuid) is not None:
            raise HTTPException(409, f"Run '{uuid}' already exists.")
    event_builders.ingest(server, caller, run_event(uuid, named, "OTHER", now(), event_builders.run_facets(body)))
    return Json(_document(store, caller, uuid), 201)


@router.get("/jobs/runs/{run}", response_model=schemas.Run)
def one(run: str, caller: Reader, store: TheStore) -> Json:
    """Return a run."""
    return Json(_document(store, caller, run))


@router.get("/jobs/runs/{run}/facets", response_model=schemas.RunFacets)
def facets(run: str, kind: Annotated[str, Query(alias="type")], caller: Reader, store: TheStore) -> Json:
    """Return the facets of a run, or of its job in that run; ``type`` is ``run`` or ``job``."""
    with store.read() as connection:
        found = known_run(connection, caller, run)
    if kind.lower() not in ("run", "job"):
        raise HTTPException(400, f"type is {kind[:50]!r}: expected run or job.")
    of_kind = found.events.facets if kind.lower() == "run" else found.events.job_facets
    return Json({"runId": found.uuid, "facets": redaction_of(caller).json(of_kind)})


@router.post("/jobs/runs/{run}/{action}", response_model=schemas.Run)
def transition(
    run: str,
    action: Literal["start", "complete", "fail", "abort"],
    caller: Writer,
    server: TheServer,
    at: str | None = None,
) -> Json:
    """Start or end a run, as the event that a producer would send; ``at`` is the moment, now by default."""
    moment, store = moment_of(at, "at"), server.seen_by(caller)
    with store.read() as connection:
        found = known_run(connection, caller, run)
    event = run_event(found.uuid, found.job, EVENTS[action], now() if moment is None else moment)
    event_builders.ingest_of_run(server, caller, found, event)
    return Json(_document(store, caller, run))


def known_run(connection: Connection, caller: Caller, uuid: str) -> StoredRun:
    """Return the run with a UUID, with facets.

    Raises:
        HTTPException: 404, when none has it, or the caller may not see its job.
    """
    found = runs.find(connection, uuid)
    stored = None if found is None else runs.whole(connection, [found])[found]
    return stored if stored is not None and caller.sees(stored.job.namespace) else missing("Run", uuid)


def known_job(connection: Connection, caller: Caller, job: Job) -> int:
    """Return the id of a job.

    Raises:
        HTTPException: 404, when none has the name, or the caller may not see it.
    """
    known_namespace(connection, caller, job.namespace)
    found = name_ids.job_id(connection, job)
    return found if found is not None else missing("Job", job.name)


def _document(store: Store, caller: Caller, uuid: str) -> documents.Document:
    with store.read() as connection:
        return documents.run_document(known_run(connection, caller, uuid), redaction_of(caller, connection))
