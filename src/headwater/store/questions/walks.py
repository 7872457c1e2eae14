"""A walk from a name, in ids: what every answer about a graph begins with."""

from typing import NamedTuple

from sqlalchemy import Connection

from headwater.model import Transformation
from headwater.store.questions import names
from headwater.store.questions.answers import Bounds, Column, Direction, EdgeType, KnownDataset
from headwater.store.questions.closure import Closure, walk
from headwater.store.questions.exact import Name
from headwater.store.questions.find import find
from headwater.store.questions.indirect import only_indirect


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
    start = find(connection, name, bounds.as_of)
    closure = walk_at(connection, start, direction, bounds)
    ways = names.transformations(connection, {link.transformation for link in closure.links})
    if bounds.edge_type is EdgeType.INDIRECT:
        closure = only_indirect(closure, start_ids(connection, start), ways, direction)
    return Walked(start, closure, ways)


def walk_at(connection: Connection, start: Column | KnownDataset, direction: Direction, bounds: Bounds) -> Closure:
    """Walks from a column, or from every column of a dataset, in ids alone."""
    begin = start_ids(connection, start)
    # A dataset of which no column is known may still have rows that depend on something.
    rows_of = [start.id] if isinstance(start, KnownDataset) and not begin else []
    return walk(connection, begin, direction, bounds, rows_of)


def start_ids(connection: Connection, start: Column | KnownDataset) -> list[int]:
    """The columns to begin at."""
    return [start.id] if isinstance(start, Column) else [one.id for one in names.columns_of(connection, start)]
