"""Reading JSON that others wrote: the value of the kind that is expected, or nothing."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

Record = Mapping[str, Any]
_NOTHING: Record = {}
_UNFIT = re.compile("[\0\ud800-\udfff]")


def record(value: object, *path: str) -> Record:
    """The object at ``path``, empty when there is none.

    >>> record({"facets": {"sql": {"query": "SELECT 1"}}}, "facets", "sql")
    {'query': 'SELECT 1'}
    >>> record({"facets": None}, "facets", "sql")
    {}
    """
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else _NOTHING


def records(value: object, *path: str) -> list[Record]:
    """The objects of the list at ``path``; what is no object is left out."""
    found = record(value, *path[:-1]).get(path[-1]) if path else value
    if not isinstance(found, Sequence) or isinstance(found, str | bytes):
        return []
    return [item for item in found if isinstance(item, Mapping)]


def text(value: object, *path: str) -> str:
    """The string at ``path``, fit to be stored, or an empty one.

    PostgreSQL stores no NUL, neither database stores a lone surrogate; both become U+FFFD.

    >>> text({"a": {"b": "x"}}, "a", "b"), text({"a": 1}, "a")
    ('x', '')
    """
    found = record(value, *path[:-1]).get(path[-1]) if path else value
    if not isinstance(found, str):
        return ""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", found)
