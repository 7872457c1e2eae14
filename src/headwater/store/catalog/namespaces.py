"""Namespaces: those that people described, and those that datasets and jobs are in."""

from dataclasses import dataclass

from sqlalchemy import Connection, Select, and_, func, insert, select, union_all, update

from headwater.model.names import key_of
from headwater.store import schema
from headwater.store.read_model.pages import Listing, Page, paged, seen
from headwater.store.read_model.visibility import Sees, described_datasets

_NAMESPACE = schema.namespace
_JOB = schema.job
_DATASET = schema.dataset

NOBODY = "anonymous"
"""Who owns a namespace that nobody described (Marquez, OwnerName.ANONYMOUS)."""


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace; ``hidden`` when it was deleted, and no event has named it since."""

    name: str
    owner: str
    description: str
    created_at: int
    updated_at: int
    hidden: bool = False


def listing(connection: Connection, page: Page, sees: Sees = None) -> Listing[Namespace]:
    """The namespaces by name, also hidden ones, as Marquez does."""
    question = _every(connection)
    every = question.subquery()
    shown = select(every).where(seen(connection, every.c.name, sees)).order_by(every.c.name)
    found = paged(connection, shown, page)
    return Listing(tuple(_namespace(row) for row in found.items), found.total)


def find(connection: Connection, name: str) -> Namespace | None:
    """A namespace by its name."""
    row = connection.execute(_every(connection, name)).first()
    return None if row is None else _namespace(row)


def describe(connection: Connection, name: str, owner: str, description: str, at: int) -> None:
    """Says who owns a namespace and what it is; it is shown again when it was hidden."""
    described = {"owner": owner, "description": description, "updated_at": at, "hidden_at": None}
    mine = update(_NAMESPACE).where(_NAMESPACE.c.key == key_of(name))
    if not connection.execute(mine.values(**described)).rowcount:
        connection.execute(insert(_NAMESPACE), {"key": key_of(name), "name": name, "created_at": at, **described})


def hide(connection: Connection, namespace: Namespace, at: int) -> None:
    """Hides a namespace with its datasets and jobs until events name them again."""
    describe(connection, namespace.name, namespace.owner, namespace.description, at)
    connection.execute(update(_NAMESPACE).where(_NAMESPACE.c.key == key_of(namespace.name)).values(hidden_at=at))
    for table in (_DATASET, _JOB):
        connection.execute(update(table).where(table.c.namespace == namespace.name).values(hidden_at=at))


def _every(connection: Connection, name: str | None = None) -> Select[tuple[object, ...]]:
    """Names with their descriptions, and when events first and last named something in them."""
    described = select(_NAMESPACE.c.name, _NAMESPACE.c.created_at, _NAMESPACE.c.updated_at)
    parts = [described, *(select(table.c.namespace, table.c.first_at, table.c.last_at) for table in (_DATASET, _JOB))]
    wanted = [part.where(part.selected_columns[0] != "") for part in parts]
    wanted[1] = wanted[1].where(described_datasets(connection, _DATASET.c.id))
    if name is not None:
        wanted = [part.where(part.selected_columns[0] == name) for part in wanted]
    every = union_all(*wanted).subquery("every")
    spans = select(
        every.c.name, func.min(every.c.created_at).label("first"), func.max(every.c.updated_at).label("last")
    )
    span = spans.group_by(every.c.name).subquery("span")
    columns = (_NAMESPACE.c.owner, _NAMESPACE.c.description, _NAMESPACE.c.hidden_at)
    return select(span.c.name, span.c.first, span.c.last, *columns).outerjoin(
        _NAMESPACE, and_(_NAMESPACE.c.name == span.c.name)
    )


def _namespace(row: object) -> Namespace:
    _name, first, last, owner, description, hidden = tuple(row)  # type: ignore[arg-type, var-annotated]
    gone = hidden is not None and (last or 0) <= hidden
    return Namespace(_name, owner or NOBODY, description or "", first or 0, last or 0, gone)
