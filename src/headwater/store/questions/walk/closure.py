"""Walks the edges level by level, up or down, in ids; never by enumerating paths.

A link to a whole dataset stands for one to each of its columns; it is kept once, and the columns
of a dataset are joined to it by the dataset's own node, written as its id with a minus sign.
"""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property, partial
from typing import Any

from sqlalchemy import Connection, select

from headwater.graph import reachable
from headwater.model import Transformation
from headwater.store import schema
from headwater.store.ingest.field_spelling import READ
from headwater.store.ingest.replacements import any_replacement
from headwater.store.questions.answers import Bounds, Direction, Node, Sides
from headwater.store.questions.walk.edges import AnyEdges, EdgesSeen, Link, LinkEnds, Row, edges_within
from headwater.store.questions.walk.past import PastLinks
from headwater.store.questions.walk.past_steps import PastSteps, past_steps
from headwater.store.read_model.fields import replaced_datasets
from headwater.store.read_model.presence import presence
from headwater.store.read_model.visibility import sight_of
from headwater.store.sql.databases import Lookup

_FIELD = schema.field
_DATASET = schema.dataset
_COLUMNS = select(_FIELD.c.id, _FIELD.c.dataset_id, _FIELD.c.name)
_COLUMNS_BY_ID = Lookup(_COLUMNS, _FIELD.c.id)
_COLUMNS_OF = Lookup(_COLUMNS, _FIELD.c.dataset_id)
_DESCRIBED_COLUMNS_OF = Lookup(_COLUMNS.where(_FIELD.c.spelled_by >= READ), _FIELD.c.dataset_id)
_NAMESPACE_OF = Lookup(select(_DATASET.c.id, _DATASET.c.namespace), _DATASET.c.id)


@dataclass(frozen=True)
class Closure:
    """The columns that a walk reached with their distance, their datasets and names, and every link between them.

    ``rows`` are the links as plain tuples, which large answers have no time to name. ``unexplored`` are columns behind
    which a limit kept the walk from looking; ``sides`` are those of a walk both ways. ``past`` are the links that held
    when what is now was read, ``ended`` those of them that hold no longer; ``history`` has who read them when.

    Of a walk over fields within columns (`headwater.store.questions.walk.nested`) ``nodes`` are these by their ids, and
    ``transformations`` those of the links between them.
    """

    distance: dict[int, int]
    dataset_of: dict[int, int]
    name_of: dict[int, str]
    rows: tuple[Row, ...]
    unexplored: frozenset[int]
    truncated: tuple[str, ...]
    sides: Sides | None = None
    past: frozenset[Row] = frozenset()
    ended: frozenset[Row] = frozenset()
    history: PastLinks | None = field(default=None, compare=False)
    nodes: Mapping[int, Node] = field(default_factory=dict)
    transformations: Mapping[int, Transformation] = field(default_factory=dict)

    def column_of(self, node: int) -> int:
        """The id of a column, also by that of a field within it."""
        return self.nodes[node][0] if node in self.nodes else node

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """The links; none comes twice."""
        return tuple(map(partial(tuple.__new__, Link), self.rows))  # in a third of the time of Link._make

    def owner(self, node: int) -> int:
        """The dataset of an end of a link."""
        return self.dataset_of[node] if node > 0 else -node


def walk(connection: Connection, start: Collection[int], direction: Direction, bounds: Bounds) -> Closure:
    """Everything upstream or downstream of some columns, or upstream of the rows of some datasets, within bounds.

    The node of a dataset is its id with a minus sign.

    Raises:
        UnknownName: the bounds name a job that the store does not know.
    """
    walker = _Walker(connection, edges_within(connection, bounds), direction, bounds)
    unexplored = walker.run(start)
    if _leads_back(connection, direction, bounds):
        unexplored = walker.go_back(unexplored)
    # No link comes twice: it is asked for by its near end, and each column and dataset is met once.
    rows = tuple(walker.rows)
    owners, called = walker.owners(walker.distance), walker.names(walker.distance)
    walked = Closure(
        walker.distance,
        owners,
        called,
        rows,
        frozenset(unexplored),
        walker.limits,
        past=frozenset(walker.past),
        ended=frozenset(walker.ended),
        history=walker.history,
    )
    gone = _gone(connection, direction, bounds)
    return without_dead_ends(walked, gone, start) if gone else walked


def reach(connection: Connection, start: Collection[int], direction: Direction, bounds: Bounds) -> Closure:
    """As `walk`, in less time: the columns with their distance and the limits that cut the walk, and nothing else.

    Raises:
        UnknownName: the bounds name a job that the store does not know.
    """
    if _leads_back(connection, direction, bounds) or _gone(connection, direction, bounds):
        return walk(connection, start, direction, bounds)  # it takes links to go back in time, and to leave out
    walker = _Walker(connection, edges_within(connection, bounds, only_ends=True), direction, bounds)
    unexplored = walker.run(start)
    return Closure(walker.distance, {}, {}, (), frozenset(unexplored), walker.limits)


