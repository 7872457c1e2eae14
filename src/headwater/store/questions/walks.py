"""A walk from a name, in ids: what every answer about a graph begins with."""

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import Connection

from headwater.model import Transformation
from headwater.store.questions import names
from headwater.store.questions.answers import Bounds, Column, Direction, EdgeType, KnownDataset
from headwater.store.questions.closure import Closure, joined, walk
from headwater.store.questions.exact import Name
from headwater.store.questions.find import find
from headwater.store.questions.indirect import only_indirect

Walk = Callable[[Connection, Collection[int], Direction, Bounds, Collection[int]], Closure]
"""How to walk: `walk`, or `reach` where the columns are enough."""


class Walked(NamedTuple):
    """Where a walk began, what it reached, and the transformations on its links."""

    start: Column | KnownDataset
    closure: Closure
    ways: dict[int, Transformation]


def walked(connection: Connection, name: Name, direction: Direction, bounds: Bounds) -> Walked:
    """Walks from a column, or from every column of a dataset.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    start = find(connection, name, bounds.as_of, bounds.sees)
    closure = closure_at(connection, start, direction, bounds)
    return Walked(start, closure, names.transformations(connection, {row[2] for row in closure.rows}))


def closure_at(
    connection: Connection, start: Column | KnownDataset, direction: Direction, bounds: Bounds, by: Walk = walk
) -> Closure:
    """Walks from a column, or from every column of a dataset, in ids alone; both ways share the time."""
    if direction is not Direction.BOTH:
        return _one_way(connection, start, direction, bounds, by)
    ends = time.monotonic() + bounds.seconds
    up = _one_way(connection, start, Direction.UP, bounds, by)
    rest = replace(bounds, seconds=max(ends - time.monotonic(), 0.0))
    return joined(up, _one_way(connection, start, Direction.DOWN, rest, by))


def _one_way(
    connection: Connection, start: Column | KnownDataset, direction: Direction, bounds: Bounds, by: Walk
) -> Closure:
    begin = start_ids(connection, start)
    # A dataset of which no column is known may still have rows that depend on something.
    rows_of = [start.id] if isinstance(start, KnownDataset) and not begin else []
    closure = by(connection, begin, direction, bounds, rows_of)
    if bounds.edge_type is not EdgeType.INDIRECT:
        return closure
    ways = names.transformations(connection, {row[2] for row in closure.rows})
    return only_indirect(closure, begin, ways, direction)


def start_ids(connection: Connection, start: Column | KnownDataset) -> list[int]:
    """The columns to begin at."""
    return [start.id] if isinstance(start, Column) else [one.id for one in names.current_columns(connection, start)]
