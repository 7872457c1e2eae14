"""Namespaces (Marquez, NamespaceResource)."""

from fastapi import APIRouter
from sqlalchemy import Connection

from headwater.model.time import now
from headwater.server.auth.access import Caller, require_namespace
from headwater.server.marquez import schemas
from headwater.server.marquez.answers import Json, NamedRoute, missing
from headwater.server.marquez.bodies import NamespaceBody
from headwater.server.marquez.documents import Document, instant
from headwater.server.marquez.query_params import ThePage, sight
from headwater.server.server import Admin, Reader, TheStore, Writer
from headwater.store.catalog import namespaces
from headwater.store.catalog.namespaces import Namespace

router = APIRouter(prefix="/api/v1/namespaces", tags=["namespaces"], responses={404: {}}, route_class=NamedRoute)


@router.get("", response_model=schemas.NamespaceList)
def listing(caller: Reader, store: TheStore, page: ThePage) -> Json:
    """List the namespaces by name."""
    with store.read() as connection:
        found = namespaces.listing(connection, page, sight(caller))
    return Json({"namespaces": [_document(one) for one in found.items]})


@router.get("/{namespace}", response_model=schemas.Namespace)
def one(namespace: str, caller: Reader, store: TheStore) -> Json:
    """Return a namespace."""
    with store.read() as connection:
        return Json(_document(known_namespace(connection, caller, namespace)))


@router.put("/{namespace}", response_model=schemas.Namespace)
def describe(namespace: str, body: NamespaceBody, caller: Writer, store: TheStore) -> Json:
    """Describe a namespace, and create it when there is none."""
    require_namespace(caller, namespace)
    with store.write() as connection:
        namespaces.describe(connection, namespace, body.owner_name, body.description or "", now())
        return Json(_document(known_namespace(connection, caller, namespace)))


@router.delete("/{namespace}", response_model=schemas.Namespace)
def hide(namespace: str, caller: Admin, store: TheStore) -> Json:
    """Hide a namespace with its datasets and jobs until events describe them again."""
    with store.write() as connection:
        found = known_namespace(connection, caller, namespace)
        namespaces.hide(connection, found, now())
    return Json(_document(found))


def known_namespace(connection: Connection, caller: Caller, name: str) -> Namespace:
    """Return the namespace with a name.

    Raises:
        HTTPException: 404, when none has it, or the caller may not see it.
    """
    found = namespaces.find(connection, name) if caller.sees(name) else None
    return found if found is not None else missing("Namespace", name)


def _document(stored: Namespace) -> Document:
    return {
        "name": stored.name,
        "createdAt": instant(stored.created_at),
        "updatedAt": instant(stored.updated_at),
        "ownerName": stored.owner,
        "description": stored.description or None,
        "isHidden": stored.hidden,
    }
