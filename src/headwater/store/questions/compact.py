"""A walk in ids, with tables of the names: as large answers travel."""

from dataclasses import dataclass

from sqlalchemy import Connection, select

from headwater.model import Job, Transformation
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import UNBOUNDED, Bounds, Column, Direction, EdgeType, KnownDataset
from headwater.store.questions.closure import Closure, walk
from headwater.store.questions.exact import Name
from headwater.store.questions.find import find
from headwater.store.questions.walks import start_ids, walked
from headwater.store.rows import rows_for
from headwater.store.store import Store

_FIELD = schema.field
_NAMES = select(_FIELD.c.id, _FIELD.c.name, _FIELD.c.dataset_id)


@dataclass(frozen=True, slots=True)
class CompactGraph:
    """A closure and the names of all that is in it, by id; an output below 0 stands for a whole dataset."""

    start: Column | KnownDataset
    direction: Direction
    closure: Closure
    fields: dict[int, str]
    datasets: dict[int, KnownDataset]
    transformations: dict[int, Transformation]
    jobs: dict[int, Job]


@dataclass(frozen=True, slots=True)
class Reached:
    """The columns of a closure alone, as ids with their distance."""

    start: Column | KnownDataset
    direction: Direction
    distance: dict[int, int]
    truncated: tuple[str, ...]


def compact_from(
    store: Store, name: Name, direction: Direction = Direction.UP, bounds: Bounds = UNBOUNDED
) -> CompactGraph:
    """As `walk_from`, without a value for each column and hop.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        start, closure, ways = walked(connection, name, direction, bounds)
        owners = {*closure.dataset_of.values(), *(-link.output for link in closure.links if link.output < 0)}
        return CompactGraph(
            start,
            direction,
            closure,
            _field_names(connection, closure, bounds.as_of),
            names.datasets(connection, owners, bounds.as_of),
            ways,
            dict(names.jobs(connection, {link.job for link in closure.links})),
        )


def reached_from(store: Store, name: Name, direction: Direction = Direction.UP, bounds: Bounds = UNBOUNDED) -> Reached:
    """Which columns a walk reaches, and no more: the quickest of the answers.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        if bounds.edge_type is EdgeType.INDIRECT:
            start, closure, _ = walked(connection, name, direction, bounds)
        else:
            start = find(connection, name, bounds.as_of)
            closure = walk(connection, start_ids(connection, start), direction, bounds)
    return Reached(start, direction, closure.distance, closure.truncated)


def _field_names(connection: Connection, closure: Closure, at: int | None) -> dict[int, str]:
    rows = rows_for(connection, closure.distance, lambda some: _NAMES.where(_FIELD.c.id.in_(some)))
    called = names.NamesThen(connection, at)
    return {row.id: called(row) for row in rows} if called.renames else {row[0]: row[1] for row in rows}
