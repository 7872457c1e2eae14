"""How columns take part in one another over several steps: transformations composed along every path.

There are few distinct ways (a subtype, masking, opaque, whole dataset or not), so each column is visited
once per way, however many paths there are, and cycles end.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from headwater.model import IDENTITY, Subtype, Transformation, compose
from headwater.store.questions.answers import Direction, Way
from headwater.store.questions.closure import Closure, Link

_ORDER = {subtype: place for place, subtype in enumerate(Subtype)}
_SAME = Way(IDENTITY)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One way in which the start is connected with a column: how far, and over which last step."""

    distance: int
    link: Link | None
    before: "tuple[int, Way] | None"


Arrivals = Mapping[int, Mapping[Way, Arrival]]


class Steps:
    """The steps of a closure from a column onward; a dataset's own node stands between it and its columns."""

    def __init__(self, closure: Closure, direction: Direction) -> None:
        self._up = direction is Direction.UP
        self._closure = closure
        self._links: dict[int, list[Link]] = {}
        for link in closure.links:
            self._links.setdefault(link.output if self._up else link.input, []).append(link)
        self._columns: dict[int, list[int]] = {}
        for column, dataset in closure.dataset_of.items():
            self._columns.setdefault(-dataset, []).append(column)

    def __call__(self, node: int) -> Iterator[tuple[int, Link | None]]:
        """The next nodes, with the link that leads there; none between a column and its dataset."""
        for link in self._links.get(node, ()):
            yield (link.input if self._up else link.output), link
        if self._up and node > 0:
            whole = -self._closure.dataset_of[node]
            if whole in self._links:
                yield whole, None
        elif not self._up and node < 0:
            yield from ((column, None) for column in self._columns.get(node, ()))


def arrivals(
    start: Iterable[int], steps: Steps, transformations: Mapping[int, Transformation], direction: Direction
) -> Arrivals:
    """For each node every way in which it is connected with the start, over the fewest steps."""
    found: dict[int, dict[Way, Arrival]] = {node: {_SAME: Arrival(0, None, None)} for node in start}
    queue = deque((node, _SAME) for node in found)
    while queue:
        node, way = queue.popleft()
        distance = found[node][way].distance
        for then, link in steps(node):
            new = way if link is None else _extended(way, _of_link(link, transformations), direction)
            known = found.setdefault(then, {})
            if new not in known:
                known[new] = Arrival(distance + (link is not None), link, (node, way))
                (queue.append if link is not None else queue.appendleft)((then, new))
    return found


def distances(start: int, steps: Steps) -> dict[int, int]:
    """How many links there are between a node and each that steps lead to."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for then, link in steps(node):
            far = found[node] + (link is not None)
            if far < found.get(then, far + 1):
                found[then] = far
                (queue.append if link is not None else queue.appendleft)(then)
    return found


def reached(nodes: Iterable[int], steps: Steps) -> set[int]:
    """The nodes that steps lead to from these, themselves included."""
    found = set(nodes)
    stack = list(found)
    while stack:
        new = {node for node, _ in steps(stack.pop())} - found
        found |= new
        stack += new
    return found


def jobs_on(found: Arrivals, node: int, way: Way) -> list[int]:
    """The jobs of the shortest path between the start and a node, beginning at the node."""
    jobs: list[int] = []
    at: tuple[int, Way] | None = (node, way)
    while at is not None:
        arrival = found[at[0]][at[1]]
        if arrival.link is not None and jobs[-1:] != [arrival.link.job]:
            jobs.append(arrival.link.job)
        at = arrival.before
    return jobs


def in_order(ways: Iterable[Way]) -> tuple[Way, ...]:
    """The strongest first: AGGREGATION before IDENTITY, direct before indirect."""
    return tuple(sorted(ways, key=rank))


def strongest_first(transformations: Iterable[Transformation]) -> tuple[Transformation, ...]:
    """Transformations in the order of `in_order`, those of equal kind by description."""
    return tuple(sorted(transformations, key=lambda one: (rank(Way(one)), one.description)))


def rank(way: Way) -> tuple[int, ...]:
    """The place of a way in the order of `in_order`."""
    kind = way.transformation
    place = _ORDER[kind.subtype]
    return not kind.direct, -place if kind.direct else place, way.whole_dataset, kind.masking, kind.opaque


def _of_link(link: Link, transformations: Mapping[int, Transformation]) -> Way:
    # A description tells one step, not a path, and would make as many ways as there are texts.
    return Way(replace(transformations[link.transformation], description=""), link.output < 0)


@lru_cache(maxsize=10_000)
def _extended(way: Way, step: Way, direction: Direction) -> Way:
    outer, inner = (way, step) if direction is Direction.UP else (step, way)
    names = inner if outer.transformation.direct else outer
    return Way(compose(outer.transformation, inner.transformation), names.whole_dataset)