def _leads_back(connection: Connection, direction: Direction, bounds: Bounds) -> bool:
    """Whether jobs of current links may have read rows that other runs have replaced since."""
    if direction is not Direction.UP or bounds.as_of is not None:
        return False
    return presence(connection).replacements and any_replacement(connection)


def _gone(connection: Connection, direction: Direction, bounds: Bounds) -> Collection[int]:
    """The datasets that a walk down of now leaves out, unless it comes through them to one that is there."""
    return replaced_datasets(connection) if direction is Direction.DOWN and bounds.as_of is None else ()


def joined(up: Closure, down: Closure) -> Closure:
    """A walk up and one down from the same start as one."""
    nearest = {node: min(far, up.distance.get(node, far)) for node, far in down.distance.items()}
    return Closure(
        up.distance | nearest,
        up.dataset_of | down.dataset_of,
        up.name_of | down.name_of,
        tuple(dict.fromkeys((*up.rows, *down.rows))),
        up.unexplored | down.unexplored,
        tuple(sorted({*up.truncated, *down.truncated})),
        Sides(up.distance, down.distance),
        nodes={**up.nodes, **down.nodes},
        transformations={**up.transformations, **down.transformations},
    )


def without_dead_ends(down: Closure, gone: Collection[int], start: Collection[int]) -> Closure:
    """A walk down without datasets that are gone, except those by which it came to one that is not.

    Args:
        down: the walk.
        gone: ids of datasets whose names are others' now.
        start: the nodes that it began at, which stay.
    """
    sources: dict[int, list[int]] = {}
    for source, output, *_ in down.rows:
        sources.setdefault(output, []).append(source)
    lasting = [one for one, dataset in down.dataset_of.items() if dataset not in gone or one in start]
    lasting += [output for output in sources if output < 0 and -output not in gone]

    def before(node: int) -> list[int]:
        return sources.get(node, []) + (sources.get(-down.dataset_of[node], []) if node > 0 else [])

    kept = reachable(lasting, before)
    kept |= {-down.dataset_of[one] for one in kept if one > 0}
    return replace(
        down,
        distance={one: far for one, far in down.distance.items() if one in kept},
        dataset_of={one: dataset for one, dataset in down.dataset_of.items() if one in kept},
        name_of={one: name for one, name in down.name_of.items() if one in kept},
        rows=tuple(row for row in down.rows if row[0] in kept and row[1] in kept),
        unexplored=down.unexplored & kept,
    )


def as_read(closure: Closure) -> tuple[Closure, PastSteps]:
    """A closure whose past links lead only to who read them, and these as steps.

    One without such links, or over fields within columns, is as it was.
    """
    if closure.history is None or not closure.ended:
        return closure, PastSteps()
    known = set(closure.rows)
    past = past_steps(one for one in closure.history.read_links() if {one.link, one.reading.link} <= known)
    return replace(closure, rows=(*(row for row in closure.rows if row not in closure.ended), *past.real)), past


def bare_datasets(closure: Closure, direction: Direction) -> dict[int, int]:
    """The datasets that links lead to and of which no column was met: with their distances, 0 for that of the start."""
    with_columns = set(closure.dataset_of.values())
    downward = closure.sides.down if closure.sides is not None else closure.distance
    before = {} if direction is Direction.UP else downward
    distance: dict[int, int] = {}
    for source, output, *_ in closure.rows:
        if output < 0 and -output not in with_columns:
            far = before.get(source, -1) + 1
            distance[-output] = min(far, distance.get(-output, far))
    return distance


