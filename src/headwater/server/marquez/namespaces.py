"""Namespaces (Marquez, NamespaceResource)."""

from fastapi import APIRouter
from sqlalchemy import Connection

from headwater.server.access import Caller
from headwater.server.marquez import schemas
from headwater.server.marquez.answers import Json, missing
from headwater.server.marquez.asked import ThePage, now, sight
from headwater.server.marquez.bodies import NamespaceBody
from headwater.server.marquez.documents import Document, instant
from headwater.server.marquez.paths import NamedRoute
from headwater.server.server import Admin, Reader, TheStore, Writer
from headwater.server.writing import require_namespace
from headwater.store.catalog import namespaces
from headwater.store.catalog.namespaces import Namespace

router = APIRouter(prefix="/api/v1/namespaces", tags=["namespaces"], responses={404: {}}, route_class=NamedRoute)


@router.get("", response_model=schemas.NamespaceList)
def listing(caller: Reader, store: TheStore, page: ThePage) -> Json:
    """The namespaces by name."""
    with store.read() as connection:
        found = namespaces.listing(connection, page, sight(caller))
    return Json({"namespaces": [_document(one) for one in found.items]})


@router.get("/{namespace}", response_model=schemas.Namespace)
def one(namespace: str, caller: Reader, store: TheStore) -> Json:
    """A namespace."""
    with store.read() as connection:
        return Json(_document(known_namespace(connection, caller, namespace)))


@router.put("/{namespace}", response_model=schemas.Namespace)
def describe(namespace: str, body: NamespaceBody, caller: Writer, store: TheStore) -> Json:
    """Says whose a namespace is, and makes it when there is none."""
    require_namespace(caller, namespace)
    with store.write() as connection:
        namespaces.describe(connection, namespace, body.owner_name, body.description or "", now())
        return Json(_document(known_namespace(connection, caller, namespace)))


@router.delete("/{namespace}", response_model=schemas.Namespace)
def hide(namespace: str, caller: Admin, store: TheStore) -> Json:
    """Hides a namespace and all that is in it until it is told of again."""
    with store.write() as connection:
        found = known_namespace(connection, caller, namespace)
        namespaces.hide(connection, found, now())
    return Json(_document(found))


def known_namespace(connection: Connection, caller: Caller, name: str) -> Namespace:
    """The namespace with a name.

    Raises:
        HTTPException: 404, when there is none, or the caller may not see it.
    """
    found = namespaces.find(connection, name) if caller.sees(name) else None
    return found if found is not None else missing("Namespace", name)


def _document(kept: Namespace) -> Document:
    return {
        "name": kept.name,
        "createdAt": instant(kept.created_at),
        "updatedAt": instant(kept.updated_at),
        "ownerName": kept.owner,
        "description": kept.description or None,
        "isHidden": kept.hidden,
    }
