"""Where tags arrive leaf by leaf: a flow over columns, whose links are then followed between fields within columns.

A field within a column has the tag only where events say so (`leaf_steps`); where they do not, the column counts. So
what is found is always within the flow over columns (docs/decisions/0142).
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from sqlalchemy import Connection, select

from headwater.model import Transformation
from headwater.store import schema
from headwater.store.questions.answers import Bounds, Direction, Node
from headwater.store.questions.walk.closure import Closure
from headwater.store.questions.walk.edges import LinkEnds, Row, edges_within
from headwater.store.questions.walk.leaf_steps import LeafSteps
from headwater.store.questions.walk.past_steps import FIRST_NODE, PastSteps
from headwater.store.questions.walk.tag_flow import past_of
from headwater.store.questions.walk.tag_walk import Arriving, Barriers, Effect, Flow, Walker
from headwater.store.read_model.presence import presence
from headwater.store.sql.databases import Lookup, rows_for

MOST = 20_000
"""Columns; a tag that arrives at more is followed by columns alone."""

_FIELD, _FACET = schema.field.c, schema.facet.c
_FIELDS = Lookup(select(_FIELD.id, _FIELD.dataset_id, _FIELD.name), _FIELD.id)
_NESTED = select(_FACET.dataset_id).where(schema.HAS_NESTED_LINEAGE)


class Start(NamedTuple):
    """The columns with a tag, and the fields within columns."""

    columns: frozenset[int] = frozenset()
    within: frozenset[Node] = frozenset()

    @classmethod
    def of(cls, nodes: Collection[Node]) -> "Start":
        """Return columns and fields within columns, which have a path, as a start."""
        return cls(frozenset(one for one, path in nodes if not path), frozenset(one for one in nodes if one[1]))

    @property
    def nodes(self) -> frozenset[Node]:
        """All of them; columns have an empty path."""
        return self.within.union((one, ()) for one in self.columns)

    @property
    def every_column(self) -> frozenset[int]:
        """The columns, and those that the fields are within."""
        return self.columns.union(one for one, _ in self.within) if self.within else self.columns


class Leaves(NamedTuple):
    """How a tag flows leaf by leaf: from where, what over which transformation, and what cuts it."""

    start: Start
    effect: Callable[[Transformation], Arriving | None]
    barriers: frozenset[Node] = frozenset()


def flow_by_leaf(  # noqa: PLR0913, PLR0917 - all that a walk needs
    connection: Connection, flow: Flow, leaves: Leaves, effect: Effect, barriers: Barriers, bounds: Bounds
) -> Flow | None:
    """Return a flow over columns leaf by leaf, None where that would find no less."""
    begins = bool(leaves.start.within or leaves.barriers)
    if not (begins or presence(connection).nested_lineage) or sum(len(one.now) for one in flow.arrived.values()) > MOST:
        return None
    past = past_of(connection, edges_within(connection, bounds), flow, bounds)
    columns = {node for one in flow.arrived.values() for node in one.now if node > 0}.union(past.columns.values())
    walked = _links_between(connection, columns, bounds)
    owners = {*walked.dataset_of.values(), *(-row[1] for row in walked.rows if row[1] < 0)}
    known = rows_for(connection, owners, lambda some: _NESTED.where(_FACET.dataset_id.in_(some)).limit(1))
    if not (begins or any(known)):
        return None
    steps = LeafSteps(connection, walked, Direction.DOWN, replace(bounds, edge_type=None))

    def effect_by_leaf(transformation: int) -> Arriving | None:
        made = steps.made.get(transformation)
        return leaves.effect(made) if made is not None else effect(transformation)

    cuts = _LeafBarriers(barriers.jobs, barriers.fields, steps=steps, leaves=leaves.barriers).before(past)
    past_by_leaf = _LeafPast(past.columns, past.links, past.real, steps=steps) if past else None
    walker = Walker(connection, _LeafEdges(steps), effect_by_leaf, cuts, past_by_leaf)
    found = walker.flow([steps.node(*one) for one in leaves.start.nodes])
    return replace(found, nodes=steps.nodes, transformations=steps.made)


def _links_between(connection: Connection, columns: Collection[int], bounds: Bounds) -> Closure:
    """Return the links of now out of columns as those of a walk."""
    edges, down = edges_within(connection, bounds), Direction.DOWN
    rows = edges.of_fields(down, columns).links
    rows = [*rows, *edges.of_datasets(down, columns).links] if edges.whole else rows
    fields = {end for row in rows for end in row[:2] if end > 0}.union(columns)
    dataset_of, name_of = {}, {}
    for id_, dataset, name in _FIELDS.bare(connection, fields):
        dataset_of[id_], name_of[id_] = dataset, name
    return Closure(dict.fromkeys(fields, 0), dataset_of, name_of, tuple(rows), frozenset(), ())


@dataclass(frozen=True)
class _LeafEdges:
    """The steps out of nodes as the edges of a walk; those to whole datasets among them."""

    steps: LeafSteps
    whole: bool = True

    def of_fields(self, direction: Direction, fields: Collection[int]) -> LinkEnds:
        return LinkEnds.of(list(dict.fromkeys(row for node in fields for _, row in self.steps.of(node))), direction)

    def of_datasets(self, direction: Direction, _: Collection[int]) -> LinkEnds:
        return LinkEnds.of([], direction)


@dataclass(slots=True)
class _LeafPast(PastSteps):
    """Steps over past links by column; out of them leaf by leaf, over the links of now that read what they had made."""

    steps: LeafSteps = field(kw_only=True)

    def out_of(self, node: int) -> list[Row]:
        column = self.columns.get(node)
        own = self.links.get(self.steps.place(node)[0] if column is None else node, ())
        if column is None:
            return [self._step((node, *step[1:]), (node, *self.real[step][1:])) for step in own]
        found, ends = [step for step in own if step[1] >= FIRST_NODE], {(step[1], step[3]) for step in own}
        for _, row in self.steps.follow(column, node, ()):
            if (row[1] if row[1] < 0 else self.steps.place(row[1])[0], row[3]) in ends:
                found.append(self._step(row, (column, *row[1:])))
        return list(dict.fromkeys(found))

    def _step(self, step: Row, real: Row) -> Row:
        self.real[step] = real
        return step


@dataclass(frozen=True)
class _LeafBarriers(Barriers):
    steps: LeafSteps = field(kw_only=True)
    leaves: frozenset[Node] = field(kw_only=True)

    def cut(self, link: Row) -> bool:
        column, path = self.steps.place(link[1])
        cut = link[3] in self.jobs or column in self.fields
        return cut or any((column, path[:end]) in self.leaves for end in range(1, len(path) + 1))

    def __bool__(self) -> bool:
        return bool(self.jobs or self.fields or self.leaves)
