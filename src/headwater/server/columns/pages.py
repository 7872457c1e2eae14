"""Answers in pages: a cursor says how far one has read."""

import base64
import binascii
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson

from headwater.errors import QuestionError

Item = TypeVar("Item")


def cursor_of(place: Sequence[Any] | None) -> str | None:
    """Return a place in an answer as an opaque text; None for none."""
    return None if place is None else base64.urlsafe_b64encode(orjson.dumps(place)).decode().rstrip("=")


def place_of(cursor: str | None, kinds: tuple[type, ...]) -> Any:
    """Return the place of a cursor as a tuple, whose parts have these types; None without a cursor.

    Raises:
        QuestionError: the text is not a cursor of such an answer.
    """
    if cursor is None:
        return None
    try:
        place = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError):
        place = None
    if not isinstance(place, list) or [type(part) for part in place] != list(kinds):
        raise QuestionError(f"The cursor is {cursor[:100]!r}: expected `next` of the page before.")
    return tuple(place)


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items of an answer, and the cursor of the next page."""

    items: Sequence[Item]
    next: str | None


def page_after(
    items: Sequence[Item],
    key: Callable[[Item], tuple[Any, ...]],
    limit: int | None,
    cursor: str | None,
    kinds: tuple[type, ...],
) -> Page[Item]:
    """Return the items after the last one read, by keys in order: an item that comes or goes meanwhile shifts no other.

    Args:
        items: all of them, in the order of their keys.
        key: the place of an item, whose parts are of these ``kinds``.
        limit: the largest number of items.
        cursor: `Page.next` of the page before.
        kinds: the types of the parts of a key.

    Raises:
        QuestionError: the text is not a cursor.
    """
    begin = bisect_right(items, place_of(cursor, kinds), key=key) if cursor is not None else 0
    end = len(items) if limit is None else min(begin + limit, len(items))
    return Page(items[begin:end], cursor_of(key(items[end - 1])) if begin < end < len(items) else None)


class Window:
    """A page of a graph's nodes. An edge is on the page of its later end, so that it never names an unread node.

    Args:
        nodes: the nodes in the order of their keys.
        key: the key of a node.
        limit: the largest number of nodes.
        cursor: `next` of the page before.
        kinds: the types of the parts of a key.

    Raises:
        QuestionError: the text is not a cursor.
    """

    def __init__(
        self,
        nodes: Sequence[int],
        key: Callable[[int], tuple[Any, ...]],
        limit: int | None,
        cursor: str | None,
        kinds: tuple[type, ...],
    ) -> None:
        page = page_after(nodes, key, limit, cursor, kinds)
        self.nodes = page.items
        self.next = page.next
        self._whole = len(self.nodes) == len(nodes)
        self._places = {} if self._whole else {node: place for place, node in enumerate(nodes)}
        self._begin = self._places.get(self.nodes[0], 0) if self.nodes else len(nodes)

    def join(self, owners: Mapping[int, int]) -> None:
        """Place the node of a whole dataset, its id with a minus sign, where its first column is."""
        for node, place in list(self._places.items()):
            dataset = -owners[node]
            self._places[dataset] = min(place, self._places.get(dataset, place))

    def edges(self, edges: Iterable[Item], ends: Iterable[tuple[int, int]]) -> list[Item]:
        """Return the edges on the page; ``ends`` holds the two nodes of each."""
        if self._whole:
            return list(edges)
        last = self._begin + len(self.nodes)
        return [
            edge
            for edge, (one, other) in zip(edges, ends, strict=True)
            if self._begin <= max(self._places.get(one, 0), self._places.get(other, 0)) < last
        ]
