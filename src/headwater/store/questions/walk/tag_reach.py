"""Where tags arrive, as numbers of steps: brought up to date from the columns whose links have changed.

Of each column is held how many steps it is away from the tagged ones, and no link: paths are found when somebody asks
for them. A change is followed as Ramalingam and Reps do (An Incremental Algorithm for a Generalization of the
Shortest-Path Problem, 1996): columns whose number is not one more than the smallest before them are corrected in the
order of these numbers, and then what is behind them. So only what has really changed is looked at.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from headwater.store import schema
from headwater.store.questions.answers import Direction
from headwater.store.questions.walk.edges import AnyEdges, Row
from headwater.store.questions.walk.past_steps import FIRST_NODE, PastSteps
from headwater.store.questions.walk.tag_walk import NO_BARRIERS, Arriving, Barriers, Effect, Flow, owners_of
from headwater.store.sql.databases import Lookup

FAR = int(np.iinfo(np.int32).max)
"""The number of steps to where a tag does not arrive."""

MOST_OTHERS = 5_000
"""Numbers of columns beside those of all; behind more of them all are copied."""

_FIELD = schema.field
_COLUMNS_OF = Lookup(select(_FIELD.c.id, _FIELD.c.dataset_id), _FIELD.c.dataset_id)
PASSING = {
    Arriving.VALUE: {Arriving.VALUE},
    Arriving.MASKED: {Arriving.VALUE, Arriving.MASKED},
    Arriving.INFLUENCE: set(Arriving),
}
Ids = NDArray[Any]
Steps = Callable[[int], int]


@dataclass(frozen=True, eq=False)
class Distances(Mapping[int, int]):
    """The columns at which something arrives, each with its number of steps.

    ``fields`` has it by the ids of fields, except for those in ``others``, which are few: so an event costs no copy of
    all. ``datasets`` has it by the ids of those of which no column is known, and ``past`` by the nodes of past links,
    which are no columns of now. ``count`` is how many fields are reached.
    """

    fields: NDArray[np.int32]
    datasets: Mapping[int, int] = field(default_factory=dict)
    past: Mapping[int, int] = field(default_factory=dict)
    others: Mapping[int, int] = field(default_factory=dict)
    count: int = 0

    @classmethod
    def of(cls, fields: NDArray[np.int32], datasets: Mapping[int, int], past: Mapping[int, int]) -> "Distances":
        """Return them for the numbers of all fields; of a few without an array, which would be as long as the last."""
        reached = np.flatnonzero(fields != FAR)
        if len(reached) > MOST_OTHERS // 2:
            return cls(fields, datasets, past, count=len(reached))
        others = dict(zip(reached.tolist(), fields[reached].tolist(), strict=True))
        return cls(fields[:0], datasets, past, others, len(others))

    def __getitem__(self, node: int) -> int:
        if node < 0 or node >= FIRST_NODE:
            return (self.datasets if node < 0 else self.past).get(node, FAR)
        if node in self.others:
            return self.others[node]
        return int(self.fields[node]) if node < len(self.fields) else FAR

    def __contains__(self, node: object) -> bool:
        return isinstance(node, int) and self[node] != FAR

    def __iter__(self) -> Iterator[int]:
        """Yield the columns that are the fewest steps away first."""
        yield from self.datasets
        yield from self._nearest_first(-1)

    def __len__(self) -> int:
        return self.count + len(self.datasets)

    @property
    def now(self) -> "Distances":
        """Those at which it arrives now."""
        return self

    @property
    def reached(self) -> list[int]:
        """The columns without those of the start."""
        return [*(node for node, steps in self.datasets.items() if steps), *self._nearest_first(0)]

    def has_any(self, fields: Ids, past: Collection[int]) -> bool:
        """Whether it arrives at one of some fields or nodes of past links."""
        known = fields[fields < len(self.fields)]
        reached: list[int] = known[self.fields[known] != FAR].tolist()
        return (
            any(node not in self.others for node in reached)
            or any(self.others.get(node, FAR) != FAR for node in (fields.tolist() if self.others else ()))
            or not self.past.keys().isdisjoint(past)
        )

    def _nearest_first(self, beyond: int) -> list[int]:
        """Return the fields that are more than so many steps away."""
        fields = self._every(self.others)
        nodes = np.flatnonzero((fields != FAR) & (fields > beyond))
        found: list[int] = nodes[np.argsort(fields[nodes], kind="stable")].tolist()
        return found

    def _every(self, others: Mapping[int, int]) -> NDArray[np.int32]:
        """Return the numbers of all fields, with others for some."""
        if not others:
            return self.fields
        fields = np.full(max(len(self.fields), 1 + max(others)), FAR, np.int32)
        fields[: len(self.fields)] = self.fields
        fields[list(others)] = list(others.values())
        return fields

    def after(self, changes: Mapping[int, int]) -> "Distances":
        """Return the numbers after some have become others."""
        if not changes:
            return self
        own = {node: steps for node, steps in changes.items() if 0 < node < FIRST_NODE}
        datasets = {node: steps for node, steps in {**self.datasets, **changes}.items() if node < 0 and steps != FAR}
        past = {**self.past, **{node: steps for node, steps in changes.items() if node >= FIRST_NODE}}
        past = {node: steps for node, steps in past.items() if steps != FAR}
        others = {**self.others, **own}
        if not len(self.fields):
            others = {node: steps for node, steps in others.items() if steps != FAR}
        if len(others) > MOST_OTHERS:
            return Distances.of(self._every(others), datasets, past)
        more = sum((steps != FAR) - (self[node] != FAR) for node, steps in own.items())
        return Distances(self.fields, datasets, past, others, self.count + more)


class TagReach(NamedTuple):
    """The columns with a tag, where it arrives, and what keeps it from flowing on."""

    start: frozenset[int]
    distances: Mapping[Arriving, Distances]
    barriers: Barriers = NO_BARRIERS

    def tagged_anew(self, start: frozenset[int]) -> frozenset[int]:
        """Return the columns with the tag either then or now; of many it takes milliseconds to compare them."""
        return frozenset() if self.start is start else self.start ^ start

    def arrives_at_any(self, nodes: Ids) -> bool:
        """Whether anything of the tag arrives at one of some nodes, or at a dataset without known columns."""
        fields, past = nodes[nodes < FIRST_NODE], nodes[nodes >= FIRST_NODE].tolist()
        return any(one.datasets or one.has_any(fields, past) for one in self.distances.values())


@dataclass
class LinksNear:
    """Links into and out of columns, each read once.

    ``effects`` of transformations and ``columns_of`` datasets may be known from others before; ``past`` are steps over
    past links, which are links, too.
    """

    connection: Connection
    edges: AnyEdges
    effect: Effect
    effects: dict[int, Arriving | None] = field(default_factory=dict)
    columns_of: dict[int, list[int]] = field(default_factory=dict)
    past: PastSteps = field(default_factory=PastSteps)
    _into: dict[int, list[Row]] = field(default_factory=dict)
    _of_dataset: dict[int, list[Row]] = field(default_factory=dict)
    _out: dict[int, set[int]] = field(default_factory=dict)
    _owners: dict[int, int] = field(default_factory=dict)
    _nodes: Collection[int] = ()
    _beside: Ids = field(default_factory=lambda: np.empty(0, np.int64))

    def load(self, nodes: Iterable[int]) -> None:
        """Read the links into some columns."""
        new = {node for node in nodes if node not in self._into}
        if not new:
            return
        self._into |= {node: [] for node in new}
        self._owners |= {node: -node for node in new if node < 0}
        fields = {node for node in new if 0 < node < FIRST_NODE}
        self._owners |= owners_of(self.connection, fields)
        datasets = {self._owners[node] for node in new if node in self._owners} - self._of_dataset.keys()
        self._of_dataset |= {one: [] for one in datasets}
        self._add(self._into, 1, self.edges.of_fields(Direction.UP, fields).links)
        if self.edges.whole:
            self._add(self._of_dataset, -1, self.edges.of_datasets(Direction.UP, datasets).links)
        self.columns({-node for node in new if node < 0})

    def _add(self, into: dict[int, list[Row]], sign: int, rows: Iterable[Row]) -> None:
        for row in rows:
            into[sign * row[1]].append(row)

    def every_into(self, node: int) -> Iterator[Row]:
        """Yield the links into a column that was loaded."""
        owner = self._owners.get(node, 0)
        yield from self._into[node]
        yield from self._of_dataset.get(owner, ())
        if self.past:
            yield from self.past.into(node)
            yield from self.past.into(-owner)

    def into(self, node: int, barriers: Barriers = NO_BARRIERS) -> Iterator[tuple[Row, Arriving]]:
        """Yield the links into a column that was loaded and that nothing cuts, with what flows over them."""
        if (node < 0 and self.columns_of[-node]) or self.past.columns.get(node, node) in barriers.fields:
            return
        for row in self.every_into(node):
            if row[2] not in self.effects:
                self.effects[row[2]] = self.effect(row[2])
            effect = self.effects[row[2]]
            if effect is not None and row[3] not in barriers.jobs:
                yield row, effect

    def beside(self, nodes: Collection[int]) -> Ids:
        """Return some columns with those that links into them come from."""
        if nodes is not self._nodes:
            self.load(nodes)
            sources = {row[0] for node in nodes for row, _ in self.into(node)}
            self._nodes, self._beside = nodes, np.array([node for node in sources.union(nodes) if node > 0], np.int64)
        return self._beside

    def columns(self, datasets: Collection[int]) -> set[int]:
        """Return the columns of some datasets; one of which none is known by its id with a minus sign."""
        new = set(datasets) - self.columns_of.keys()
        self.columns_of |= {one: [] for one in new}
        for node, dataset in _COLUMNS_OF.bare(self.connection, new) if new else ():
            self.columns_of[dataset].append(node)
        return {node for one in datasets for node in self.columns_of[one] or (-one,)}

    def out_of(self, fields: Collection[int]) -> list[Row]:
        """Return the links of now out of some columns."""
        found = self.edges.of_fields(Direction.DOWN, fields).links
        return [*found, *self.edges.of_datasets(Direction.DOWN, fields).links] if self.edges.whole else found

    def behind(self, nodes: Collection[int]) -> set[int]:
        """Return the columns that links out of some lead to."""
        new = {node for node in nodes if 0 < node < FIRST_NODE} - self._out.keys()
        self._out |= {node: set() for node in new}
        for source, output, *_ in self.out_of(new) if new else ():
            self._out[source].add(output)
        ends = {end for node in nodes for end in self._out.get(node, ())}
        ends.update(step[1] for step in chain.from_iterable(map(self.past.out_of, nodes)))
        return {end for end in ends if end > 0} | self.columns({-end for end in ends if end < 0})


def updated(reach: TagReach, start: frozenset[int], near: Collection[int], links: LinksNear) -> TagReach:
    """Return where a tag arrives now.

    Args:
        reach: as it was.
        start: the columns with the tag now.
        near: all columns whose links may be other ones than then.
        links: those of now.
    """
    tagged = reach.tagged_anew(start)
    if not tagged and not reach.arrives_at_any(links.beside(near)):
        return reach
    values, draft = reach.distances[Arriving.VALUE], dict[int, int]()

    def of_value(node: int) -> int:
        if node in start:
            return 0
        least = FAR - 1
        for row, effect in links.into(node, reach.barriers):
            if effect is Arriving.VALUE:
                source = row[0]
                least = min(least, draft[source] if source in draft else values[source])
        return least + 1

    _correct(draft, values, {*near, *tagged}, of_value, links)
    found = {Arriving.VALUE: values.after(draft)}
    beyond = {*near, *draft, *links.behind(draft)}
    for kind in (Arriving.MASKED, Arriving.INFLUENCE):
        found[kind] = _less(kind, reach, found[Arriving.VALUE], beyond, links)
    return reach._replace(start=start, distances=found)


def _less(kind: Arriving, reach: TagReach, values: Distances, near: Collection[int], links: LinksNear) -> Distances:
    """Return where less than the value arrives."""
    draft: dict[int, int] = {}
    old, passing = reach.distances[kind], PASSING[kind]

    def steps(node: int) -> int:
        if values[node] != FAR:
            return FAR
        least = FAR - 1
        for row, effect in links.into(node, reach.barriers):
            source = row[0]
            if effect is kind and values[source] != FAR:
                return 1
            if effect in passing:
                least = min(least, draft[source] if source in draft else old[source])
        return least + 1

    if old or old.past or kind in links.effects.values():
        _correct(draft, old, near, steps, links)
    return old.after(draft)


def _correct(draft: dict[int, int], old: Distances, near: Collection[int], steps: Steps, links: LinksNear) -> None:
    """Correct the numbers of some columns, and of all behind them that are other ones then."""
    waiting: dict[int, set[int]] = {}

    def look_at(nodes: Collection[int]) -> None:
        links.load(nodes)
        for node in nodes:
            present, right = draft.get(node, old[node]), steps(node)
            if present != right:
                waiting.setdefault(min(present, right), set()).add(node)

    look_at(near)
    while waiting:
        least = min(waiting)
        moved, again = set(), set()
        for node in waiting.pop(least):
            present, right = draft.get(node, old[node]), steps(node)
            if min(present, right) > least:
                again.add(node)
            elif present != right:
                draft[node] = right if right < present else FAR  # one that is too small first counts for nothing
                moved.add(node)
        look_at(moved | again | links.behind(moved))


def flow_of(reach: TagReach, links: LinksNear) -> Flow:
    """Return where a tag arrives, with paths and cut links that are found when they are asked for."""

    def link_to(node: int, kind: Arriving) -> tuple[Row, Arriving] | None:
        """Return a link by which a column is reached in the fewest steps, and what has arrived before it."""
        values, own = reach.distances[Arriving.VALUE], reach.distances[kind]
        if not own[node]:
            return None
        found = []
        for row, effect in links.into(node, reach.barriers):
            if effect is kind is not Arriving.VALUE and own[node] == 1 and row[0] in values:
                found.append((values[row[0]], row, Arriving.VALUE))
            elif effect in PASSING[kind] and own[row[0]] == own[node] - 1:
                found.append((0, row, kind))
        return min(found)[1:]

    def paths(nodes: Collection[int], kind: Arriving) -> dict[int, list[Row]]:
        found: dict[tuple[int, Arriving], tuple[Row, Arriving] | None] = {}
        frontier = {(node, kind) for node in nodes}
        while frontier:
            links.load({node for node, _ in frontier})
            found |= {place: link_to(*place) for place in frontier}
            before = (found[place] for place in frontier)
            frontier = {(one[0][0], one[1]) for one in before if one is not None} - found.keys()
        real = links.past.real
        return {node: [real.get(row, row) for row in _traced(found, (node, kind))] for node in nodes}

    def cut() -> tuple[Row, ...]:
        arrived = {node for one in reach.distances.values() for node in one if node > 0}
        past = links.past
        nodes = arrived.union(*(one.past for one in reach.distances.values()))
        steps = (step for node in nodes for step in past.out_of(node) if past.leads_to_columns(step[1]))
        own = dict.fromkeys(
            past.real.get(row, row) for row in (*links.out_of(arrived), *steps) if _is_cut(reach, row, links)
        )
        return tuple(own)

    return Flow(reach.distances, trace=paths, cut=cut)


def _is_cut(reach: TagReach, row: Row, links: LinksNear) -> bool:
    """Whether a link is cut; one into a whole dataset over which something flows, where one of its columns is."""
    if row[3] in reach.barriers.jobs or row[1] > 0:
        return row[3] in reach.barriers.jobs or links.past.columns.get(row[1], row[1]) in reach.barriers.fields
    effect = links.effect(row[2])
    kinds = [kind for kind, own in reach.distances.items() if row[0] in own]
    flows = effect in {
        passing for kind in kinds for passing in (set(Arriving) if kind is Arriving.VALUE else PASSING[kind])
    }
    return flows and not reach.barriers.fields.isdisjoint(links.columns((-row[1],)))


def _traced(
    links_to: Mapping[tuple[int, Arriving], tuple[Row, Arriving] | None], place: tuple[int, Arriving]
) -> list[Row]:
    links: list[Row] = []
    while (last := links_to[place]) is not None:
        links.append(last[0])
        place = (last[0][0], last[1])
    return links[::-1]
