"""Rows by their ids or keys, however many."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    LargeBinary,
    Select,
    Text,
    cast,
    column,
    func,
    literal,
    select,
)
from sqlalchemy.types import TypeEngine

from headwater.store.sql.literals import array_of

Key = TypeVar("Key", int, str, bytes)
AT_ONCE = 20_000
"""Ids or rows in one statement."""

_KEYS_AT_ONCE = 5_000  # well under SQLite's limit for parameters, 32,766
_SIDES = ("one", "other")
_TYPES: dict[type, Any] = {int: BigInteger(), str: Text(), bytes: LargeBinary()}


def rows_for(connection: Connection, ids: Collection[Key], question: Callable[[Any], Select[Any]]) -> Iterator[Any]:
    """The rows of a question about ids, asked for so many ids at once as the database takes.

    ``question`` gets what a column can be ``in_``: one parameter that holds all of them where there is such a thing,
    because a parameter for each costs more than the answer.
    """
    ordered = list(ids)
    kind = type(ordered[0]) if ordered else int
    as_list = kind is bytes and connection.dialect.name == "sqlite"
    size = _KEYS_AT_ONCE if as_list else AT_ONCE
    for begin in range(0, len(ordered), size):
        some = ordered[begin : begin + size]
        yield from connection.execute(question(some if as_list else _listed(connection, kind, some))).all()


def pairs_for(
    connection: Connection, pairs: Collection[tuple[int, int]], question: Callable[[FromClause], Select[Any]]
) -> Iterator[Any]:
    """The rows of a question about pairs of numbers, given to it as a table of two columns; otherwise as `rows_for`."""
    ordered = list(pairs)
    for begin in range(0, len(ordered), AT_ONCE):
        yield from connection.execute(question(_paired(connection, ordered[begin : begin + AT_ONCE]))).all()


def _paired(connection: Connection, some: list[tuple[int, int]]) -> FromClause:
    if connection.dialect.name == "sqlite":
        pair = func.json_each(json.dumps(some)).table_valued("value").c.value
        sides = (func.json_extract(pair, f"$[{place}]", type_=BigInteger()) for place in (0, 1))
        return select(*(side.label(name) for side, name in zip(sides, _SIDES, strict=True))).subquery("pair")
    listed = (_array(BigInteger(), side) for side in zip(*some, strict=True))
    columns = (column(name, BigInteger) for name in _SIDES)
    return func.unnest(*listed).table_valued(*columns, name="pair").render_derived()


def _listed(connection: Connection, kind: type, some: list[Any]) -> Select[Any]:
    if connection.dialect.name == "sqlite":
        return select(func.json_each(json.dumps(some)).table_valued("value").c.value)
    return select(func.unnest(_array(_TYPES[kind], some)))


def _array(kind: TypeEngine[Any], values: Sequence[Any]) -> ColumnElement[Any]:
    return cast(literal(array_of(values), Text()), ARRAY(kind))
