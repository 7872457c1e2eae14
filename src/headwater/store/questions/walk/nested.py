"""Walks over fields within columns: a walk over columns, whose links are then followed leaf by leaf.

A link leads from leaf to leaf where the event that it is of says so (`nested_events`), else from column to column, so
that no edge is lost: the columns of such a walk are always among those of a walk over columns.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import NamedTuple

from sqlalchemy import Connection, select

from headwater.model import Subtype, Transformation
from headwater.model.field_names import caseless
from headwater.openlineage.writing.nested_fields import Path, field_within
from headwater.store import schema
from headwater.store.questions.answers import Bounds, Direction, EdgeType, Node
from headwater.store.questions.walk.closure import Closure, reach, walk
from headwater.store.questions.walk.edges import Row
from headwater.store.questions.walk.guesses import GUESS_ID, follows_guesses
from headwater.store.questions.walk.nested_events import LeafLinks, NestedEvents
from headwater.store.questions.walk.steps_inside import follows_opaque_values
from headwater.store.sql.rows import Lookup

_FIELD, _WAY = schema.field.c, schema.transformation.c
_TYPES = Lookup(select(_FIELD.id, _FIELD.type), _FIELD.id)
_WAYS = Lookup(select(schema.transformation), _WAY.id)
_SECRET = select(schema.secret.c.value)
_FIRST_ID = 1 << 52
"""Ids of nested fields, and of transformations of links between them, begin here; a double can hold them."""

_LONGEST = 50  # parts; a column that is made of a field within itself would have ever longer ones
_UNDETAILED = ("", "struct", "array", "map", "row")
"""Types of which it is not known what is within."""


def walk_nodes(
    connection: Connection,
    start: Collection[Node],
    direction: Direction,
    bounds: Bounds,
    rows_of: Collection[int] = (),
) -> Closure:
    """Walk from columns, or leaf by leaf where the bounds say so or the start is a field within a column.

    Raises:
        UnknownName: the bounds name a job that the store does not know.
    """
    columns = {column for column, _ in start}
    if not _is_nested(start, bounds):
        return walk(connection, columns, direction, bounds, rows_of)
    # Leaf by leaf transformations are others: filters look at those.
    walked = walk(connection, columns, direction, replace(bounds, subtypes=frozenset(), masking=None), rows_of)
    walker = _Walker(connection, walked, direction, bounds)
    walker.run(start, rows_of)
    return walker.closure()


def reach_nodes(
    connection: Connection,
    start: Collection[Node],
    direction: Direction,
    bounds: Bounds,
    rows_of: Collection[int] = (),
) -> Closure:
    """As `walk_nodes`, without links and so in less time, unless it takes these to answer.

    Raises:
        UnknownName: the bounds name a job that the store does not know.
    """
    if _is_nested(start, bounds):
        return walk_nodes(connection, start, direction, bounds, rows_of)
    return reach(connection, {column for column, _ in start}, direction, bounds, rows_of)


def _is_nested(start: Collection[Node], bounds: Bounds) -> bool:
    return bounds.nested or any(path for _, path in start)


def nested_id(connection: Connection, node: Node) -> int:
    """Return the id of a field within a column, which is the same in all answers; that of a column for no path.

    It is made with the secret of the store, so that names cannot be found by trying.
    """
    return _id_of(node, connection.execute(_SECRET).scalar() or b"") if node[1] else node[0]


def _id_of(value: Node | Transformation, secret: bytes) -> int:
    digest = blake2b(repr(value).encode("utf-8", "replace"), digest_size=8, key=secret)
    return _FIRST_ID | int.from_bytes(digest.digest()) >> 12


def related(one: Path, other: Path) -> bool:
    """Whether one of two paths is within the other, or the same.

    >>> related(("items",), ("Items", "price")), related(("items", "sku"), ("items", "price"))
    (True, False)
    """
    return all(caseless(a) == caseless(b) for a, b in zip(one, other, strict=False))


class _Step(NamedTuple):
    """A link that is followed, and the node where it ends."""

    far: int
    row: Row


@dataclass(slots=True)
class _Walker:
    connection: Connection
    walked: Closure
    direction: Direction
    bounds: Bounds
    distance: dict[int, int] = field(default_factory=dict)
    nodes: dict[int, Node] = field(default_factory=dict)
    made: dict[int, Transformation] = field(default_factory=dict)
    _ids: dict[Transformation, int] = field(default_factory=dict)
    _links: dict[int, dict[tuple[int, int], list[Row]]] = field(default_factory=dict)
    _paths: dict[Node, Path] = field(default_factory=dict)
    _rows: dict[Row, None] = field(default_factory=dict)
    _unexplored: set[int] = field(default_factory=set)
    _datasets: set[int] = field(default_factory=set)
    _truncated: set[str] = field(default_factory=set)
    _fields_of: dict[int, list[int]] = field(default_factory=dict)
    _events: NestedEvents = field(init=False)
    _types: dict[int, str] = field(init=False)
    _transformations: dict[int, Transformation] = field(init=False)
    _secret: bytes = field(init=False)

    def __post_init__(self) -> None:
        self._events = NestedEvents(self.connection, self.walked, self.bounds)
        self._types = dict(_TYPES.bare(self.connection, self.walked.distance))
        ways = _WAYS(self.connection, {row[2] for row in self.walked.rows})
        self._transformations = {
            row.id: Transformation(Subtype(row.subtype), row.masking, row.opaque, row.description) for row in ways
        }
        self._secret = self.connection.execute(_SECRET).scalar() or b""
        near, far = (1, 0) if self.direction is Direction.UP else (0, 1)
        for row in self.walked.rows:
            self._links.setdefault(row[near], {}).setdefault((row[far], row[3]), []).append(row)
        for column, dataset in self.walked.dataset_of.items():
            self._fields_of.setdefault(dataset, []).append(column)

    def closure(self) -> Closure:
        """Return all that was reached; names are those of columns."""
        column_of = {id_: self.nodes[id_][0] if id_ in self.nodes else id_ for id_ in self.distance}
        limits = {*self._truncated, *self.walked.truncated} | ({"nested"} if self._events.limited else set())
        if not self._unexplored:
            limits.discard("depth")
        return Closure(
            self.distance,
            {id_: self.walked.dataset_of[column] for id_, column in column_of.items()},
            {id_: self.walked.name_of[column] for id_, column in column_of.items()},
            tuple(self._rows),
            frozenset(self._unexplored),
            tuple(sorted(limits)),
            nodes=self.nodes,
            transformations=self.made,
        )

    def run(self, start: Collection[Node], rows_of: Collection[int]) -> None:
        """Walk level by level."""
        frontier = self._reach([self._node(column, path) for column, path in start], 0)
        level, datasets = 0, set(rows_of)
        while frontier or (datasets and level == 0):
            steps = [step for node in frontier for step in self._steps(node)]
            if self.direction is Direction.UP:
                datasets |= {self.walked.dataset_of[self._place(node)[0]] for node in frontier}
                steps += [step for one in sorted(datasets - self._datasets) for step in self._follow(-one, -one, ())]
                self._datasets |= datasets
            if steps and level == self.bounds.depth:
                self._truncated.add("depth")
                self._unexplored |= set(frontier)
                return
            if len(self.distance) > self.bounds.columns:
                self._truncated.add("columns")
                self._unexplored |= set(frontier)
                return
            self._rows |= dict.fromkeys(row for _, row in steps)
            level += 1
            frontier = self._reach([far for far, _ in steps if far > 0], level)

    def _reach(self, nodes: Collection[int], level: int) -> list[int]:
        new = [one for one in dict.fromkeys(nodes) if one not in self.distance]
        self.distance |= dict.fromkeys(new, level)
        self._unexplored |= {one for one in new if self._place(one)[0] in self.walked.unexplored}
        return new

    def _place(self, node: int) -> Node:
        return self.nodes.get(node, (node, ()))

    def _node(self, column: int, path: Path) -> int:
        """The id of a path within a column."""
        path = self._within(column, path)
        if not path or len(path) > _LONGEST:
            return column
        id_ = _id_of((column, path), self._secret)
        self.nodes[id_] = (column, path)
        return id_

    def _within(self, column: int, path: Path) -> Path:
        """As much of a path as the type of a column has: a field within may have another name by now."""
        type_ = self._types.get(column) or ""
        if not path or type_ in _UNDETAILED:
            return path
        if (column, path) not in self._paths:
            found = (field_within(type_, path[:end]) for end in range(len(path), -1, -1))
            self._paths[column, path] = next(one[0] for one in found if one is not None)
        return self._paths[column, path]

    def _has(self, column: int, path: Path) -> bool:
        """Whether the type of a column is known to have a path."""
        return field_within(self._types.get(column) or "", path) is not None

    def _steps(self, node: int) -> Iterator[_Step]:
        column, path = self._place(node)
        return self._follow(column, node, path)

    def _follow(self, near: int, node: int, path: Path) -> Iterator[_Step]:
        """The steps from a path within a column, or from a dataset's own node."""
        up = self.direction is Direction.UP
        for (far, job), rows in self._links.get(near, {}).items():
            for then, kind in self._ends(rows, path):
                end = far if far < 0 else self._node(far, then)
                row = (end, node, kind, job) if up else (node, end, kind, job)
                for one in [end] if up or end > 0 else self._fields_of.get(-end, ()):
                    yield _Step(one, row)

    def _ends(self, rows: list[Row], path: Path) -> Iterator[tuple[Path, int]]:
        """The paths at the far end of links of one job, and the transformations there."""
        input_, output, _, job = rows[0]
        known = self._events.links(input_, output, job)
        parts = None if known is None else self._parts(known, input_, output, path)
        whole = [row for row in rows if parts is None or row[2] <= 0 or row in self.walked.past]
        if parts is not None and len(whole) < len(rows):
            yield from ((then, self._number(kind)) for then, kind in parts if _lets_through(self.bounds, kind))
        yield from (((), row[2]) for row in whole if self._follows(row[2]))

    def _parts(
        self, known: LeafLinks, input_: int, output: int, path: Path
    ) -> list[tuple[Path, Transformation]] | None:
        """The paths of a link that a path at its near end is connected with; None where the event does not know it."""
        up = self.direction is Direction.UP
        if up and not any(related(self._within(output, one), path) for one in known.paths):
            return None if field_within(known.type, path) is None else []
        found: list[tuple[Path, Transformation]] = []
        for link in known.links:
            ends = self._within(output, link.output), self._within(input_, link.input)
            near, far = ends if up else reversed(ends)
            if related(near, path):
                # What the type has no more is followed as far as it has it: there a path may be another than then.
                rest = path[len(near) :] if len(near) == len(link.output if up else link.input) else ()
                for kind in link.transformations:
                    same = kind.subtype is Subtype.IDENTITY and self._has(input_ if up else output, (*far, *rest))
                    found.append(((*far, *rest) if same else far, kind))
        return found

    def _number(self, transformation: Transformation) -> int:
        # Always the same, also where a link of columns has an equal one: links of two walks are compared.
        id_ = self._ids.get(transformation)
        if id_ is None:
            id_ = self._ids[transformation] = _id_of(transformation, self._secret)
            self.made[id_] = transformation
        return id_

    def _follows(self, transformation: int) -> bool:
        """Whether the bounds let a link of columns through."""
        if transformation == GUESS_ID:
            return follows_guesses(self.bounds)
        if transformation < 0:
            return follows_opaque_values(self.bounds)
        return _lets_through(self.bounds, self._transformations[transformation])


def _lets_through(bounds: Bounds, one: Transformation) -> bool:
    """Whether the bounds let a link with a transformation through, as `headwater.store.questions.walk.edges.kinds`."""
    return (
        (bounds.edge_type is not EdgeType.DIRECT or one.direct)
        and (not bounds.subtypes or one.subtype in bounds.subtypes)
        and (bounds.masking is None or one.masking is bounds.masking)
    )
