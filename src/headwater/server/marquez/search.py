"""Search for datasets and jobs by their names and texts (Marquez, SearchResource)."""

from datetime import date, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query

from headwater.model import Dataset, Job
from headwater.model.time import microseconds_of
from headwater.openlineage.reading.json_values import text
from headwater.server.marquez import graph_schemas, nodes
from headwater.server.marquez.answers import Json, NamedRoute
from headwater.server.marquez.documents import Document, instant
from headwater.server.marquez.query_params import MOST, sight
from headwater.server.server import Reader, TheStore
from headwater.store.catalog import name_search
from headwater.store.catalog.name_search import Hit, SearchQuery

router = APIRouter(prefix="/api/v1/search", tags=["search"], route_class=NamedRoute)

Kind = Literal["DATASET", "JOB", "dataset", "job"]
Sort = Literal["NAME", "UPDATE_AT", "UPDATED_AT", "name", "update_at", "updated_at"]


def _search_query(  # noqa: PLR0913, PLR0917 - each is a parameter of the query
    caller: Reader,
    q: Annotated[str, Query(min_length=1)],
    kind: Annotated[Kind | None, Query(alias="filter")] = None,
    sort: Sort = "name",
    namespace: str | None = None,
    before: date | None = None,
    after: date | None = None,
) -> SearchQuery:
    return SearchQuery(
        text(q),
        (kind or "").upper(),
        None if namespace is None else text(namespace),
        None if before is None else _midnight(before),
        None if after is None else _midnight(after),
        sort.lower() != "name",
        sight(caller),
    )


@router.get("", response_model=graph_schemas.SearchResults)
def search(
    store: TheStore,
    query: Annotated[SearchQuery, Depends(_search_query)],
    limit: Annotated[int, Query(ge=0, le=MOST)] = 10,
) -> Json:
    """Search datasets and jobs whose names contain ``q``, where ``%`` stands for any text; ``totalCount`` counts them.

    After them come those with its words in their SQL, descriptions or tags.
    """
    with store.read() as connection:
        found = name_search.search(connection, query, limit)
    return Json({"totalCount": len(found), "results": [_document(one) for one in found]})


def _document(hit: Hit) -> Document:
    of_dataset = hit.kind == name_search.DATASET
    node = (
        nodes.of_dataset(Dataset(hit.namespace, hit.name)) if of_dataset else nodes.of_job(Job(hit.namespace, hit.name))
    )
    return {
        "type": hit.kind,
        "name": hit.name,
        "updatedAt": instant(hit.updated_at),
        "namespace": hit.namespace,
        "nodeId": node,
    }


def _midnight(day: date) -> int:
    return microseconds_of(datetime(day.year, day.month, day.day))
