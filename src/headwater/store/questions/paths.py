"""Paths between two columns, the shortest first."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from heapq import heappop, heappush
from itertools import pairwise

from sqlalchemy import Connection

from headwater.graph import distances
from headwater.store.questions import names
from headwater.store.questions.answers import UNBOUNDED, Bounds, Column, Direction, Hop, Path, Paths
from headwater.store.questions.hops import named_hops
from headwater.store.questions.lookup.find import Name, find_column
from headwater.store.questions.walk.closure import Closure, as_read
from headwater.store.questions.walk.edges import Link
from headwater.store.questions.walk.leaf_steps import related
from headwater.store.questions.walk.nested import walk_nodes
from headwater.store.questions.walk.past_steps import PastSteps
from headwater.store.questions.walk.path_transformations import Steps
from headwater.store.store import Store

_BEFORE = 0  # a node before the sources of paths
_MOST_TRIED = 50_000  # beginnings of paths; simple paths can be exponentially many

Nodes = tuple[int, ...]
"""A path in ids, from the source on; a dataset's own node stands where a step acts on the whole dataset."""


def paths_between(store: Store, one: Name, other: Name, *, most: int = 10, bounds: Bounds = UNBOUNDED) -> Paths:
    """The paths between two columns in the direction of the data, shortest first; at most ``most``.

    They lead from ``one`` to ``other``, or back when nothing flows that way. No path passes a column twice, unless as
    it was at different times.

    Raises:
        UnknownName, AmbiguousName: a name fits no column, or several.
    """
    with store.read() as connection:
        first, second = (find_column(connection, name, bounds.as_of, bounds.sees, nested=True) for name in (one, other))
        bounds = replace(bounds, nested=bounds.nested or bool(first.path or second.path))
        source, target, closure = _oriented(connection, first, second, bounds)
        walked, past = as_read(closure)
        search = _Search(walked, _parts(closure, source), target.id)
        found: dict[Nodes, list[Nodes]] = {}
        for path in search.paths():
            found.setdefault(tuple(past.columns.get(node, node) for node in path), []).append(path)
            if len(found) == most:
                break
        cut = ("paths",) if search.gave_up else ()
        named = _named(connection, walked, past, found, bounds.as_of)
        return Paths(source, target, named, (*closure.truncated, *cut))


def _oriented(connection: Connection, one: Column, other: Column, bounds: Bounds) -> tuple[Column, Column, Closure]:
    """The ends in the direction of the data, and what is upstream of the second: edges of events go before guesses."""
    for guess in sorted({False, bounds.guess}):
        for source, target in ((one, other), (other, one)):
            closure = walk_nodes(connection, [target.node], Direction.UP, replace(bounds, guess=guess))
            if _parts(closure, source):
                whole = (
                    closure if guess is bounds.guess else walk_nodes(connection, [target.node], Direction.UP, bounds)
                )
                return source, target, whole
    return one, other, walk_nodes(connection, [other.node], Direction.UP, bounds)


def _parts(closure: Closure, column: Column) -> set[int]:
    """The nodes of a closure that are a column, within it, or around it."""
    id_, path = column.node
    nodes = (id_, *(one for one, node in closure.nodes.items() if node[0] == id_ and related(node[1], path)))
    return {one for one in nodes if one in closure.distance}


class _Search:
    """Best-first over beginnings of paths, by how long each must become: the shortest is found without detours."""

    def __init__(self, closure: Closure, sources: Collection[int], target: int) -> None:
        self._sources, self._target = sources, target
        self._steps = Steps(closure, Direction.UP)
        onward = Steps(closure, Direction.DOWN)
        begin = [(source, False) for source in sources]
        self._ahead = distances(_BEFORE, lambda node: begin if node == _BEFORE else onward.counted(node))
        self._queue: list[tuple[int, int, Nodes]] = []
        self.gave_up = False

    def paths(self) -> Iterator[Nodes]:
        if self._target in self._ahead:
            heappush(self._queue, (self._ahead[self._target], 0, (self._target,)))
        for _ in range(_MOST_TRIED):
            if not self._queue:
                return
            _, behind, path = heappop(self._queue)
            if path[-1] in self._sources:
                yield path[::-1]
            else:
                self._extend(-behind, path)
        self.gave_up = True

    def _extend(self, behind: int, path: Nodes) -> None:
        links = {node: link for node, link in self._steps(path[-1]) if node in self._ahead and node not in path}
        for node, link in links.items():
            far = behind + (link is not None)
            # Of paths of equal length the one nearest to its end goes first, hence the sign.
            heappush(self._queue, (far + self._ahead[node], -far, (*path, node)))


def _named(
    connection: Connection, walked: Closure, past: PastSteps, paths: Mapping[Nodes, list[Nodes]], at: int | None
) -> tuple[Path, ...]:
    steps = {step for some in paths.values() for path in some for step in pairwise(path)}
    links: dict[tuple[int, ...], list[Link]] = {}
    for row in walked.rows:
        if row[:2] in steps:
            links.setdefault(row[:2], []).append(Link(*past.real.get(row, row)))
    every = [link for some in links.values() for link in some]
    columns = names.columns(connection, {node for path in paths for node in path if node > 0}, at, walked.nodes)
    transformations = names.transformations(connection, {link.transformation for link in every}, walked.transformations)
    ends = dict.fromkeys((one.input, one.output, one.job) for one in every)
    hops = dict(zip(ends, named_hops(connection, every, columns, transformations, at), strict=True))

    def together(same: Iterable[tuple[int, ...]]) -> tuple[Hop, ...]:
        return tuple(dict.fromkeys(hops[one.input, one.output, one.job] for step in same for one in links[step]))

    return tuple(
        Path(
            tuple(columns[node] for node in path if node > 0),
            tuple(together(one) for one in zip(*map(pairwise, same), strict=True) if one[0] in links),
        )
        for path, same in paths.items()
    )
