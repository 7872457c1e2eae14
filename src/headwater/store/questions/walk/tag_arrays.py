"""The walk of a tag over edges in memory, by arrays: a level at a time, without a step of Python for each edge."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwater.store.graph.index.arrays import EdgeArrays

Ids = NDArray[Any]
Row = tuple[int, ...]

_NONE, _START = -2, -1
_UNKNOWN = -1
_FEW = 50  # a frontier of less than one in so many columns is sorted, a larger one is marked
_INPUT, _OUTPUT, _KIND, _JOB = range(4)


@dataclass(frozen=True)
class LinkedColumns(Mapping[int, Row | None]):
    """The columns of a walk in the order of its levels, each with a link that first led to it, None at the start."""

    row: Callable[[int], Row]
    links: Ids
    levels: list[Ids]

    @property
    def now(self) -> "LinkedColumns":
        """All of them: edges in memory are those of now."""
        return self

    @cached_property
    def reached(self) -> list[int]:
        """The columns without those of the start."""
        nodes = self._nodes
        found: list[int] = nodes[self.links[nodes] != _START].tolist()
        return found

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """By id, whether a column is one of them."""
        found: NDArray[np.bool_] = self.links != _NONE
        return found

    @cached_property
    def _nodes(self) -> Ids:
        return np.concatenate(self.levels) if self.levels else np.empty(0, np.int64)

    def __contains__(self, node: object) -> bool:
        return isinstance(node, int) and 0 <= node < len(self.links) and self.links[node] != _NONE

    def __getitem__(self, node: int) -> Row | None:
        if node not in self:
            raise KeyError(node)
        place = int(self.links[node])
        return None if place == _START else self.row(place)

    def __iter__(self) -> Iterator[int]:
        return iter(self._nodes.tolist())

    def __len__(self) -> int:
        return len(self._nodes)


@dataclass
class ArrayWalk:
    """Walks down current edges into fields, as `EdgeArrays` has them.

    Args:
        edges: of now.
        effect: from the id of a transformation to what flows over it, as a small number; 0 for nothing.
        jobs: nothing flows through these.
        fields: nothing flows into these.
    """

    edges: EdgeArrays
    effect: Callable[[int], int]
    jobs: Collection[int] = ()
    fields: Collection[int] = ()
    blocked: list[Row] = field(default_factory=list)
    """The links that these cut, of all walks so far."""

    def __post_init__(self) -> None:
        rows = sorted(row for own in self.edges.added.values() for row in own)
        self._added: Ids = np.array(rows, np.int64).reshape(-1, 4).T
        self._count = len(self.edges.inputs)
        ends = [self.edges.columns[_INPUT], self.edges.columns[_OUTPUT], self._added[_INPUT], self._added[_OUTPUT]]
        self._size = 1 + max((int(some.max()) for some in ends if len(some)), default=0)
        self._effects = np.full(1, _UNKNOWN, np.int8)

    def from_columns(self, start: Collection[int], passing: Collection[int]) -> tuple[LinkedColumns, Ids]:
        """Return what is behind some columns over links of these effects, and the links out of it of others."""
        nodes = np.array(sorted(node for node in start if node > 0), np.int64)
        self._size = max(self._size, int(nodes[-1]) + 1 if len(nodes) else 0)
        links = np.full(self._size, _NONE, np.int64)
        links[nodes] = _START
        return self._walk(links, nodes, passing, None)

    def from_links(self, places: Ids, first: int, passing: Collection[int], without: LinkedColumns) -> LinkedColumns:
        """Return what is behind those links that have one effect, and is none of some columns."""
        places = places[self._effects_of(places) == first]
        links = np.full(self._size, _NONE, np.int64)
        frontier = self._arrive(links, places, without.mask)
        return self._walk(links, frontier, passing, without.mask)[0]

    def _walk(
        self, links: Ids, frontier: Ids, passing: Collection[int], without: NDArray[np.bool_] | None
    ) -> tuple[LinkedColumns, Ids]:
        levels, rest = [], [np.empty(0, np.int64)]
        while len(frontier):
            levels.append(frontier)
            places = self._out_of(frontier)
            effects = self._effects_of(places)
            passes = np.isin(effects, list(passing))
            rest.append(places[~passes & (effects > 0)])
            frontier = self._arrive(links, places[passes], without)
        return LinkedColumns(self._row, links, levels), np.concatenate(rest)

    def _arrive(self, links: Ids, places: Ids, without: NDArray[np.bool_] | None) -> Ids:
        """Note the links to columns that are new; return these, in the order of ids."""
        ends = self._column(_OUTPUT, places)
        new = links[ends] == _NONE
        if without is not None:
            new &= ~without[ends]
        ends = ends[new]
        links[ends] = places[new]
        if len(ends) * _FEW < len(links):
            return np.unique(ends)
        marked = np.zeros(len(links), np.bool_)
        marked[ends] = True
        return np.flatnonzero(marked)

    def _out_of(self, frontier: Ids) -> Ids:
        """Return the places of the links out of sorted columns that no barrier cuts; added ones come last."""
        places = self.edges.places_from(frontier)
        if self._added.size:
            begins, ends = (np.searchsorted(self._added[_INPUT], frontier, side) for side in ("left", "right"))
            own = [np.arange(begin, end) for begin, end in zip(begins, ends, strict=True) if begin < end]
            places = np.concatenate([places, *(one + self._count for one in own)])
        if not self.jobs and not self.fields:
            return places
        cut = np.isin(self._column(_JOB, places), list(self.jobs))
        cut |= np.isin(self._column(_OUTPUT, places), list(self.fields))
        self.blocked += map(self._row, places[cut].tolist())
        return places[~cut]

    def _effects_of(self, places: Ids) -> Ids:
        kinds = self._column(_KIND, places)
        if len(kinds) and (most := int(kinds.max())) >= len(self._effects):
            more = np.full(2 * most + 1 - len(self._effects), _UNKNOWN, np.int8)
            self._effects = np.concatenate([self._effects, more])
        unknown = kinds[self._effects[kinds] == _UNKNOWN]
        for kind in np.unique(unknown).tolist():
            self._effects[kind] = self.effect(kind)
        found: Ids = self._effects[kinds]
        return found

    def _column(self, number: int, places: Ids) -> Ids:
        own = self.edges.columns[number]
        if not self._added.size:
            return own[places]
        found = np.empty(len(places), np.int64)
        old = places < self._count
        found[old], found[~old] = own[places[old]], self._added[number][places[~old] - self._count]
        return found

    def _row(self, place: int) -> Row:
        columns = self.edges.columns if place < self._count else self._added
        place = place if place < self._count else place - self._count
        return tuple(int(columns[number][place]) for number in range(4))
