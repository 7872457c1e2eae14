"""Where tags of columns flow: down the edges, apart by whether the value, a masked form or only influence arrives.

A walk in ids, level by level; each column is visited once for each of the three, however many paths there are.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain
from typing import Any, Protocol

from sqlalchemy import Connection, select

from headwater.model import Transformation
from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES
from headwater.store.questions.answers import Bounds, Direction, Node
from headwater.store.questions.walk.edges import AnyEdges, LinkEnds, Row
from headwater.store.questions.walk.past import PastLinks
from headwater.store.questions.walk.past_steps import FIRST_NODE, PastSteps
from headwater.store.sql.database import AT_ONCE
from headwater.store.sql.databases import Lookup, rows_for

_FIELD, _REPLACED = schema.field, schema.replacement
_COLUMNS_OF = Lookup(select(_FIELD.c.id, _FIELD.c.dataset_id), _FIELD.c.dataset_id)
_OWNER_OF = Lookup(select(_FIELD.c.id, _FIELD.c.dataset_id), _FIELD.c.id)


class Arriving(str, Enum):
    """The part of a tagged column that arrives at another: its value, the value behind masking, or influence."""

    VALUE = "value"
    MASKED = "masked"
    INFLUENCE = "influence"


Effect = Callable[[int], "Arriving | None"]
"""From the id of a transformation to what arrives behind it; None for nothing."""


@dataclass(frozen=True, slots=True)
class Barriers:
    """The ids of jobs and fields that a tag does not flow through, and not into."""

    jobs: frozenset[int] = frozenset()
    fields: frozenset[int] = frozenset()

    def cut(self, link: Row) -> bool:
        """Whether nothing flows over a link."""
        return link[3] in self.jobs or link[1] in self.fields

    def before(self, past: PastSteps) -> "Barriers":
        """Return them with the nodes of past links into their fields."""
        return replace(self, fields=self.fields | {node for node, one in past.columns.items() if one in self.fields})

    def __bool__(self) -> bool:
        return bool(self.jobs or self.fields)


NO_BARRIERS = Barriers()

Arrivals = dict[int, Row | None]
"""Columns with the link that first led to each, None at the start.

