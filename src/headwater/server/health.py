"""The health of a server, and its metrics."""

import logging
from typing import Literal

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST

from headwater.errors import HeadwaterError
from headwater.server.openapi import Schema
from headwater.server.routes import GuardedRoute
from headwater.server.server import Server, TheServer, UnrestrictedReader
from headwater.store.schema import REVISIONS

router = APIRouter(tags=["operation"], route_class=GuardedRoute)

STUCK = 60.0
"""Seconds after which a transaction that has not ended counts as stuck."""


class Health(Schema):
    """A sign of life."""

    status: Literal["ok"]
    version: str


class Checks(Schema):
    """``ok`` for each part that works, else what is wrong with it."""

    store: str
    intake: str
    writing: str


class Readiness(Schema):
    """Whether a server can serve."""

    status: Literal["ready", "not ready"]
    checks: Checks


_log = structlog.wrap_logger(logging.getLogger("headwater.health"))


@router.get("/health", response_model=Health)
async def health(request: Request) -> JSONResponse:
    """Answer as long as the process lives."""
    return JSONResponse({"status": "ok", "version": request.app.version})


@router.get("/ready", response_model=Readiness, responses={503: {"model": Readiness, "description": "Not ready."}})
def ready(server: TheServer) -> JSONResponse:
    """Answer 200 when the store can be read and events are written; 503 otherwise, with the part that fails.

    Whether the store can be written is known from the last events, or tried by a transaction that changes nothing,
    every ten seconds at most.
    """
    store, stuck = _store(server), server.intake.stuck_for >= STUCK
    writing = "unknown" if stuck or store != "ok" else server.intake.writable()
    checks = {"store": store, "intake": "stuck" if stuck else "ok", "writing": writing}
    well = all(found == "ok" for found in checks.values())
    return JSONResponse({"status": "ready" if well else "not ready", "checks": checks}, 200 if well else 503)


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(server: TheServer, _: UnrestrictedReader) -> Response:
    """Return the server's metrics in Prometheus' text format."""
    return Response(server.metrics.page(), media_type=CONTENT_TYPE_LATEST)


def _store(server: Server) -> str:
    """Return "ok" or the kind of fault; anybody may ask, so the log alone says where the store is."""
    try:
        revision = server.store.revision()
    except HeadwaterError as fault:
        _log.warning("not ready", reason=str(fault))
        return type(fault).__name__
    return "ok" if revision == REVISIONS[-1] else f"schema {revision} instead of {REVISIONS[-1]}"
