"""Names as people type them: an ending of a full name, parts in backticks where need be, and names that are like it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise

from sqlalchemy import Connection, func, select

from headwater.model import Dataset
from headwater.model.names import folded
from headwater.store import schema

_PIECE = re.compile(r"`(?P<quoted>(?:[^`]|``)+)`|(?P<separator>[./])|(?P<plain>[^`./]+|`)")
_BOUNDARIES = "./:"

_MOST_PARTS = 100  # of a name that is looked up in parts; a longer one is none that somebody typed
_MOST_WITHIN = 5
"""The depth of fields within a column that can be named: each takes a look-up."""

WHOLE, ENDING, FOLDED_WHOLE, FOLDED_ENDING = range(4)
"""How well a name fits, best first; folded is without regard to case and kind of separator."""


@dataclass(frozen=True, slots=True)
class TypedName:
    """A typed name without its backticks; ``cuts`` are where a separator stands outside of them."""

    text: str
    cuts: tuple[int, ...]

    def splits(self) -> Iterator[tuple[str, str]]:
        """Every way to take it as a dataset and a field; the shortest field first."""
        return ((self.text[:cut], self.text[cut + 1 :]) for cut in reversed(self.cuts) if 0 < cut < len(self.text) - 1)

    def fields_within(self) -> Iterator[tuple["TypedName", list[str]]]:
        """The ways to take it as a column and a path of at most five fields within, the shortest path first.

        >>> [(column.text, path) for column, path in typed("orders.items.price").fields_within()]
        [('orders.items', ['price']), ('orders', ['items', 'price'])]
        """
        if len(self.cuts) > _MOST_PARTS:
            return
        for place in reversed(range(len(self.cuts))[-_MOST_WITHIN:]):
            cuts = (*self.cuts[place:], len(self.text))
            yield TypedName(self.text[: cuts[0]], self.cuts[:place]), [self.text[a + 1 : b] for a, b in pairwise(cuts)]


def typed(name: str) -> TypedName:
    """Reads a typed name.

    >>> list(typed("gold.`odd.table`.`a b`").splits())
    [('gold.odd.table', 'a b'), ('gold', 'odd.table.a b')]
    """
    text, cuts = "", []
    for piece in _PIECE.finditer(name.strip()):
        if piece["separator"]:
            cuts.append(len(text))
        text += piece[0] if piece["quoted"] is None else piece["quoted"].replace("``", "`")
    return TypedName(text, tuple(cuts))


def tail(ending: str) -> str:
    """An ending as it is compared with the ``folded`` column of the store."""
    return ending.casefold().replace("/", ".")


def fit(dataset: Dataset, ending: str) -> int | None:
    """How well a dataset's name ends so, None when it does not.

    >>> fit(Dataset("file", "/data/gold/delays"), "gold/delays") == ENDING
    True
    >>> fit(Dataset("file", "/data/gold/delays"), "Gold.delays") == FOLDED_ENDING
    True
    >>> fit(Dataset("file", "/data/gold/delays"), "lays")
    """
    if ending in (str(dataset), dataset.name):
        return WHOLE
    if _ends(str(dataset), ending):
        return ENDING
    if tail(ending) in (folded(dataset), tail(dataset.name)):
        return FOLDED_WHOLE
    return FOLDED_ENDING if _ends(folded(dataset), tail(ending)) else None


def _ends(full: str, ending: str) -> bool:
    if not ending or not full.endswith(ending):
        return False
    return len(full) == len(ending) or ending[0] in _BOUNDARIES or full[-len(ending) - 1] in _BOUNDARIES


_NAME = schema.dataset_name
_FIELD = schema.field
_COMPARED = 5_000  # names; comparing takes about 20 µs each
_LONGEST = 300  # characters; comparing grows with the square of the length
_SPLITS = 3  # places where a typed name is taken apart
_MOST = 5


def near_names(connection: Connection, name: TypedName) -> list[str]:
    """Endings of known names that look like a typed one, at most five."""
    if len(name.text) > _LONGEST:
        return []
    datasets = list(connection.execute(select(_NAME.c.name).order_by(_NAME.c.id.desc()).limit(_COMPARED)).scalars())
    near: list[str] = []
    for ending, field in list(name.splits())[:_SPLITS]:
        for dataset in like(ending, _endings(datasets, ending)):
            near += [f"{dataset}.{known}" for known in like(field, _fields_of(connection, dataset))]
    near += like(name.text, _endings(datasets, name.text))
    if not name.cuts:
        near += like(name.text, connection.execute(select(_FIELD.c.name).distinct().limit(_COMPARED)).scalars())
    return list(dict.fromkeys(near))[:_MOST]


def like(text: str, names: Iterable[str]) -> list[str]:
    """At most three of the known names that look like a text, the best first."""
    if len(text) > _LONGEST:
        return []
    by_folded = {tail(one): one for one in names if len(one) <= _LONGEST}
    return [by_folded[match] for match in get_close_matches(tail(text), by_folded, n=3, cutoff=0.7)]


def _endings(names: list[str], text: str) -> list[str]:
    """The endings of names with as many parts as the text has."""
    parts = tail(text).count(".") + 1
    return [_ending(name, parts) for name in names]


def _ending(name: str, parts: int) -> str:
    begin = len(name)
    for _ in range(parts):
        begin = max(name.rfind(".", 0, begin), name.rfind("/", 0, begin))
        if begin < 0:
            return name
    return name[begin + 1 :]


def _fields_of(connection: Connection, ending: str) -> list[str]:
    end = tail(ending)
    place = func.length(_NAME.c.folded) - len(end) + 1
    fields = select(_FIELD.c.name).join(_NAME, _NAME.c.dataset_id == _FIELD.c.dataset_id)
    fields = fields.where(place > 0, func.substr(_NAME.c.folded, place) == end)
    return list(connection.execute(fields.limit(_COMPARED)).scalars())
