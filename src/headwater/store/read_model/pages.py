"""Parts of long lists, and whose namespaces may be in them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, func, select, true

from headwater.store.read_model.visibility import Sees

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page:
    """So many rows after so many others."""

    limit: int = 100
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Listing(Generic[Item]):
    """The rows of a page, and how many there are on all pages."""

    items: tuple[Item, ...]
    total: int


def seen(connection: Connection, namespace: ColumnElement[str], sees: Sees) -> ColumnElement[bool]:
    """The condition that a column holds a namespace that somebody may see."""
    if sees is None:
        return true()
    known = connection.execute(select(namespace).distinct()).scalars()
    return namespace.in_([one for one in known if sees(one)])


def paged(
    connection: Connection, question: Select[Any], page: Page, counted: Select[Any] | None = None
) -> Listing[Any]:
    """The rows of a question that are on a page, and how many there are without pages.

    ``counted`` has as many rows as the question, and takes less to count.
    """
    every = (question if counted is None else counted).order_by(None).subquery()
    total = connection.execute(select(func.count()).select_from(every)).scalar_one()
    rows = connection.execute(question.limit(page.limit).offset(page.offset)).all()
    return Listing(tuple(rows), int(total))


def among(ids: Iterable[int], items: dict[int, Item]) -> tuple[Item, ...]:
    """Return the values of ids, in the order of the ids."""
    return tuple(items[one] for one in ids if one in items)
