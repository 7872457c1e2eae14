"""Counts over the last day by hour, or the last week by day (Marquez, StatsResource)."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, Query
from sqlalchemy import Connection
from starlette.exceptions import HTTPException

from headwater.model.time import microseconds_of
from headwater.server.auth.access import Caller
from headwater.server.marquez import graph_schemas
from headwater.server.marquez.answers import Json
from headwater.server.marquez.documents import Document, instant
from headwater.server.marquez.query_params import sight, zone_of
from headwater.server.routes import GuardedRoute
from headwater.server.server import Reader, TheStore
from headwater.store import Store
from headwater.store.catalog import statistics
from headwater.store.read_model.visibility import Sees

router = APIRouter(prefix="/api/v1/stats", tags=["statistics"], responses={400: {}}, route_class=GuardedRoute)


def _period(period: Annotated[str, Query()]) -> str:
    if period.upper() not in ("DAY", "WEEK"):
        raise HTTPException(400, f"Invalid period {period[:50]!r}: expected DAY or WEEK.")
    return period.upper()


Period = Annotated[str, Depends(_period)]


def _edges(period: Period, timezone: str | None = None) -> list[int]:
    """Return the beginnings of the hours or days, and the end of the last."""
    return hours(datetime.now(UTC)) if period == "DAY" else days(datetime.now(UTC), zone_of(timezone))


Edges = Annotated[list[int], Depends(_edges)]
"""``period``: DAY or WEEK; ``timezone``: where days of the week begin."""


@router.get("/lineage-events", response_model=list[graph_schemas.IntervalEvents])
def events(
    caller: Reader,
    store: TheStore,
    edges: Edges,
    period: Period,
    timezone: Annotated[str, Query()] = "",
) -> Json:
    """Count the events of each type."""
    if period == "WEEK" and not timezone:
        raise HTTPException(400, "Timezone must be specified for period 'WEEK'")
    with store.read() as connection:
        found = statistics.events(connection, edges, sight(caller))
    spans = zip(_spans(edges), found, strict=True)
    return Json(
        [
            span | {"fail": one.fail, "start": one.start, "complete": one.complete, "abort": one.abort}
            for span, one in spans
        ]
    )


@router.get("/jobs", response_model=list[graph_schemas.IntervalCount])
def jobs(caller: Reader, store: TheStore, edges: Edges) -> Json:
    """Count the jobs known at the end of each hour or day."""
    return _counts(store, caller, edges, statistics.jobs)


@router.get("/datasets", response_model=list[graph_schemas.IntervalCount])
def datasets(caller: Reader, store: TheStore, edges: Edges) -> Json:
    """Count the datasets known at the end of each hour or day."""
    return _counts(store, caller, edges, statistics.datasets)


@router.get("/sources", response_model=list[graph_schemas.IntervalCount])
def sources(caller: Reader, store: TheStore, edges: Edges) -> Json:
    """Count the sources known at the end of each hour or day."""
    return _counts(store, caller, edges, statistics.sources)


def hours(now: datetime) -> list[int]:
    """Return the edges of the last 24 hours, with the present one."""
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    return [microseconds_of(hour + timedelta(hours=one)) for one in range(-23, 2)]


def days(now: datetime, zone: ZoneInfo) -> list[int]:
    """Return the edges of the last seven days of a time zone, with the present one; some have 23 or 25 hours."""
    today = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    return [microseconds_of(today + timedelta(days=one)) for one in range(-6, 2)]


Counting = Callable[[Connection, Sequence[int], Sees], tuple[int, ...]]


def _counts(store: Store, caller: Caller, edges: list[int], count: Counting) -> Json:
    with store.read() as connection:
        found = count(connection, edges[1:], sight(caller))
    return Json([span | {"count": one} for span, one in zip(_spans(edges), found, strict=True)])


def _spans(edges: list[int]) -> list[Document]:
    return [{"startInterval": instant(start), "endInterval": instant(end)} for start, end in pairwise(edges)]
