"""The walk of a tag to very many columns, a level at a time: over edges in memory, or in the database.

Of edges in the database come only the ends and the transformations: a link of four numbers as a tuple of Python takes
longer than the database to find it. Where a tag arrives is held as numbers of steps, and paths are found when they are
asked for.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Tables
from headwater.store.questions.walk.edges import Edges, EdgesInMemory, Row
from headwater.store.questions.walk.guesses import GUESS_ID, Guess
from headwater.store.questions.walk.past_steps import FIRST_NODE, PastSteps
from headwater.store.questions.walk.tag_reach import FAR, PASSING, Distances, LinksNear, TagReach
from headwater.store.questions.walk.tag_walk import Arriving, Barriers
from headwater.store.sql.database import AT_ONCE
from headwater.store.sql.databases import Lookup

Ids = NDArray[np.int64]
Out = tuple[Ids, NDArray[np.int8]]
_FIELD = schema.field
_COLUMNS_OF = Lookup(select(_FIELD.c.id, _FIELD.c.dataset_id), _FIELD.c.dataset_id)
_NUMBERS: dict[Arriving | None, int] = {None: 0, Arriving.VALUE: 1, Arriving.MASKED: 2, Arriving.INFLUENCE: 3}
_UNKNOWN = -1
_CLOSE = 2  # of the fields between the first and the last of some, at least one in so many is among them
_FEW = 50  # a level of less than one in so many columns is sorted, a larger one is marked


def reach_in_blocks(
    start: Collection[int], barriers: Barriers, links: LinksNear, edges: Edges | EdgesInMemory
) -> TagReach:
    """Return where a tag on some columns arrives over links, which are these edges and steps over past links."""

    def number_of(kind: int) -> int:
        followed = isinstance(edges, Edges) or edges.follows(kind)
        return _NUMBERS[links.effect(kind)] if followed else 0

    walk = _BlockWalk(links.connection, edges, number_of, barriers, links.past)
    values, rest = walk.onwards(_ids(start), 0, {Arriving.VALUE}, None)
    found = {Arriving.VALUE: values}
    for kind in (Arriving.MASKED, Arriving.INFLUENCE):
        found[kind], _ = walk.onwards(rest[kind], 1, PASSING[kind], values)
    distances = {kind: Distances.of(one.fields, one.datasets, one.past) for kind, one in found.items()}
    return TagReach(frozenset(start), distances, barriers)


@dataclass
class _BlockWalk:
    connection: Connection
    edges: Edges | EdgesInMemory
    number_of: Callable[[int], int]
    barriers: Barriers
    past: PastSteps
    _numbers: NDArray[np.int8] = field(default_factory=lambda: np.full(1, _UNKNOWN, np.int8))

    def __post_init__(self) -> None:
        self._size = 1 + (self.connection.execute(select(func.max(_FIELD.c.id))).scalar() or 0)
        self._guesses: dict[int, set[Guess]] = {}
        for one in self.edges.guesses():
            self._guesses.setdefault(one.input, set()).add(one)
        rows = _COLUMNS_OF.bare(self.connection, self._guesses) if self._guesses else []
        self._guessed = dict(rows)
        self._guessed_from = np.array(sorted(self._guessed), np.int64)
        self._past_from = np.array(sorted(node for node in self.past.links if node < FIRST_NODE), np.int64)
        self._cut = self.barriers.before(self.past)

    def onwards(
        self, frontier: Ids, steps: int, passing: Collection[Arriving], without: Distances | None
    ) -> tuple[Distances, dict[Arriving, Ids]]:
        """Return the columns behind some, and those at which something else arrives first.

        ``frontier`` are columns, or by a minus sign whole datasets, so many ``steps`` away.
        """
        fields, datasets, past = (
            np.full(self._size if len(frontier) else 0, FAR, np.int32),
            dict[int, int](),
            dict[int, int](),
        )
        rest: dict[Arriving, list[Ids]] = {kind: [] for kind in Arriving if kind not in passing}
        passed = np.isin(range(len(_NUMBERS)), [_NUMBERS[kind] for kind in passing])
        spread: set[int] = set()
        while len(frontier):
            frontier, bare = self._spread(frontier, spread)
            datasets |= {-one: steps for one in bare if without is None or -one not in without.datasets}
            nodes = set(frontier[frontier >= FIRST_NODE].tolist()).difference(
                past, () if without is None else without.past
            )
            past |= dict.fromkeys(nodes, steps)
            frontier = frontier[frontier < FIRST_NODE]
            frontier = frontier[fields[frontier] == FAR]
            if without is not None:
                frontier = frontier[without.fields[frontier] == FAR]
            fields[frontier] = steps
            dense = len(frontier) * _FEW > self._size
            frontier = np.flatnonzero(fields == steps) if dense else np.unique(frontier)
            steps += 1
            following: list[Ids] = []
            for outputs, numbers in chain(self._out_of(frontier), self._over_past(frontier, nodes)):
                passes = passed[numbers]
                following.append(outputs if passes.all() else outputs[passes])
                for kind in rest if len(following[-1]) < len(outputs) else ():
                    rest[kind].append(outputs[numbers == _NUMBERS[kind]])
            frontier = _joined(following)
        return Distances(fields, datasets, past), {kind: _joined(some) for kind, some in rest.items()}

    def _spread(self, frontier: Ids, spread: set[int]) -> tuple[Ids, set[int]]:
        """Return columns for whole datasets, of each once; and those of which no column is known."""
        datasets = frontier < 0
        if not datasets.any():
            return frontier, set()
        whole = set((-frontier[datasets]).tolist()) - spread
        spread |= whole
        rows = _COLUMNS_OF.bare(self.connection, whole) if whole else []
        columns = np.array([node for node, _ in rows if node not in self.barriers.fields], np.int64)
        return np.concatenate([frontier[frontier > 0], columns]), whole - {dataset for _, dataset in rows}

    def _out_of(self, frontier: Ids) -> Iterator[Out]:
        """Yield the ends of the links of now out of columns, and for each the number of what flows over it."""
        if isinstance(self.edges, EdgesInMemory):
            for sign, arrays in self.edges.arrays:
                outputs, *how = arrays.columns_from(frontier, (1, 2, 3) if self.barriers else (1, 2))
                yield self._uncut(sign * outputs, *how)
        else:
            yield from self._in_tables(self.edges, frontier)
        if len(self._guessed_from):
            read = {self._guessed[one] for one in np.intersect1d(frontier, self._guessed_from).tolist()}
            yield self._listed([(0, -one.output, GUESS_ID, one.job) for some in read for one in self._guesses[some]])

    def _in_tables(self, edges: Edges, frontier: Ids) -> Iterator[Out]:
        parts = [frontier[begin : begin + AT_ONCE] for begin in range(0, len(frontier), AT_ONCE)]
        for tables in (FIELD_EDGES, DATASET_EDGES) if edges.whole else (FIELD_EDGES,):
            for some in parts:
                for columns in self._of_tables(edges, tables, some):
                    yield self._uncut(*columns)

    def _of_tables(self, edges: Edges, tables: Tables, inputs: Ids) -> Iterator[list[Ids]]:
        """Yield ends, transformations and perhaps jobs, by ranges of ids where most of these are among the columns."""
        jobs, first, last = bool(self.barriers), int(inputs[0]), int(inputs[-1])
        if last - first >= len(inputs) * _CLOSE:
            for columns in edges.ends_out_of(tables, inputs.tolist(), jobs=jobs):
                yield [np.array(column, np.int64) for column in columns]
            return
        for texts in edges.ends_between(tables, first, last, jobs=jobs):
            *ends, own = (np.fromstring(one[1:-1], np.int64, sep=",") for one in texts)
            wanted = np.isin(own, inputs, kind="table")
            yield [one[wanted] for one in ends]

    def _over_past(self, frontier: Ids, nodes: Collection[int]) -> Iterator[Out]:
        """Yield the same of steps over past links, out of columns and nodes."""
        if self.past:
            near = [*nodes, *np.intersect1d(frontier, self._past_from).tolist()]
            yield self._listed([step for node in near for step in self.past.out_of(node)])

    def _listed(self, rows: list[Row]) -> Out:
        columns = np.array(rows, np.int64).reshape(-1, 4).T
        return self._uncut(*columns[1:])

    def _uncut(self, outputs: Ids, kinds: Ids, jobs: Ids | None = None) -> Out:
        """Return the ends of the links that nothing cuts, with the numbers of what flows over them."""
        if jobs is not None and self.barriers:
            cut = np.isin(jobs, list(self._cut.jobs)) | np.isin(outputs, list(self._cut.fields))
            outputs, kinds = outputs[~cut], kinds[~cut]
        return outputs, self._numbers_of(kinds)

    def _numbers_of(self, kinds: Ids) -> NDArray[np.int8]:
        if len(kinds) and (most := int(kinds.max())) >= len(self._numbers):
            more = np.full(2 * most + 1 - len(self._numbers), _UNKNOWN, np.int8)
            self._numbers = np.concatenate([self._numbers, more])
        for kind in set(kinds[self._numbers[kinds] == _UNKNOWN].tolist()):
            self._numbers[kind] = self.number_of(kind)
        return self._numbers[kinds]


def _ids(nodes: Iterable[int]) -> Ids:
    return np.fromiter(nodes, np.int64)


def _joined(parts: list[Any]) -> Ids:
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, np.int64), *parts])
