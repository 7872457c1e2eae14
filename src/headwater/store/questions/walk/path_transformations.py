"""Transformations composed along every path of a walk.

There are few distinct ones (a subtype, masking, opaque, whole dataset or not), so each column is visited once per path
transformation, however many paths there are, and cycles end.
"""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from headwater.graph import reachable
from headwater.model import IDENTITY, Subtype, Transformation, compose
from headwater.store.questions.answers import Direction, PathTransformation
from headwater.store.questions.walk.closure import Closure
from headwater.store.questions.walk.edges import Link

Step = tuple[int, Link | None]
"""The next node and the link that leads there; no link between a column and its dataset's own node."""


class Steps:
    """The steps of a closure from a node onward; a dataset's own node stands between it and its columns."""

    def __init__(self, closure: Closure, direction: Direction) -> None:
        self._next: dict[int, list[Step]] = {}
        up = direction is Direction.UP
        for link in closure.links:
            near, far = (link.output, link.input) if up else (link.input, link.output)
            self._next.setdefault(near, []).append((far, link))
        whole = {link.output for link in closure.links if link.output < 0}
        for column, dataset in closure.dataset_of.items():
            if -dataset in whole:
                near, far = (column, -dataset) if up else (-dataset, column)
                self._next.setdefault(near, []).append((far, None))

    def __call__(self, node: int) -> Sequence[Step]:
        """The steps from a node."""
        return self._next.get(node, ())

    def successors(self, node: int) -> Iterator[int]:
        """The nodes that steps lead to from a node."""
        return (then for then, _ in self._next.get(node, ()))

    def counted(self, node: int) -> Iterator[tuple[int, bool]]:
        """Those nodes, each with whether a link leads there."""
        return ((then, link is not None) for then, link in self._next.get(node, ()))


_ORDER = {subtype: place for place, subtype in enumerate(Subtype)}
_NO_STEP = 0


class Arrival(NamedTuple):
    """How far a column is in some way, over which last step, and from where (a node and the way of its own)."""

    distance: int
    link: Link | None
    before: tuple[int, int] | None


class Arrivals:
    """For each node every way in which it is connected with the start, over the fewest steps."""

    def __init__(
        self, start: Iterable[int], steps: Steps, transformations: Mapping[int, Transformation], direction: Direction
    ) -> None:
        self._composition = _Composition(transformations, direction)
        self._found: dict[int, dict[int, Arrival]] = {node: {_NO_STEP: Arrival(0, None, None)} for node in start}
        self._spread(steps)

    def transformations(self, node: int) -> tuple[PathTransformation, ...]:
        """The ways of a node, the strongest first: AGGREGATION before IDENTITY, direct before indirect."""
        return tuple(sorted((self._composition.ways[way] for way in self._found.get(node, ())), key=rank))

    def distance(self, node: int, way: PathTransformation) -> int:
        """The number of steps to a node in some way."""
        return self._found[node][self._composition.number(way)].distance

    def jobs(self, node: int, way: PathTransformation) -> list[int]:
        """The jobs of the shortest path between the start and a node, beginning at the node."""
        return [job for job, _ in groupby(link.job for link in self.links(node, way))]

    def links(self, node: int, way: PathTransformation) -> list[Link]:
        """The links of the shortest path between the start and a node, beginning at the node."""
        links: list[Link] = []
        at: tuple[int, int] | None = (node, self._composition.number(way))
        while at is not None:
            arrival = self._found[at[0]][at[1]]
            links += [] if arrival.link is None else [arrival.link]
            at = arrival.before
        return links

    def indirect(self) -> set[int]:
        """The nodes that are connected with the start in an INDIRECT way."""
        indirect = {number for number, way in enumerate(self._composition.ways) if not way.transformation.direct}
        return {node for node, ways in self._found.items() if not indirect.isdisjoint(ways)}

    def _spread(self, steps: Steps) -> None:
        queue = deque((node, _NO_STEP) for node in self._found)
        while queue:
            node, way = queue.popleft()
            distance = self._found[node][way].distance
            for then, link in steps(node):
                new = way if link is None else self._composition.extended(way, link)
                known = self._found.setdefault(then, {})
                if new not in known:
                    known[new] = Arrival(distance + (link is not None), link, (node, way))
                    (queue.append if link is not None else queue.appendleft)((then, new))


class _Composition:
    """Ways as small numbers, and the table of how they compose: a walk meets few ways, each very often."""

    def __init__(self, transformations: Mapping[int, Transformation], direction: Direction) -> None:
        self.ways = [PathTransformation(IDENTITY)]
        self._numbers = {self.ways[_NO_STEP]: _NO_STEP}
        self._transformations = transformations
        self._up = direction is Direction.UP
        self._table: dict[tuple[int, int, bool], int] = {}

    def number(self, way: PathTransformation) -> int:
        """The number of a way."""
        if way not in self._numbers:
            self._numbers[way] = len(self.ways)
            self.ways.append(way)
        return self._numbers[way]

    def extended(self, way: int, link: Link) -> int:
        """The number of the way that goes on over a link."""
        key = (way, link.transformation, link.output < 0)
        if key not in self._table:
            self._table[key] = self.number(self._joined(self.ways[way], link))
        return self._table[key]

    def _joined(self, way: PathTransformation, link: Link) -> PathTransformation:
        # A description tells one step, not a path, and would make as many ways as there are texts.
        step = PathTransformation(replace(self._transformations[link.transformation], description=""), link.output < 0)
        outer, inner = (way, step) if self._up else (step, way)
        if outer.transformation.direct and inner.transformation.direct:
            whole = outer.whole_dataset or inner.whole_dataset
        else:
            whole = (inner if outer.transformation.direct else outer).whole_dataset
        return PathTransformation(compose(outer.transformation, inner.transformation), whole)


def strongest_first(transformations: Iterable[Transformation]) -> tuple[Transformation, ...]:
    """Transformations in the order of `rank`, those of equal kind by description."""
    return tuple(sorted(transformations, key=lambda one: (rank(PathTransformation(one)), one.description)))


def rank(way: PathTransformation) -> tuple[int, ...]:
    """The place of a way: told before guessed, AGGREGATION before IDENTITY, direct before indirect."""
    kind = way.transformation
    place = _ORDER[kind.subtype]
    return kind.guess, not kind.direct, -place if kind.direct else place, way.whole_dataset, kind.masking, kind.opaque


def only_indirect(
    closure: Closure, start: Collection[int], ways: Mapping[int, Transformation], direction: Direction
) -> Closure:
    """The part of a closure whose paths from the start are INDIRECT as a whole (see `headwater.model.compose`)."""
    up = direction is Direction.UP
    after = Arrivals(start, Steps(closure, direction), ways, direction).indirect()
    indirect = [link for link in closure.links if not ways[link.transformation].direct]
    before = reachable((_near(link, up=up) for link in indirect), Steps(closure, _other(direction)).successors)
    kept = [
        link
        for link in closure.links
        if not ways[link.transformation].direct or _near(link, up=up) in after or _near(link, up=not up) in before
    ]
    shown = after.union(start, *((link.input, link.output) for link in kept))
    distance = {node: far for node, far in closure.distance.items() if node in shown}
    return replace(closure, distance=distance, rows=tuple(kept))


def _near(link: Link, *, up: bool) -> int:
    return link.output if up else link.input


def _other(direction: Direction) -> Direction:
    return Direction.DOWN if direction is Direction.UP else Direction.UP