@dataclass(slots=True)
class _Walker:
    connection: Connection
    edges: AnyEdges
    direction: Direction
    bounds: Bounds
    rows_of: set[int] = field(default_factory=set)
    distance: dict[int, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    past: set[Row] = field(default_factory=set)
    ended: set[Row] = field(default_factory=set)
    history: PastLinks | None = None
    _truncated: set[str] = field(default_factory=set)
    _columns: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    _datasets: set[int] = field(default_factory=set)
    _within: dict[int, bool] = field(default_factory=dict)

    @property
    def limits(self) -> tuple[str, ...]:
        """Those that cut the walk."""
        return tuple(sorted(self._truncated))

    def run(self, start: Collection[int]) -> Collection[int]:
        """Walks until nothing new comes or a limit is met; gives back what then stood open."""
        self.rows_of = {-node for node in start if node < 0}
        return self._walk(self._reach({node for node in start if node > 0}, 0), 0)

    def go_back(self, unexplored: Collection[int]) -> Collection[int]:
        """Walks on over past links that made what the links of now have read; gives back what then stood open."""
        past = self.history = PastLinks(self.connection, self.bounds, self.owners)
        links = self.rows
        while links and not self._truncated:
            found = past.behind(links)
            if isinstance(self.edges, EdgesSeen):
                found = self.edges.seen(found)
            self.past.update(found)
            known = set(self.rows)
            new = LinkEnds.of([row for row in found if row not in known], self.direction)
            new = self._in_namespaces(new) if self.bounds.namespaces else new
            level = 1 + min((self.distance.get(row[1], 0) for row in new.links), default=0)
            if new.links and self.bounds.depth is not None and level > self.bounds.depth:
                self._truncated.add("depth")
                break
            self.rows += new.links
            self.ended.update(new.links)
            begun = len(self.rows)
            unexplored = self._walk(self._reach(set(new.ends), level), level)
            links = [*found, *self.rows[begun:]]
        return unexplored

    def _walk(self, frontier: Collection[int], level: int) -> Collection[int]:
        ends = time.monotonic() + self.bounds.seconds
        while (frontier or level == 0) and not self._full(ends):
            found = self._found(frontier)
            if found.ends and level == self.bounds.depth:
                self._truncated.add("depth")
                return frontier
            self.rows += found.links
            level += 1
            frontier = self._reach(self._fields(found.ends), level)
        return frontier

    def owners(self, fields: Collection[int]) -> dict[int, int]:
        """The dataset of each field; which are asked for once, because most walks never need to know."""
        known = self._known(fields)
        return {one: known[one][1] for one in fields}

    def names(self, fields: Collection[int]) -> dict[int, str]:
        """The present name of each field."""
        known = self._known(fields)
        return {one: known[one][2] for one in fields}

    def _known(self, fields: Collection[int]) -> dict[int, tuple[Any, ...]]:
        unknown = [one for one in fields if one not in self._columns]
        if unknown:
            self._columns |= {row[0]: row for row in _COLUMNS_BY_ID.bare(self.connection, unknown)}
        return self._columns

    def _full(self, ends: float) -> bool:
        if len(self.distance) > self.bounds.columns:
            self._truncated.add("columns")
        if time.monotonic() > ends:
            self._truncated.add("time")
        return bool(self._truncated)

    def _reach(self, fields: set[int], level: int) -> Collection[int]:
        new = sorted(fields.difference(self.distance))
        self.distance |= dict.fromkeys(new, level)
        return new

    def _found(self, frontier: Collection[int]) -> LinkEnds:
        found = self.edges.of_fields(self.direction, frontier)
        if self.edges.whole:
            of_datasets = self.edges.of_datasets(self.direction, self._near(frontier))
            found = LinkEnds(found.ends + of_datasets.ends, found.links + of_datasets.links)
        return self._in_namespaces(found) if self.bounds.namespaces else found

    def _near(self, frontier: Collection[int]) -> Collection[int]:
        """The near ends of links to whole datasets: upstream the datasets, downstream the columns."""
        if self.direction is Direction.DOWN:
            return frontier
        return self._new_datasets({*self.rows_of, *self.owners(frontier).values()})

    def _in_namespaces(self, edges: LinkEnds) -> LinkEnds:
        """The condition that an edge leads to one of the namespaces of the bounds."""
        ends = set(edges.ends)
        dataset_of = self.owners([one for one in ends if one > 0]) | {one: -one for one in ends if one < 0}
        unknown = set(dataset_of.values()) - self._within.keys()
        for dataset, name in _NAMESPACE_OF.bare(self.connection, unknown):
            fits = any(fnmatchcase(name, pattern) for pattern in self.bounds.namespaces)
            self._within[dataset] = fits and (self.bounds.sees is None or self.bounds.sees(name))
        return edges.leading_to({one for one, dataset in dataset_of.items() if self._within[dataset]})

    def _new_datasets(self, datasets: set[int]) -> set[int]:
        new = datasets - self._datasets
        self._datasets |= new
        return new

    def _fields(self, ends: Collection[int]) -> set[int]:
        """Columns, and those of whole datasets."""
        nodes = set(ends)
        if self.direction is Direction.UP or not self.edges.whole:
            return nodes
        wholes = {one for one in nodes if one < 0}
        columns = _COLUMNS_OF if sight_of(self.connection) is None else _DESCRIBED_COLUMNS_OF
        rows = columns.bare(self.connection, self._new_datasets({-one for one in wholes}))
        of_whole = {row[0]: row for row in rows}
        self._columns |= of_whole
        return (nodes - wholes).union(of_whole)
