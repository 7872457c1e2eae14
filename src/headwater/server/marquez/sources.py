"""Sources of datasets (Marquez, SourceResource)."""

from fastapi import APIRouter

from headwater.model.time import now
from headwater.server.auth.access import require_every_namespace
from headwater.server.marquez import schemas
from headwater.server.marquez.answers import Json, NamedRoute, missing
from headwater.server.marquez.bodies import SourceBody
from headwater.server.marquez.documents import Document, instant
from headwater.server.marquez.query_params import ThePage, sight
from headwater.server.server import Reader, TheStore, Writer
from headwater.store.catalog import sources
from headwater.store.catalog.sources import Source

router = APIRouter(prefix="/api/v1/sources", tags=["sources"], responses={404: {}}, route_class=NamedRoute)


@router.get("", response_model=schemas.SourceList)
def listing(caller: Reader, store: TheStore, page: ThePage) -> Json:
    """List the sources by name."""
    with store.read() as connection:
        found = sources.listing(connection, page, sight(caller))
    return Json({"sources": [_document(one) for one in found.items]})


@router.get("/{source}", response_model=schemas.Source)
def one(source: str, caller: Reader, store: TheStore) -> Json:
    """Return a source."""
    with store.read() as connection:
        found = sources.find(connection, source, sight(caller))
    return Json(_document(found if found is not None else missing("Source", source)))


@router.put("/{source}", response_model=schemas.Source)
def describe(source: str, body: SourceBody, caller: Writer, store: TheStore) -> Json:
    """Describe a source, and create it when there is none."""
    require_every_namespace(caller, "source")
    at = now()
    with store.write() as connection:
        source_ = Source(source, body.type.upper(), body.connection_url, body.description or "", at, at)
        sources.describe(connection, source_)
        found = sources.find(connection, source, sight(caller))
    return Json(_document(found or source_))


def _document(stored: Source) -> Document:
    return {
        "type": stored.type,
        "name": stored.name,
        "createdAt": instant(stored.created_at),
        "updatedAt": instant(stored.updated_at),
        "connectionUrl": stored.url,
        "description": stored.description or None,
    }
