"""A walk in ids, with tables of the names: as large answers travel."""

from dataclasses import dataclass, replace

from sqlalchemy import Connection

from headwater.graph import reachable
from headwater.model import Job, Transformation
from headwater.store.questions import names
from headwater.store.questions.answers import UNBOUNDED, Bounds, Column, Direction, EdgeType, KnownDataset, Sides
from headwater.store.questions.closure import Closure, reach, walk
from headwater.store.questions.exact import Name
from headwater.store.questions.find import find
from headwater.store.questions.guesses import GUESS_ID, follows_guesses
from headwater.store.questions.steps import Steps
from headwater.store.questions.walks import closure_at, walked
from headwater.store.store import Store


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
    """The columns of a closure alone, as ids with their distance; ``guessed`` are those that only guesses lead to."""

    start: Column | KnownDataset
    direction: Direction
    distance: dict[int, int]
    truncated: tuple[str, ...]
    guessed: frozenset[int] = frozenset()
    sides: Sides | None = None


def compact_from(
    store: Store, name: Name, direction: Direction = Direction.UP, bounds: Bounds = UNBOUNDED
) -> CompactGraph:
    """As `walk_from`, without a value for each column and hop.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        start, closure, ways = walked(connection, name, direction, bounds)
        owners = {*closure.dataset_of.values(), *(-row[1] for row in closure.rows if row[1] < 0)}
        return CompactGraph(
            start,
            direction,
            closure,
            _field_names(connection, closure, bounds.as_of),
            names.datasets(connection, owners, bounds.as_of),
            ways,
            dict(names.jobs(connection, {row[3] for row in closure.rows})),
        )


def reached_from(store: Store, name: Name, direction: Direction = Direction.UP, bounds: Bounds = UNBOUNDED) -> Reached:
    """Which columns a walk reaches, and no more: the quickest of the answers.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        start = find(connection, name, bounds.as_of, bounds.sees)
        told_apart = bounds.edge_type is EdgeType.INDIRECT or follows_guesses(bounds)
        closure = closure_at(connection, start, direction, bounds, walk if told_apart else reach)
    return Reached(
        start,
        direction,
        closure.distance,
        closure.truncated,
        _guessed(start, closure, direction),
        closure.sides,
    )


def _guessed(start: Column | KnownDataset, closure: Closure, direction: Direction) -> frozenset[int]:
    told = tuple(row for row in closure.rows if row[2] != GUESS_ID)
    if len(told) == len(closure.rows):
        return frozenset()
    begin = [node for node, far in closure.distance.items() if far == 0]
    rows = [] if isinstance(start, Column) else [-start.id]
    ways = (Direction.UP, Direction.DOWN) if direction is Direction.BOTH else (direction,)
    known = (reachable([*begin, *rows], Steps(replace(closure, rows=told), way).successors) for way in ways)
    return frozenset(closure.distance.keys() - set().union(*known))


def _field_names(connection: Connection, closure: Closure, at: int | None) -> dict[int, str]:
    called = names.NamesThen(connection, at)
    owners, present = closure.dataset_of, closure.name_of
    if not called.renames:
        return {one: present[one] for one in closure.distance}
    return {one: called(owners[one], present[one]) for one in closure.distance}
