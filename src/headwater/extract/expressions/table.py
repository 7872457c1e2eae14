"""The form of an expression visitor, and how tables of them are put together."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from headwater.extract.scope import Scope
from headwater.extract.trace import Trace
from headwater.plan import Expression

Visitor: TypeAlias = Callable[[Expression, tuple[Trace, ...], Scope], Trace]
"""From an expression, the traces of its children and its scope to its own trace."""

Visitors: TypeAlias = Mapping[str, Visitor]


def merged(*tables: Visitors) -> Visitors:
    """One table of all of them.

    Raises:
        ValueError: two tables claim the same class.
    """
    result: dict[str, Visitor] = {}
    for table in tables:
        twice = result.keys() & table.keys()
        if twice:
            raise ValueError(f"Two visitors claim {sorted(twice)}: leave it to one of them.")
        result.update(table)
    return result
