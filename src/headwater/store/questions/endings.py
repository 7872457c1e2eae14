"""Names as people type them: an ending of a dataset's or column's full name, parts in backticks where need be."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from headwater.model import Dataset
from headwater.model.name_keys import folded

_PIECE = re.compile(r"`(?P<quoted>(?:[^`]|``)+)`|(?P<separator>[./])|(?P<plain>[^`./]+|`)")
_BOUNDARIES = "./:"

WHOLE, ENDING, FOLDED_WHOLE, FOLDED_ENDING = range(4)
"""How well a name fits, best first; folded is without regard to case and kind of separator."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A typed name without its backticks; ``cuts`` are where a separator stands outside of them."""

    text: str
    cuts: tuple[int, ...]

    def splits(self) -> Iterator[tuple[str, str]]:
        """Every way to take it as a dataset and a field; the shortest field first."""
        return ((self.text[:cut], self.text[cut + 1 :]) for cut in reversed(self.cuts) if 0 < cut < len(self.text) - 1)


def typed(name: str) -> Typed:
    """Reads a typed name.

    >>> list(typed("gold.`odd.table`.`a b`").splits())
    [('gold.odd.table', 'a b'), ('gold', 'odd.table.a b')]
    """
    text, cuts = "", []
    for piece in _PIECE.finditer(name.strip()):
        if piece["separator"]:
            cuts.append(len(text))
        text += piece[0] if piece["quoted"] is None else piece["quoted"].replace("``", "`")
    return Typed(text, tuple(cuts))


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
