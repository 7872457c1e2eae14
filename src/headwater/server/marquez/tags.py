"""Tags and their descriptions (Marquez, TagResource)."""

from fastapi import APIRouter

from headwater.server.auth.access import require_every_namespace
from headwater.server.marquez import schemas
from headwater.server.marquez.answers import Json, NamedRoute
from headwater.server.marquez.bodies import TagBody
from headwater.server.marquez.documents import Document
from headwater.server.marquez.query_params import ThePage, sight
from headwater.server.server import Reader, TheStore, Writer
from headwater.store.catalog import tags
from headwater.store.catalog.tags import Tag

router = APIRouter(prefix="/api/v1/tags", tags=["tags"], route_class=NamedRoute)


@router.get("", response_model=schemas.TagList)
def listing(caller: Reader, store: TheStore, page: ThePage) -> Json:
    """List the tags by name."""
    with store.read() as connection:
        found = tags.listing(connection, page, sight(caller))
    return Json({"tags": [_document(one) for one in found.items]})


@router.put("/{tag}", response_model=schemas.Tag)
def describe(tag: str, body: TagBody, caller: Writer, store: TheStore) -> Json:
    """Describe a tag, and create it when there is none."""
    require_every_namespace(caller, "tag")
    with store.write() as connection:
        return Json(_document(tags.describe(connection, Tag(tag, body.description or ""))))


def _document(stored: Tag) -> Document:
    return {"name": stored.name, "description": stored.description or None}
