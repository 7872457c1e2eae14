"""Walks the edges level by level, up or down, in ids; never by enumerating paths.

A link to a whole dataset stands for one to each of its columns; it is kept once, and the columns
of a dataset are joined to it by the dataset's own node, written as its id with a minus sign.
"""

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from sqlalchemy import Connection, select

from headwater.store import schema
from headwater.store.questions.answers import Bounds, Direction, Sides
from headwater.store.questions.edges import Edges, Link
from headwater.store.rows import rows_for

_FIELD = schema.field
_DATASET = schema.dataset
_OWNER = select(_FIELD.c.id, _FIELD.c.dataset_id)


@dataclass(frozen=True, slots=True)
class Closure:
    """The columns that a walk reached with their distance, their datasets, and every link between them.

    ``unexplored`` are columns behind which a limit kept the walk from looking; ``sides`` are those of a walk both ways.
    """

    distance: dict[int, int]
    dataset_of: dict[int, int]
    links: tuple[Link, ...]
    unexplored: frozenset[int]
    truncated: tuple[str, ...]
    sides: Sides | None = None


def walk(
    connection: Connection, start: Collection[int], direction: Direction, bounds: Bounds, rows_of: Collection[int] = ()
) -> Closure:
    """Everything upstream or downstream of some columns, or upstream of the rows of some datasets, within bounds.

    Raises:
        UnknownName: the bounds name a job that the store does not know.
    """
    walker = _Walker(connection, Edges(connection, bounds), direction, bounds, rows_of)
    unexplored = walker.run(start)
    # No link comes twice: it is asked for by its near end, and each column and dataset is met once.
    links = tuple(walker.links)
    dataset_of = {node: walker.dataset_of[node] for node in walker.distance}
    return Closure(walker.distance, dataset_of, links, frozenset(unexplored), tuple(sorted(walker.truncated)))


def joined(up: Closure, down: Closure) -> Closure:
    """A walk up and one down from the same start as one."""
    nearest = {node: min(far, up.distance.get(node, far)) for node, far in down.distance.items()}
    return Closure(
        up.distance | nearest,
        up.dataset_of | down.dataset_of,
        tuple(dict.fromkeys((*up.links, *down.links))),
        up.unexplored | down.unexplored,
        tuple(sorted({*up.truncated, *down.truncated})),
        Sides(up.distance, down.distance),
    )


def bare_datasets(closure: Closure, direction: Direction) -> dict[int, int]:
    """The datasets that links lead to and of which no column was met: with their distances, 0 for that of the start."""
    with_columns = set(closure.dataset_of.values())
    downward = closure.sides.down if closure.sides is not None else closure.distance
    before = {} if direction is Direction.UP else downward
    distance: dict[int, int] = {}
    for link in closure.links:
        dataset, far = -link.output, before.get(link.input, -1) + 1
        if dataset > 0 and dataset not in with_columns:
            distance[dataset] = min(far, distance.get(dataset, far))
    return distance


@dataclass(slots=True)
class _Walker:
    connection: Connection
    edges: Edges
    direction: Direction
    bounds: Bounds
    rows_of: Collection[int]
    distance: dict[int, int] = field(default_factory=dict)
    dataset_of: dict[int, int] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    truncated: set[str] = field(default_factory=set)
    _datasets: set[int] = field(default_factory=set)
    _within: dict[int, bool] = field(default_factory=dict)

    def run(self, start: Collection[int]) -> list[int]:
        """Walks until nothing new comes or a limit is met; gives back what then stood open."""
        ends = time.monotonic() + self.bounds.seconds
        frontier = self._reach(start, 0)
        level = 0
        while (frontier or level == 0) and not self._full(ends):
            found = self._links(frontier)
            if found and level == self.bounds.depth:
                self.truncated.add("depth")
                return frontier
            self.links += found
            level += 1
            frontier = self._reach(self._ends(found), level)
        return frontier

    def _full(self, ends: float) -> bool:
        if len(self.distance) > self.bounds.columns:
            self.truncated.add("columns")
        if time.monotonic() > ends:
            self.truncated.add("time")
        return bool(self.truncated)

    def _reach(self, fields: Iterable[int], level: int) -> list[int]:
        new = [one for one in dict.fromkeys(fields) if one not in self.distance]
        self.distance.update(dict.fromkeys(new, level))
        self._learn_datasets(new)
        return new

    def _learn_datasets(self, fields: Iterable[int]) -> None:
        unknown = [one for one in fields if one not in self.dataset_of]
        rows = rows_for(self.connection, unknown, lambda some: _OWNER.where(_FIELD.c.id.in_(some)))
        self.dataset_of |= dict(map(tuple, rows))

    def _links(self, frontier: list[int]) -> list[Link]:
        found = self.edges.of_fields(self.direction, frontier)
        near = frontier
        if self.direction is Direction.UP:
            near = self._new_datasets((*self.rows_of, *(self.dataset_of[one] for one in frontier)))
        found += self.edges.of_datasets(self.direction, near)
        return self._in_namespaces(found) if self.bounds.namespaces else found

    def _in_namespaces(self, links: list[Link]) -> list[Link]:
        """The links whose far end is in one of the namespaces that were asked for."""
        far = [link.input if self.direction is Direction.UP else link.output for link in links]
        self._learn_datasets({one for one in far if one > 0})
        datasets = [self.dataset_of[one] if one > 0 else -one for one in far]
        unknown = set(datasets) - self._within.keys()
        question = select(_DATASET.c.id, _DATASET.c.namespace)
        for dataset, name in rows_for(self.connection, unknown, lambda some: question.where(_DATASET.c.id.in_(some))):
            fits = any(fnmatchcase(name, pattern) for pattern in self.bounds.namespaces)
            self._within[dataset] = fits and (self.bounds.sees is None or self.bounds.sees(name))
        return [link for link, dataset in zip(links, datasets, strict=True) if self._within[dataset]]

    def _new_datasets(self, datasets: Iterable[int]) -> list[int]:
        new = [one for one in dict.fromkeys(datasets) if one not in self._datasets]
        self._datasets.update(new)
        return new

    def _ends(self, links: list[Link]) -> Iterable[int]:
        if self.direction is Direction.UP:
            return [link.input for link in links]
        outputs = [link.output for link in links if link.output > 0]
        new = self._new_datasets(-link.output for link in links if link.output < 0)
        rows = rows_for(self.connection, new, lambda some: _OWNER.where(_FIELD.c.dataset_id.in_(some)))
        of_whole = dict(map(tuple, rows))
        self.dataset_of |= of_whole
        return [*outputs, *of_whole]
