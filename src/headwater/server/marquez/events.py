"""Run events as they were sent (Marquez, OpenLineageResource.getLineageEvents)."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from headwater.openlineage.identifiers import GRANT
from headwater.server.auth.access import Caller
from headwater.server.marquez import graph_schemas
from headwater.server.marquez.answers import Json, NamedRoute
from headwater.server.marquez.query_params import ThePage, moment_of, redaction_of, sight
from headwater.server.server import Reader, TheStore
from headwater.store import Store
from headwater.store.catalog import events
from headwater.store.catalog.events import EventFilter
from headwater.store.read_model.pages import Page

router = APIRouter(prefix="/api/v1/events", tags=["events"], responses={400: {}}, route_class=NamedRoute)


@router.get("/lineage", response_model=graph_schemas.LineageEvents)
def listing(  # noqa: PLR0913, PLR0917 - each is a parameter of the query
    caller: Reader,
    store: TheStore,
    page: ThePage,
    before: str | None = None,
    after: str | None = None,
    sort_direction: Annotated[Literal["asc", "desc", "ASC", "DESC"], Query(alias="sortDirection")] = "desc",
) -> Json:
    """List run events by time, the newest first; from ``after`` on and before ``before``, both in ISO 8601."""
    during = EventFilter(
        moment_of(after, "after"),
        moment_of(before, "before"),
        None,
        sight(caller),
        sort_direction.lower() == "desc",
    )
    return _listing(store, caller, during, page)


@router.get("", response_model=graph_schemas.LineageEvents)
def every(caller: Reader, store: TheStore, page: ThePage) -> Json:
    """List run events at the path of marquez-python (``list_events``)."""
    return _listing(store, caller, EventFilter(sees=sight(caller)), page)


@router.get("/{namespace}", response_model=graph_schemas.LineageEvents)
def of_namespace(namespace: str, caller: Reader, store: TheStore, page: ThePage) -> Json:
    """List the events of the jobs of a namespace."""
    return _listing(store, caller, EventFilter(namespace=namespace, sees=sight(caller)), page)


def _without_grant(event: dict[str, Any], caller: Caller) -> dict[str, Any]:
    """Return an event without the namespaces of the key that sent it, unless the caller may see all."""
    return event if caller.sees_all else {name: value for name, value in event.items() if name != GRANT}


def _listing(store: Store, caller: Caller, during: EventFilter, page: Page) -> Json:
    redaction = redaction_of(caller)
    with store.read() as connection:
        found = events.listing(connection, during, page)
    return Json(
        {"events": [redaction.json(_without_grant(one, caller)) for one in found.items], "totalCount": found.total}
    )
