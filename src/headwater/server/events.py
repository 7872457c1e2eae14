"""The intake of events: ``POST /api/v1/lineage``, one event or many, and ``/api/v1/lineage/batch``."""

import asyncio
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.exceptions import HTTPException

from headwater.errors import EventError
from headwater.openlineage.reading import Event, event_of, in_parts, packed, read_json
from headwater.openlineage.reading.shapes import require_shape
from headwater.server.auth.access import Caller, require_own, with_grant
from headwater.server.openapi import Schema
from headwater.server.routes import GuardedRoute
from headwater.server.server import TheServer, Writer

router = APIRouter(prefix="/api/v1", tags=["events"], route_class=GuardedRoute)


class FailedEvent(Schema):
    """An event of an array that was not stored, by its place from 0 on."""

    index: int
    reason: str
    retriable: bool


class ArraySummary(Schema):
    """The number of events in an array, and how many of them were stored."""

    received: int
    successful: int
    failed: int


class ArrayReport(Schema):
    """The answer to an array of events."""

    summary: ArraySummary
    failed_events: list[FailedEvent] = Field(alias="failed_events")


class BatchSummary(ArraySummary):
    """The same of a batch, with how many of the others may succeed when they are sent again."""

    retriable: int
    non_retriable: int = Field(alias="non_retriable")


class BatchReport(Schema):
    """The answer to a batch of which some events were not stored (OpenLineage API 2.0.2)."""

    status: Literal["partial_success"]
    summary: BatchSummary
    failed_events: list[FailedEvent] = Field(alias="failed_events")


_KINDS = {dict: "an object", str: "a text", type(None): "null"}

BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"anyOf": [{"type": "object"}, {"type": "array"}]}}},
        "description": "An OpenLineage RunEvent, JobEvent or DatasetEvent, or an array of them.",
    }
}

ARRAYS: dict[int | str, dict[str, Any]] = {
    201: {"description": "All events are durable; without a body where one event was sent."},
    207: {"model": ArrayReport, "description": "Some events of the array could not be read; the others are durable."},
}


@router.post("/lineage", status_code=201, response_model=ArrayReport, openapi_extra=BODY, responses=ARRAYS)
async def ingest(request: Request, caller: Writer, server: TheServer) -> Response:
    """Store events; when the answer comes they are durable.

    One event is answered by 201 without a body. An array is answered by a report: 201 when all events were stored, 207
    when some cannot be read; the others are stored all the same.
    """
    try:
        value = await server.intake.in_reader(read_json, await request.body())
        if isinstance(value, list):
            failed = await _store_batch(value, caller, server)
            report = {"summary": _summary(value, failed), "failed_events": failed}
            return JSONResponse(report, 207 if failed else 201)
        event = await server.intake.in_reader(_event, value, caller)
    except (EventError, HTTPException):
        server.metrics.count_refused(1)
        raise
    await asyncio.wrap_future(server.intake.put([event]))
    return Response(status_code=201)


BATCH = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object"}}}},
        "description": "An array of OpenLineage RunEvents, JobEvents and DatasetEvents.",
    },
}


@router.post(
    "/lineage/batch",
    response_model=BatchReport,
    openapi_extra=BATCH,
    responses={204: {"description": "All events are durable."}},
)
async def ingest_batch(request: Request, caller: Writer, server: TheServer) -> Response:
    """Store a batch of events, as the OpenLineage API (2.0.2) has it; when the answer comes they are durable.

    204 when all were stored; 200 with a summary when some cannot be read; the others are stored all the same. Sending
    those again as they are is of no use: where the store cannot be written the answer is 503.
    """
    try:
        values = await server.intake.in_reader(read_json, await request.body())
        if not isinstance(values, list):
            raise EventError(f"The batch is {_KINDS.get(type(values), 'a value')}: expected an array of events.")
    except EventError:
        server.metrics.count_refused(1)
        raise
    failed = await _store_batch(values, caller, server)
    if not failed:
        return Response(status_code=204)
    summary = _summary(values, failed) | {"retriable": 0, "non_retriable": len(failed)}
    return JSONResponse({"status": "partial_success", "summary": summary, "failed_events": failed})


async def _store_batch(values: list[Any], caller: Caller, server: TheServer) -> list[dict[str, Any]]:
    """Store the events that can be read; return the others, with their places and reasons."""
    most = server.settings.events_limit
    if len(values) > most:
        raise HTTPException(
            413, f"The request has {len(values):,} events: expected at most {most:,}. Send them in parts."
        )
    events, failed = await server.intake.in_reader(_read, values, caller)
    server.metrics.count_refused(len(failed))
    if events:
        await asyncio.wrap_future(server.intake.put(events))
    return failed


def _summary(values: list[Any], failed: list[dict[str, Any]]) -> dict[str, int]:
    return {"received": len(values), "successful": len(values) - len(failed), "failed": len(failed)}


def _read(values: list[Any], caller: Caller) -> tuple[list[Event], list[dict[str, Any]]]:
    events: list[Event] = []
    failed: list[dict[str, Any]] = []
    for index, value in enumerate(values):
        try:
            event = _event(value, caller)
        except (EventError, HTTPException) as fault:
            reason = fault.detail if isinstance(fault, HTTPException) else str(fault)
            failed.append({"index": index, "reason": reason, "retriable": False})
        else:
            events.append(event)
    return events, failed


def _event(value: Any, caller: Caller) -> Event:
    require_shape(in_parts(value))
    event = event_of(with_grant(value, caller))
    require_own(caller, event)
    return packed(event)
