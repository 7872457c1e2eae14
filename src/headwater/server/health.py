"""Whether a server lives, whether it can serve, and what it counts."""

import logging
from typing import Literal

import structlog
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from prometheus_client import CONTENT_TYPE_LATEST

from headwater.errors import HeadwaterError
from headwater.server.openapi import Schema
from headwater.server.routes import GuardedRoute
from headwater.server.server import Overseer, Server, TheServer
from headwater.store.schema import REVISIONS

router = APIRouter(tags=["operation"], route_class=GuardedRoute)

STUCK = 60.0
"""Seconds after which a transaction that has not ended is taken for one that will not."""


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


@router.get("/", include_in_schema=False)
async def begin(request: Request) -> RedirectResponse:
    """Who opens the server in a browser sees what it answers."""
    return RedirectResponse(f"{request.scope['root_path']}/docs")


@router.get("/health", response_model=Health)
async def health(request: Request) -> JSONResponse:
    """Answers as long as the process lives."""
    return JSONResponse({"status": "ok", "version": request.app.version})


@router.get("/ready", response_model=Readiness, responses={503: {"model": Readiness, "description": "Not ready."}})
def ready(server: TheServer) -> JSONResponse:
    """200 when the store answers, can be written, and events are; 503 otherwise, with the part that fails.

    Whether it can be written is known from the events that were, or looked at by a transaction that changes nothing,
    every ten seconds at most.
    """
    store, stuck = _store(server), server.intake.stuck_for >= STUCK
    writing = "unknown" if stuck or store != "ok" else server.intake.writable()
    checks = {"store": store, "intake": "stuck" if stuck else "ok", "writing": writing}
    well = all(found == "ok" for found in checks.values())
    return JSONResponse({"status": "ready" if well else "not ready", "checks": checks}, 200 if well else 503)


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(server: TheServer, _: Overseer) -> Response:
    """The server's counters in Prometheus' text format."""
    return Response(server.metrics.page(), media_type=CONTENT_TYPE_LATEST)


def _store(server: Server) -> str:
    """Anybody may ask: the kind of fault is enough, where the store is stands in the log."""
    try:
        revision = server.store.revision()
    except HeadwaterError as fault:
        _log.warning("not ready", reason=str(fault))
        return type(fault).__name__
    return "ok" if revision == REVISIONS[-1] else f"schema {revision} instead of {REVISIONS[-1]}"
