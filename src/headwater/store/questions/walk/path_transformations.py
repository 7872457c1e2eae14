"""Transformations composed along every path of a walk.

There are few distinct ones (a subtype, masking, opaque, whole dataset or not), so each column is visited once per path
transformation, however many paths there are, and cycles end.
"""

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from headwater.graph import reachable
from headwater.model import IDENTITY, Subtype, Transformation, compose
from headwater.store.questions.answers import Direction, PathTransformation
from headwater.store.questions.walk.closure import Closure
from headwater.store.questions.walk.edges import Row
from headwater.store.questions.walk.past_steps import PastSteps

Step = tuple[int, Row | None]
"""The next node and the link that leads there; no link between a column and its dataset's own node."""


class Steps:
    """The steps of a closure from a node onward; a dataset's own node stands between it and its columns.

    Of steps over past links (`headwater.store.questions.walk.closure.as_read`) it has the links of the store.
    """

    def __init__(self, closure: Closure, direction: Direction, past: PastSteps | None = None) -> None:
        self._next: dict[int, list[Step]] = defaultdict(list)
        up, real = direction is Direction.UP, past.real if past else {}
        near, far = (1, 0) if up else (0, 1)
        for row in closure.rows:
            self._next[row[near]].append((row[far], real.get(row, row)))
        whole = {row[1] for row in closure.rows if row[1] < 0}
        for column, dataset in closure.dataset_of.items() if whole else ():
            if -dataset in whole:
                ends = (column, -dataset) if up else (-dataset, column)
                self._next[ends[0]].append((ends[1], None))

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


Arrival = tuple[int, Row | None, tuple[int, int] | None]
"""How far a node is in some path, over which last step, and from where (a node and the path of its own).

A plain tuple, as links are: those of numbers are of no interest to Python's collector of garbage, those with names are.
"""


class Arrivals:
    """For each node every path in which it is connected with the start, over the fewest steps."""

    def __init__(
        self, start: Iterable[int], steps: Steps, transformations: Mapping[int, Transformation], direction: Direction
    ) -> None:
        self._composition = _Composition(transformations, direction)
        self._found: dict[int, dict[int, Arrival]] = defaultdict(dict)
        self._found[_NO_STEP] = dict.fromkeys(start, (0, None, None))
        self._spread(steps)
        by_path = [(self._composition.paths[number], nodes) for number, nodes in self._found.items()]
        self._strongest_first = sorted(by_path, key=lambda one: rank(one[0]))

    def transformations(self, node: int) -> tuple[PathTransformation, ...]:
        """The paths of a node, the strongest first: AGGREGATION before IDENTITY, direct before indirect."""
        return tuple([path for path, nodes in self._strongest_first if node in nodes])

    def shortest(self, node: int, paths: Iterable[PathTransformation]) -> tuple[int, list[Row]]:
        """The number of steps to a node in that of some paths that has the fewest, and its links from the node on."""
        numbers = map(self._composition.number, paths)
        path = min(numbers, key=lambda number: self._found[number][node][0])
        rows: list[Row] = []
        at: tuple[int, int] | None = (node, path)
        while at is not None:
            _, row, at = self._found[at[1]][at[0]]
            if row is not None:
                rows.append(row)
        return self._found[path][node][0], rows

    def indirect(self) -> set[int]:
        """The nodes that are connected with the start in an INDIRECT path."""
        return {node for path, nodes in self._strongest_first if not path.transformation.direct for node in nodes}

    def _spread(self, steps: Steps) -> None:
        found, extended = self._found, self._composition.extended
        queue = deque((node, _NO_STEP) for node in found[_NO_STEP])
        while queue:
            at = queue.popleft()
            node, path = at
            distance = found[path][node][0]
            for then, row in steps(node):
                new = path if row is None else extended(path, row)
                arrived = found[new]
                if then not in arrived:
                    arrived[then] = (distance if row is None else distance + 1, row, at)
                    (queue.appendleft if row is None else queue.append)((then, new))


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

    def extended(self, path: int, row: Row) -> int:
        """The number of the path that goes on over a link."""
        key = (path, row[2], row[1] < 0)
        if key not in self._table:
            self._table[key] = self.number(self._joined(self.paths[path], *key[1:]))
        return self._table[key]

    def _joined(self, path: PathTransformation, transformation: int, whole_dataset: bool) -> PathTransformation:
        # A description is of one step, not of a path, and would make as many paths as there are texts.
        step = PathTransformation(replace(self._transformations[transformation], description=""), whole_dataset)
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
    near, far = (1, 0) if direction is Direction.UP else (0, 1)
    after = Arrivals(start, Steps(closure, direction), paths, direction).indirect()
    indirect = [row for row in closure.rows if not paths[row[2]].direct]
    other = Direction.DOWN if direction is Direction.UP else Direction.UP
    before = reachable((row[near] for row in indirect), Steps(closure, other).successors)
    rows = [row for row in closure.rows if not paths[row[2]].direct or row[near] in after or row[far] in before]
    shown = after.union(start, *(row[:2] for row in rows))
    distance = {node: steps for node, steps in closure.distance.items() if node in shown}
    return replace(closure, distance=distance, rows=tuple(rows))
