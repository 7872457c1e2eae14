"""Search for datasets and jobs by their names and texts (Marquez, SearchResource).

That of Marquez's pages (v2beta/SearchResource) has jobs or datasets with their facets. Marquez asks OpenSearch there,
which looks into facets too; here names, SQL, descriptions and tags are searched.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query

from headwater.answers.redaction import Redaction
from headwater.model import Dataset, Job
from headwater.model.time import microseconds_of
from headwater.openlineage.reading.json_values import text
from headwater.server.marquez import documents, graph_schemas, nodes
from headwater.server.marquez.answers import Json, NamedRoute
from headwater.server.marquez.documents import Document, instant
from headwater.server.marquez.query_params import MOST, redaction_of, sight
from headwater.server.routes import GuardedRoute
from headwater.server.server import Reader, TheStore
from headwater.store.catalog import datasets, jobs, name_ids, name_search, runs
from headwater.store.catalog.datasets import StoredDataset
from headwater.store.catalog.jobs import StoredJob
from headwater.store.catalog.name_search import Hit, SearchQuery
from headwater.store.catalog.runs import STATES, StoredRun
from headwater.store.read_model.pages import among

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


beta_router = APIRouter(prefix="/api/v2beta/search", tags=["search"], route_class=GuardedRoute)

AT_ONCE = 10
"""The number of hits that OpenSearch gives by default."""

Text = Annotated[str, Query(min_length=1)]

_EVENT = {state: event for event, state in reversed(STATES.items())}


@beta_router.get("/jobs", response_model=graph_schemas.JobHits)
def of_jobs(q: Text, caller: Reader, store: TheStore) -> Json:
    """Search jobs: names that contain ``q``, then texts with its words; with the facets of their newest runs.

    Of both kinds the last updated is first.
    """
    query = SearchQuery(text(q), name_search.JOB, by_time=True, sees=sight(caller))
    with store.read() as connection:
        named = [Job(one.namespace, one.name) for one in name_search.search(connection, query, AT_ONCE)]
        ids = name_ids.job_ids(connection, named)
        found = among((ids[one] for one in named if one in ids), jobs.whole(connection, list(ids.values())))
    return _answer(q, [_job(one, redaction_of(caller)) for one in found])


@beta_router.get("/datasets", response_model=graph_schemas.DatasetHits)
def of_datasets(q: Text, caller: Reader, store: TheStore) -> Json:
    """Search datasets: names that contain ``q``, then texts with its words; of both the last updated first."""
    query = SearchQuery(text(q), name_search.DATASET, by_time=True, sees=sight(caller))
    with store.read() as connection:
        named = [Dataset(one.namespace, one.name) for one in name_search.search(connection, query, AT_ONCE)]
        ids = name_ids.dataset_ids(connection, named)
        found = list(among((ids[one] for one in named if one in ids), datasets.whole(connection, list(ids.values()))))
        wrote = runs.outlines(connection, [one.version.run_id for one in found if one.version and one.version.run])
    return _answer(q, [_dataset(one, wrote, redaction_of(caller)) for one in found])


def _answer(query: str, hits: list[Document]) -> Json:
    return Json({"hits": hits, "highlights": [_highlight(str(one["name"]), query) for one in hits]})


def _highlight(name: str, query: str) -> dict[str, list[str]]:
    marked = re.sub(re.escape(query), lambda match: f"<em>{match[0]}</em>", name, flags=re.IGNORECASE)
    return {"name": [marked]} if marked != name else {}


def _job(stored: StoredJob, redaction: Redaction) -> Document:
    run = stored.runs[0] if stored.runs else None
    return {
        "run_id": None if run is None else run.uuid,
        "eventType": None if run is None else _EVENT.get(run.state, "OTHER"),
        "name": stored.named.name,
        "type": documents.job_type(stored),
        "namespace": stored.named.namespace,
        "facets": redaction.json(stored.facets),
        "runFacets": {} if run is None else redaction.json(run.events.facets),
    }


def _dataset(stored: StoredDataset, wrote: Mapping[int, StoredRun], redaction: Redaction) -> Document:
    run = None if stored.version is None else wrote.get(stored.version.run_id)
    return {
        "run_id": None if run is None else redaction.run(run.job, run.uuid),
        "eventType": "COMPLETE",
        "name": stored.dataset.name,
        "inputFacets": {},
        "outputFacets": {},
        "namespace": stored.dataset.namespace,
        "facets": redaction.json(stored.facets),
    }
