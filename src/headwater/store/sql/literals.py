"""Many values as one text for PostgreSQL: its driver takes a microsecond and more for each that it is given."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

Rows = Sequence[tuple[Any, ...]]

_ESCAPED = re.compile(r'["\\]')
_SPECIAL = re.compile(r"[\\\n\r\t]")
_WRITTEN = str.maketrans({"\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def array_of(values: Sequence[Any]) -> str:
    r"""The text of an array of numbers, texts or bytes (PostgreSQL, "Arrays", section "Array Value Input").

    >>> array_of([1, 2]), array_of(["a", "b\\c"]), array_of([b"ab", None])
    ('{1, 2}', '{"a","b\\\\c"}', '{"\\\\x6162",NULL}')
    """
    kinds = set(map(type, values))
    if kinds == {int}:
        return f"{{{str(values)[1:-1].rstrip(',')}}}"
    if kinds == {bytes}:
        return '{"\\\\x%s"}' % '","\\\\x'.join(map(bytes.hex, values))  # noqa: UP031 - braces are the array's
    if kinds == {str} and not _ESCAPED.search("".join(values)):
        return '{"%s"}' % '","'.join(values)  # noqa: UP031
    return f"{{{','.join(map(_element, values))}}}"


def _element(value: Any) -> str:
    if isinstance(value, str):
        return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"')  # noqa: UP031 - the quickest way
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    return "NULL" if value is None else str(value)


def lines_of(rows: Rows) -> str:
    r"""Rows as COPY reads them (PostgreSQL, "COPY", section "Text Format").

    >>> lines_of([(1, b"ab", None, True, "a\\b")])
    '1\t\\\\x6162\t\\N\tTrue\ta\\\\b\n'
    """
    cells, columns = zip(*map(_column, zip(*rows, strict=True)), strict=True)
    line = "\t".join(cells) + "\n"
    return line * len(rows) % tuple(chain.from_iterable(zip(*columns, strict=True)))


def _column(values: Sequence[Any]) -> tuple[str, Iterable[Any]]:
    """How the values stand in a line, and what of each does."""
    kinds = set(map(type, values))
    if kinds == {bytes}:
        return r"\\x%s", map(bytes.hex, values)
    if kinds == {int} or (kinds == {str} and not _SPECIAL.search("".join(values))):
        return "%s", values
    return "%s", map(_copied, values)


def _copied(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, str):
        return value.translate(_WRITTEN)
    return f"\\\\x{value.hex()}" if isinstance(value, bytes) else str(value)
