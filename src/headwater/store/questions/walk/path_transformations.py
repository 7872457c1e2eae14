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
from headwater.store.questions.walk.past_steps import PastSteps

Step = tuple[int, Link | None]
"""The next node and the link that leads there; no link between a column and its dataset's own node."""


class Steps:
    """The steps of a closure from a node onward; a dataset's own node stands between it and its columns.

    Of steps over past links (`headwater.store.questions.walk.closure.as_read`) it has the links of the store.
    """

    def __init__(self, closure: Closure, direction: Direction, past: PastSteps | None = None) -> None:
        self._next: dict[int, list[Step]] = {}
        up = direction is Direction.UP
        for link in closure.links:
            near, far = (link.output, link.input) if up else (link.input, link.output)
            self._next.setdefault(near, []).append((far, Link(*past.real.get(link, link)) if past else link))
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
    """How far a column is in some path, over which last step, and from where (a node and the path of its own)."""

    distance: int
    link: Link | None
    before: tuple[int, int] | None


class Arrivals:
    """For each node every path in which it is connected with the start, over the fewest steps."""

    def __init__(
        self, start: Iterable[int], steps: Steps, transformations: Mapping[int, Transformation], direction: Direction
    ) -> None:
        self._composition = _Composition(transformations, direction)
        self._found: dict[int, dict[int, Arrival]] = {node: {_NO_STEP: Arrival(0, None, None)} for node in start}
        self._spread(steps)

    def transformations(self, node: int) -> tuple[PathTransformation, ...]:
        """The paths of a node, the strongest first: AGGREGATION before IDENTITY, direct before indirect."""
        return tuple(sorted((self._composition.paths[path] for path in self._found.get(node, ())), key=rank))

    def distance(self, node: int, path: PathTransformation) -> int:
        """The number of steps to a node in some path."""
        return self._found[node][self._composition.number(path)].distance

    def jobs(self, node: int, path: PathTransformation) -> list[int]:
        """The jobs of the shortest path between the start and a node, beginning at the node."""
        return [job for job, _ in groupby(link.job for link in self.links(node, path))]

    def links(self, node: int, path: PathTransformation) -> list[Link]:
        """The links of the shortest path between the start and a node, beginning at the node."""
        links: list[Link] = []
        at: tuple[int, int] | None = (node, self._composition.number(path))
        while at is not None:
            arrival = self._found[at[0]][at[1]]
            links += [] if arrival.link is None else [arrival.link]
            at = arrival.before
        return links

    def indirect(self) -> set[int]:
        """The nodes that are connected with the start in an INDIRECT path."""
        indirect = {number for number, path in enumerate(self._composition.paths) if not path.transformation.direct}
        return {node for node, paths in self._found.items() if not indirect.isdisjoint(paths)}

    def _spread(self, steps: Steps) -> None:
        queue = deque((node, _NO_STEP) for node in self._found)
        while queue:
            node, path = queue.popleft()
            distance = self._found[node][path].distance
            for then, link in steps(node):
                new = path if link is None else self._composition.extended(path, link)
                known = self._found.setdefault(then, {})
                if new not in known:
                    known[new] = Arrival(distance + (link is not None), link, (node, path))
                    (queue.append if link is not None else queue.appendleft)((then, new))


class _Composition:
    """Path transformations as small numbers, and the table of how they compose: a walk has few, each very often."""

    def __init__(self, transformations: Mapping[int, Transformation], direction: Direction) -> None:
        self.paths = [PathTransformation(IDENTITY)]
        self._numbers = {self.paths[_NO_STEP]: _NO_STEP}
        self._transformations = transformations
        self._up = direction is Direction.UP
        self._table: dict[tuple[int, int, bool], int] = {}

    def number(self, path: PathTransformation) -> int:
        """The number of a path."""
        if path not in self._numbers:
            self._numbers[path] = len(self.paths)
            self.paths.append(path)
        return self._numbers[path]

    def extended(self, path: int, link: Link) -> int:
        """The number of the path that goes on over a link."""
        key = (path, link.transformation, link.output < 0)
        if key not in self._table:
            self._table[key] = self.number(self._joined(self.paths[path], link))
        return self._table[key]

    def _joined(self, path: PathTransformation, link: Link) -> PathTransformation:
        # A description is of one step, not of a path, and would make as many paths as there are texts.
        step = PathTransformation(replace(self._transformations[link.transformation], description=""), link.output < 0)
        outer, inner = (path, step) if self._up else (step, path)
        if outer.transformation.direct and inner.transformation.direct:
            whole = outer.whole_dataset or inner.whole_dataset
        else:
            whole = (inner if outer.transformation.direct else outer).whole_dataset
        return PathTransformation(compose(outer.transformation, inner.transformation), whole)


def strongest_first(transformations: Iterable[Transformation]) -> tuple[Transformation, ...]:
    """Transformations in the order of `rank`, those of equal kind by description."""
    return tuple(sorted(transformations, key=lambda one: (rank(PathTransformation(one)), one.description)))


def rank(path: PathTransformation) -> tuple[int, ...]:
    """The place of a path: certain before guessed, AGGREGATION before IDENTITY, direct before indirect."""
    kind = path.transformation
    place = _ORDER[kind.subtype]
    return kind.guess, not kind.direct, -place if kind.direct else place, path.whole_dataset, kind.masking, kind.opaque


def only_indirect(
    closure: Closure, start: Collection[int], paths: Mapping[int, Transformation], direction: Direction
) -> Closure:
    """The part of a closure whose paths from the start are INDIRECT as a whole (see `headwater.model.compose`)."""
    up = direction is Direction.UP
    after = Arrivals(start, Steps(closure, direction), paths, direction).indirect()
    indirect = [link for link in closure.links if not paths[link.transformation].direct]
    other = Direction.DOWN if direction is Direction.UP else Direction.UP
    before = reachable((_near(link, up=up) for link in indirect), Steps(closure, other).successors)
    indirect_links = [
        link
        for link in closure.links
        if not paths[link.transformation].direct or _near(link, up=up) in after or _near(link, up=not up) in before
    ]
    shown = after.union(start, *((link.input, link.output) for link in indirect_links))
    distance = {node: far for node, far in closure.distance.items() if node in shown}
    return replace(closure, distance=distance, rows=tuple(indirect_links))


def _near(link: Link, *, up: bool) -> int:
    return link.output if up else link.input
