"""Short names: long enough to distinguish the datasets of one answer."""

import re
from collections.abc import Iterable

from headwater.model import endings_apart
from headwater.store.questions import Column, KnownDataset

_LONGEST = 120
_NEEDS_QUOTES = frozenset("./`")
_MARKUP = re.compile(r"[\\`*_|<>\[\]~&$]")


class Labels:
    """The short names of the datasets of one answer, and of their columns.

    A dataset goes by its name in a catalog where it has one, else by as much of the end of its path as is needed.
    Such a label may be typed in a question wherever it is unambiguous in the store too.
    """

    def __init__(self, datasets: Iterable[KnownDataset]) -> None:
        self._labels = endings_apart({dataset: _parts(dataset) for dataset in datasets})

    def dataset(self, dataset: KnownDataset) -> str:
        """Return the short name of a dataset of the answer."""
        return readable(self._labels.get(dataset, str(dataset)))

    def column(self, column: Column) -> str:
        """Return the short name of a column: that of its dataset, a dot, its own."""
        return f"{self.dataset(column.dataset)}.{field(column.name, column.path)}"


def field(name: str, path: Iterable[str] = ()) -> str:
    """Return the name of a column or of a field within it; what holds a separator is in backticks.

    >>> field("total"), field("a.b"), field("items.a/b", ["items", "a/b"])
    ('total', '`a.b`', 'items.`a/b`')
    """
    return readable(".".join(map(_quoted, path or (name,))))


def _quoted(part: str) -> str:
    return "`" + part.replace("`", "``") + "`" if _NEEDS_QUOTES & set(part) or not part else part


def readable(text: str) -> str:
    """Return a text on one line, shortened, without control characters for a terminal."""
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 :]}"
    return "".join(char if char.isprintable() else char.encode("unicode_escape", "replace").decode() for char in shown)


def _parts(dataset: KnownDataset) -> tuple[str, ...]:
    """The name in pieces that may be left out from the front."""
    named = next((alias for alias in dataset.aliases if "/" not in alias.name), dataset.dataset)
    return (named.namespace, *(part for part in named.name.split("/") if part))


def in_backticks(text: str) -> str:
    """Return a text for between two backticks of Markdown, on one line.

    >>> in_backticks("a`b")
    "a'b"
    """
    return _on_one_line(text).replace("`", "'")


def markdown_text(text: str) -> str:
    """Return a text of Markdown, also in a cell of a table, that is shown as it is.

    >>> print(markdown_text("a_b*|`c`"))
    a\\_b\\*\\|\\`c\\`
    """
    return _MARKUP.sub(r"\\\g<0>", _on_one_line(text))


def _on_one_line(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)