A dataset of which no column is known stands among them, by its id with a minus sign.
"""


@dataclass(slots=True)
class Arrived:
    """The columns at which something arrives, and the past links by which it did when somebody read their outputs.

    The latter are nodes of `headwater.store.questions.walk.past_steps`.
    """

    now: Arrivals = field(default_factory=dict)
    past: Arrivals = field(default_factory=dict)

    def __contains__(self, node: int) -> bool:
        return node in self.now or node in self.past

    def __getitem__(self, node: int) -> Row | None:
        return self.now[node] if node in self.now else self.past[node]


class ArrivedColumns(Protocol):
    """The columns at which something arrives."""

    @property
    def now(self) -> Mapping[int, Any]:
        """Those at which it arrives now."""

    def __contains__(self, node: int) -> bool:
        """Whether it arrives there, or did."""

    def __getitem__(self, node: int) -> Any:
        """Return the link that first led to a column, None at the start; or the number of steps to it."""


Trace = Callable[[Collection[int], Arriving], dict[int, list[Row]]]


@dataclass(frozen=True, slots=True)
class Flow:
    """The columns that a tag arrives at, by what arrives; ``blocked`` are links that barriers cut.

    ``trace`` finds the links to columns where the flow has none, ``cut`` those that barriers cut. Where fields within
    columns were followed (`headwater.store.questions.walk.tag_leaves`), ``nodes`` are these by their ids, and
    ``transformations`` those of the links between them. ``past`` are the steps over past links.
    """

    arrived: Mapping[Arriving, ArrivedColumns]
    blocked: tuple[Row, ...] = ()
    trace: Trace | None = None
    cut: Callable[[], tuple[Row, ...]] | None = None
    nodes: Mapping[int, Node] = field(default_factory=dict)
    transformations: Mapping[int, Transformation] = field(default_factory=dict)
    past: PastSteps | None = None

    def place(self, id_: int) -> Node:
        """Return the column of an id, and the path of the field within it."""
        return self.nodes.get(id_, (id_, ()))

    def begins(self) -> int:
        """Return the number of columns, and fields within, that have the tag."""
        return len(self.arrived[Arriving.VALUE].now) - len(self._reached(Arriving.VALUE))

    def cut_links(self) -> tuple[Row, ...]:
        """Return the links that barriers cut."""
        return self.blocked if self.cut is None else self.cut()

    def reached(self, arriving: Arriving) -> list[int]:
        """Return the columns at which that arrives, without those of the start.

        A field is left out where as much arrives at all that it is within.
        """
        reached = self._reached(arriving)
        if not self.nodes:
            return reached
        have = {self.place(one) for kind in (Arriving.VALUE, arriving) for one in self.arrived[kind].now}
        places = {one: self.place(one) for one in reached}
        return [
            one
            for one, (column, path) in places.items()
            if not any((column, path[:end]) in have for end in range(len(path)))
        ]

    def _reached(self, arriving: Arriving) -> list[int]:
        now = self.arrived[arriving].now
        reached: list[int] | None = getattr(now, "reached", None)  # of arrays, which are faster than their items
        return reached if reached is not None else [node for node, row in now.items() if row is not None]

    def paths(self, nodes: Collection[int], arriving: Arriving) -> dict[int, list[Row]]:
        """Return the links from the start to each of some columns.

        Those of values are as few as can be; of others, those behind the last column with the value are.
        """
        if self.trace is not None:
            return self.trace(nodes, arriving)
        return {node: self._path(node, arriving) for node in nodes}

    def _path(self, node: int, arriving: Arriving) -> list[Row]:
        links: list[Row] = []
        values, own = self.arrived[Arriving.VALUE], self.arrived[arriving]
        row = own[node]
        while row is not None:
            links.append(row if self.past is None else self.past.real.get(row, row))
            row = values[row[0]] if row[0] in values else own[row[0]]
        return links[::-1]


class DownEdges(Protocol):
    """The edges that a walk follows."""

    @property
    def whole(self) -> bool:
        """Whether there is any edge to a whole dataset."""

    def of_fields(self, direction: Direction, fields: Collection[int]) -> LinkEnds:
        """Return the edges at some columns."""

    def of_datasets(self, direction: Direction, ids: Collection[int]) -> LinkEnds:
        """Return the edges to whole datasets."""


class TooManyColumns(Exception):
    """A walk has more columns than it was to have."""


_NOWHERE = Arrived()


@dataclass(slots=True)
class Walker:
    """Walks from column to column, row by row; ``most`` is how many columns it may reach.

    Raises:
        TooManyColumns: there are more.
    """

    connection: Connection
    edges: DownEdges
    effect: Effect
    barriers: Barriers
    past: PastSteps | None = None
    most: int | None = None
    _effects: dict[int, Arriving | None] = field(default_factory=dict)
    _blocked: list[Row] = field(default_factory=list)

    def flow(self, start: Collection[int]) -> Flow:
        """Return the flow from columns: values first, as masked is only what has no value."""
        rest: list[Row] = []
        values = Arrived(dict.fromkeys(start))
        self._fill(values, list(start), {Arriving.VALUE}, rest)
        masked = self._beyond(values, rest, Arriving.MASKED, {Arriving.VALUE, Arriving.MASKED})
        influenced = self._beyond(values, rest, Arriving.INFLUENCE, set(Arriving))
        arrived = {Arriving.VALUE: values, Arriving.MASKED: masked, Arriving.INFLUENCE: influenced}
        real = {} if self.past is None else self.past.real
        return Flow(arrived, tuple(real.get(row, row) for row in self._blocked), past=self.past)

    def _beyond(self, values: Arrived, rows: Iterable[Row], first: Arriving, passing: set[Arriving]) -> Arrived:
        """Return what is behind links out of the columns with the value, over which less than the value flows."""
        found = Arrived()
        begin = [row for row in rows if self._effects[row[2]] is first]
        self._fill(found, self._arrive(found, begin, values), passing, [], values)
        return found

    def _fill(
        self,
        arrived: Arrived,
        frontier: Collection[int],
        passing: set[Arriving],
        rest: list[Row],
        without: Arrived = _NOWHERE,
    ) -> None:
        """Walk on from a frontier; ``rest`` gets the links over which something else than ``passing`` flows."""
        while frontier:
            if self.most is not None and len(arrived.now) > self.most:
                raise TooManyColumns
            rows = self._rows(frontier)
            effects = {row[2]: self._effects[row[2]] for row in rows}
            if not passing.issuperset(effects.values()):
                rest += [row for row in rows if effects[row[2]] is not None and effects[row[2]] not in passing]
                rows = [row for row in rows if effects[row[2]] in passing]
            frontier = self._arrive(arrived, rows, without)

    def _rows(self, frontier: Collection[int]) -> list[Row]:
        """Return the links out of columns that no barrier cuts."""
        columns = frontier if self.past is None else [node for node in frontier if node < FIRST_NODE]
        rows = self.edges.of_fields(Direction.DOWN, columns).links
        if self.edges.whole:
            rows = [*rows, *self.edges.of_datasets(Direction.DOWN, columns).links]
        if self.past is not None:
            rows = [*rows, *chain.from_iterable(map(self.past.out_of, frontier))]
        for transformation in {row[2] for row in rows} - self._effects.keys():
            self._effects[transformation] = self.effect(transformation)
        if not self.barriers:
            return rows
        cut = set(filter(self.barriers.cut, rows))
        self._blocked += cut
        return [row for row in rows if row not in cut]

    def _arrive(self, arrived: Arrived, rows: Collection[Row], without: Arrived) -> Collection[int]:
        """Add the ends of links, those of whole datasets as their columns; return the new ones."""
        if self.past is None:
            return self._join(arrived.now, rows, without.now)
        new = self._join(arrived.now, [row for row in rows if row[1] < FIRST_NODE], without.now)
        return [*new, *self._join(arrived.past, [row for row in rows if row[1] >= FIRST_NODE], without.past)]

    def _join(self, into: Arrivals, rows: Iterable[Row], without: Arrivals) -> Collection[int]:
        # Large walks spend their time here: what is done once for each link is left to dict and set.
        ends = {row[1]: row for row in rows}
        if self.edges.whole:
            self._spread_over_columns(into, ends)
        new = [node for node in ends if node not in into and node not in without]
        into.update((node, ends[node]) for node in new)
        return new

    def _spread_over_columns(self, into: Arrivals, ends: dict[int, Row]) -> None:
        """Replace whole datasets by their columns; one of which no column is known arrives as it is."""
        whole = {-node: ends.pop(node) for node in [node for node in ends if node < 0]}
        columns = _COLUMNS_OF.bare(self.connection, whole) if whole else []
        for bare in whole.keys() - {dataset for _, dataset in columns}:
            ends[-bare] = whole[bare]
        for node, dataset in columns:
            if node in self.barriers.fields:
                self._blocked.append(whole[dataset])
            else:
                ends.setdefault(node, whole[dataset])


def owners_of(connection: Connection, fields: Collection[int]) -> dict[int, int]:
    """Return the datasets of fields."""
    return dict(_OWNER_OF.bare(connection, {one for one in fields if one > 0}))


def ended_links_from(connection: Connection, edges: AnyEdges, near: Collection[int]) -> list[Row]:
    """Return the links that may have read what is gone by now, of what some columns had once led to.

    These are links out of what was replaced: of all of it where that is less than is near, else of what is behind links
    that have ended.
    """
    replaced = _replaced_columns(connection, len(near))
    behind = _behind(connection, edges, near) if replaced is None else replaced
    down = Direction.DOWN
    return [*edges.of_fields(down, behind).links, *edges.of_datasets(down, behind).links] if behind else []


def _replaced_columns(connection: Connection, most: int) -> set[int] | None:
    """Return the columns of all datasets whose rows were all replaced once; None where there are more than so many."""
    replaced = select(_REPLACED.c.dataset_id).where(_REPLACED.c.certain).distinct().limit(most + 1)
    datasets = connection.execute(replaced).scalars().all()
    if len(datasets) > most:
        return None
    found = set[int]()
    for begin in range(0, len(datasets), AT_ONCE):
        found.update(node for node, _ in _COLUMNS_OF.bare(connection, datasets[begin : begin + AT_ONCE]))
        if len(found) > most:
            return None
    return found


def links_before(connection: Connection, bounds: Bounds, rows: list[Row]) -> PastLinks:
    """Return the links that no longer hold, and that made what links of now have read."""
    past = PastLinks(connection, bounds, lambda fields: owners_of(connection, fields))
    while rows:
        rows = past.behind(rows)
    return past


def _behind(connection: Connection, edges: AnyEdges, near: Collection[int]) -> set[int]:
    """Return the columns behind ended links out of some columns, as far as links of now and ended ones lead."""
    found: set[int] = set()
    frontier = set(near)
    while frontier:
        ended = _ended_outputs(connection, frontier)
        current = set(edges.of_fields(Direction.DOWN, frontier & found).ends) if found else set()
        frontier = {node for node in ended | current if node > 0} - found
        found |= frontier
    return found


def _ended_outputs(connection: Connection, fields: Collection[int]) -> set[int]:
    edge, whole = FIELD_EDGES.history, DATASET_EDGES.history
    of_fields = select(edge.c.output_field).distinct()
    found = {row[0] for row in rows_for(connection, fields, lambda some: of_fields.where(edge.c.input_field.in_(some)))}
    of_datasets = select(whole.c.output_dataset).distinct()
    rows = rows_for(connection, fields, lambda some: of_datasets.where(whole.c.input_field.in_(some)))
    datasets = {row[0] for row in rows}
    return found | {node for node, _ in _COLUMNS_OF.bare(connection, datasets)} if datasets else found
