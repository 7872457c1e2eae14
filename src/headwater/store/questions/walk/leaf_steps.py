"""Steps between fields within columns: the links of a walk over columns, followed leaf by leaf.

A link leads from leaf to leaf where the event that it is of says so (`nested_events`), else from column to column, so
that no edge is lost: the columns of such steps are always among those of the links.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

from sqlalchemy import Connection, select

from headwater.model import Subtype, Transformation
from headwater.model.names import caseless
from headwater.model.nested_fields import Path, field_within
from headwater.store import schema
from headwater.store.questions.answers import Bounds, Direction, EdgeType, Node
from headwater.store.questions.walk.closure import Closure
from headwater.store.questions.walk.edges import Row
from headwater.store.questions.walk.guesses import GUESS_ID, follows_guesses
from headwater.store.questions.walk.nested_events import LeafLinks, NestedEvents
from headwater.store.questions.walk.steps_inside import follows_opaque_values
from headwater.store.sql.databases import Lookup

_FIELD, _TRANSFORMATION = schema.field.c, schema.transformation.c
_TYPES = Lookup(select(_FIELD.id, _FIELD.type), _FIELD.id)
_TRANSFORMATIONS = Lookup(select(schema.transformation), _TRANSFORMATION.id)
_SECRET = select(schema.secret.c.value)
_FIRST_ID = 1 << 52
"""Ids of nested fields, and of transformations of links between them, begin here; a double can hold them."""

_LONGEST = 50  # parts; a column that is made of a field within itself would have ever longer ones
UNDETAILED = ("", "struct", "array", "map", "row")
"""Types of which it is not known what is within."""


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


class Step(NamedTuple):
    """A link that is followed, and the node where it ends."""

    far: int
    row: Row


@dataclass(slots=True)
class LeafSteps:
    """Steps from the nodes of a walk over columns, in its direction.

    ``nodes`` are the fields within columns that steps have led to, by their ids, and ``made`` the transformations of
    links between such. ``limited`` says that not all events were looked at.
    """

    connection: Connection
    walked: Closure
    direction: Direction
    bounds: Bounds
    nodes: dict[int, Node] = field(default_factory=dict)
    made: dict[int, Transformation] = field(default_factory=dict)
    _ids: dict[Transformation, int] = field(default_factory=dict)
    _links: dict[int, dict[tuple[int, int], list[Row]]] = field(default_factory=dict)
    _paths: dict[Node, Path] = field(default_factory=dict)
    _fields_of: dict[int, list[int]] = field(default_factory=dict)
    _events: NestedEvents = field(init=False)
    _types: dict[int, str] = field(init=False)
    _transformations: dict[int, Transformation] = field(init=False)
    _secret: bytes = field(init=False)

    def __post_init__(self) -> None:
        self._events = NestedEvents(self.connection, self.walked, self.bounds)
        self._types = dict(_TYPES.bare(self.connection, self.walked.distance))
        rows = _TRANSFORMATIONS(self.connection, {row[2] for row in self.walked.rows})
        self._transformations = {
            row.id: Transformation(Subtype(row.subtype), row.masking, row.opaque, row.description) for row in rows
        }
        self._secret = self.connection.execute(_SECRET).scalar() or b""
        near, far = (1, 0) if self.direction is Direction.UP else (0, 1)
        for row in self.walked.rows:
            self._links.setdefault(row[near], {}).setdefault((row[far], row[3]), []).append(row)
        for column, dataset in self.walked.dataset_of.items():
            self._fields_of.setdefault(dataset, []).append(column)

    @property
    def limited(self) -> bool:
        """Whether not all events were looked at: behind the others columns are followed."""
        return self._events.limited

    def place(self, node: int) -> Node:
        """Return the column of a node, and the path within it."""
        return self.nodes.get(node, (node, ()))

    def node(self, column: int, path: Path) -> int:
        """Return the id of a path within a column, as far as its type has it."""
        path = self._within(column, path)
        if not path or len(path) > _LONGEST:
            return column
        id_ = _id_of((column, path), self._secret)
        self.nodes[id_] = (column, path)
        return id_

    def _within(self, column: int, path: Path) -> Path:
        """As much of a path as the type of a column has: a field within may have another name by now."""
        type_ = self._types.get(column) or ""
        if not path or type_ in UNDETAILED:
            return path
        if (column, path) not in self._paths:
            found = (field_within(type_, path[:end]) for end in range(len(path), -1, -1))
            self._paths[column, path] = next(one[0] for one in found if one is not None)
        return self._paths[column, path]

    def _has(self, column: int, path: Path) -> bool:
        """Whether the type of a column is known to have a path."""
        return field_within(self._types.get(column) or "", path) is not None

    def of(self, node: int) -> Iterator[Step]:
        """Yield the steps from a node."""
        column, path = self.place(node)
        return self.follow(column, node, path)

    def follow(self, near: int, node: int, path: Path) -> Iterator[Step]:
        """Yield the steps from a path within a column, or from a dataset's own node."""
        up = self.direction is Direction.UP
        for (far, job), rows in self._links.get(near, {}).items():
            for then, kind in self._ends(rows, path):
                end = far if far < 0 else self.node(far, then)
                row = (end, node, kind, job) if up else (node, end, kind, job)
                for one in [end] if up or end > 0 else self._fields_of.get(-end, [end]):
                    yield Step(one, row)

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
        self, leaf_links: LeafLinks, input_: int, output: int, path: Path
    ) -> list[tuple[Path, Transformation]] | None:
        """The paths of a link that a path at its near end is connected with; None where the event does not know it."""
        up = self.direction is Direction.UP
        if up and not any(related(self._within(output, one), path) for one in leaf_links.paths):
            return None if field_within(leaf_links.type, path) is None else []
        found: list[tuple[Path, Transformation]] = []
        for link in leaf_links.links:
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


def _lets_through(bounds: Bounds, transformation: Transformation) -> bool:
    """Whether the bounds let a link with a transformation through, as `headwater.store.questions.walk.edges.kinds`."""
    return (
        (bounds.edge_type is not EdgeType.DIRECT or transformation.direct)
        and (not bounds.subtypes or transformation.subtype in bounds.subtypes)
        and (bounds.masking is None or transformation.masking is bounds.masking)
    )
