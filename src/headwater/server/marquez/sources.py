"""Sources of datasets (Marquez, SourceResource)."""

from fastapi import APIRouter

from headwater.server.marquez import schemas
from headwater.server.marquez.answers import Json, missing
from headwater.server.marquez.asked import ThePage, now, sight
from headwater.server.marquez.bodies import SourceBody
from headwater.server.marquez.documents import Document, instant
from headwater.server.marquez.paths import NamedRoute
from headwater.server.server import Reader, TheStore, Writer
from headwater.server.writing import require_everything
from headwater.store.catalog import sources
from headwater.store.catalog.sources import Source

router = APIRouter(prefix="/api/v1/sources", tags=["sources"], responses={404: {}}, route_class=NamedRoute)


@router.get("", response_model=schemas.SourceList)
def listing(caller: Reader, store: TheStore, page: ThePage) -> Json:
    """The sources by name."""
    with store.read() as connection:
        found = sources.listing(connection, page, sight(caller))
    return Json({"sources": [_document(one) for one in found.items]})


@router.get("/{source}", response_model=schemas.Source)
def one(source: str, caller: Reader, store: TheStore) -> Json:
    """A source."""
    with store.read() as connection:
        found = sources.find(connection, source, sight(caller))
    return Json(_document(found if found is not None else missing("Source", source)))


@router.put("/{source}", response_model=schemas.Source)
def describe(source: str, body: SourceBody, caller: Writer, store: TheStore) -> Json:
    """Says what a source is, and makes it when there is none."""
    require_everything(caller, "source")
    at = now()
    with store.write() as connection:
        said = Source(source, body.type.upper(), body.connection_url, body.description or "", at, at)
        sources.describe(connection, said)
        found = sources.find(connection, source, sight(caller))
    return Json(_document(found or said))


def _document(kept: Source) -> Document:
    return {
        "type": kept.type,
        "name": kept.name,
        "createdAt": instant(kept.created_at),
        "updatedAt": instant(kept.updated_at),
        "connectionUrl": kept.url,
        "description": kept.description or None,
    }
