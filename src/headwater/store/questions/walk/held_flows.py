"""The reach of tags, held beside the edges in memory and brought up to date from what has changed since.

Exactly where a walk would arrive: whatever is not followed here, the walk is done anew (docs/decisions/0134).
"""

import threading
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from headwater.store import schema
from headwater.store.graph.index import OPTION
from headwater.store.graph.index.log import EVERYTHING, MOST, Version, changed_since, version_of
from headwater.store.ingest.replacements import any_replacement
from headwater.store.questions.answers import Bounds, Direction, Node
from headwater.store.questions.walk.edges import AnyEdges, Edges, EdgesInMemory, Row, edges_within
from headwater.store.questions.walk.steps_inside import has_whole_sources
from headwater.store.questions.walk.tag_flow import flow_from
from headwater.store.questions.walk.tag_leaves import Leaves, Start, flow_by_leaf
from headwater.store.questions.walk.tag_reach import LinksNear, TagReach, flow_of, updated
from headwater.store.questions.walk.tag_walk import (
    Arriving,
    Barriers,
    Effect,
    Flow,
    ended_links_from,
    links_before,
)
from headwater.store.read_model.presence import once, presence
from headwater.store.read_model.visibility import sight_of
from headwater.store.sql.rows import rows_for

_EVENT, _FIELD, _TOUCH = schema.event, schema.field, schema.run_dataset
_LAST_EVENT = select(_EVENT.c.id, _EVENT.c.digest).order_by(_EVENT.c.id.desc()).limit(1)
_LAST_FIELD = select(func.max(_FIELD.c.id))
_MOST_TAGS = 100
_REMEMBERED = 1_000
Past = Callable[[Collection[int]], Iterable[Row]]
"""From columns to links that no longer hold, and that made what links near them have read."""


class State(NamedTuple):
    """A state of the store, as far as tags flow by it: its edges, its last event, and its last field."""

    edges: Version
    event: tuple[int, bytes]
    field: int


def state_of(connection: Connection) -> State:
    """Return the state that a connection sees."""
    last = connection.execute(_LAST_EVENT).first()
    newest = connection.execute(_LAST_FIELD).scalar()
    return State(version_of(connection), (0, b"") if last is None else (last.id, last.digest), newest or 0)


def datasets_changed_since(connection: Connection, state: State) -> set[int] | None:
    """Return the datasets into or out of which links may have changed since a state; None where nobody knows them."""
    pairs = changed_since(connection, state.edges)
    event = select(_EVENT.c.id, _EVENT.c.digest, _EVENT.c.run_id).where(_EVENT.c.id >= max(1, state.event[0]))
    rows = connection.execute(event.order_by(_EVENT.c.id).limit(MOST + 1)).all()
    if state.event[0]:
        known = bool(rows) and (rows[0].id, rows[0].digest) == state.event
        rows = rows[1:]
    else:
        known = True
    if pairs is None or EVERYTHING in pairs or not known or len(rows) >= MOST:
        return None
    touch = select(_TOUCH.c.dataset_id).distinct()
    runs = {row.run_id for row in rows if row.run_id is not None}
    of_runs = rows_for(connection, runs, lambda some: touch.where(_TOUCH.c.run_id.in_(some)))
    # Not DISTINCT: SQLite reads all fields by their datasets for it.
    new = connection.execute(select(_FIELD.c.dataset_id).where(_FIELD.c.id > state.field)).scalars()
    return {output for _, output in pairs} | {row.dataset_id for row in of_runs} | set(new)


def describes_datasets(connection: Connection, since: State) -> bool:
    """Return whether an event since a state describes datasets without a run: types of any may be others."""
    question = select(_EVENT.c.id).where(_EVENT.c.id > since.event[0], _EVENT.c.run_id.is_(None)).limit(1)
    return connection.execute(question).first() is not None


@dataclass
class _HeldState:
    """Of one state of the store: where tags arrive, how they flow over transformations, and columns of datasets."""

    reaches: dict[str, TagReach] = field(default_factory=dict)
    effects: dict[int, Arriving | None] = field(default_factory=dict)
    columns: dict[int, list[int]] = field(default_factory=dict)
    leaves: dict[str, "_HeldLeaves"] = field(default_factory=dict)


class _HeldLeaves(NamedTuple):
    """A flow over columns, and what it is leaf by leaf: None where that finds no less."""

    reach: TagReach
    start: Start
    barriers: frozenset[Node]
    flow: Flow | None

    def is_of(self, reach: TagReach, leaves: Leaves) -> bool:
        """Whether it is that of a flow over columns."""
        same = self.reach is reach and (self.start.within, self.barriers) == (leaves.start.within, leaves.barriers)
        # Columns alone are those of the reach: of many it takes milliseconds to compare them.
        return same and (not self.start.within or self.start.columns == leaves.start.columns)


class HeldFlows:
    """The flows of tags over the links within some bounds, as a connection sees them; safe for threads."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._lock = threading.Lock()
        self._state: State | None = None
        self._past: deque[State] = deque(maxlen=_REMEMBERED)
        self._held = _HeldState()

    def of(  # noqa: PLR0913, PLR0917 - all that a walk needs
        self,
        connection: Connection,
        tag: str,
        start: Collection[int],
        effect: Effect,
        barriers: Barriers,
        leaves: Leaves,
    ) -> Flow:
        """Return where a tag on some columns flows, leaf by leaf where events say so.

        Args:
            connection: of the store.
            tag: the name by which the flow is known again.
            start: the columns with the tag.
            effect: what flows over a transformation, by its id; always the same.
            barriers: what it does not flow through.
            leaves: the same of fields within columns.
        """
        edges = edges_within(connection, self._bounds)
        if not isinstance(edges, Edges | EdgesInMemory) or has_whole_sources(connection, self._bounds):
            flow = self._walk(connection, start, effect, barriers)
            return flow_by_leaf(connection, flow, leaves, effect, barriers, self._bounds) or flow
        with self._lock:
            held = self._at(connection, edges, effect)
            links = LinksNear(connection, edges, effect, held.effects, held.columns)
            reach, now = held.reaches.pop(tag, None), frozenset(start)
            if reach is not None and reach.barriers != barriers:
                reach = None
            if reach is not None and reach.start != now:
                reach = _follow(reach, now, (), links, _past_near(links, (), self._bounds))
            if reach is None:
                reach = _held(now, self._walk(connection, start, effect, barriers), barriers, links)
            held.reaches[tag] = reach
            if len(held.reaches) > _MOST_TAGS:
                held.reaches.pop(next(iter(held.reaches)))
            flow = flow_of(reach, LinksNear(connection, edges, effect))
            of_leaves = held.leaves.get(tag)
            if of_leaves is None or not of_leaves.is_of(reach, leaves):
                by_leaf = flow_by_leaf(connection, flow, leaves, effect, barriers, self._bounds)
                of_leaves = held.leaves[tag] = _HeldLeaves(reach, leaves.start, leaves.barriers, by_leaf)
        return of_leaves.flow or flow

    def columns(self, connection: Connection, datasets: Collection[int], effect: Effect) -> set[int]:
        """Return the columns of some datasets, of each that has any."""
        edges = edges_within(connection, self._bounds)
        with self._lock:
            held = self._at(connection, edges, effect)
            found = LinksNear(connection, edges, effect, columns_of=held.columns).columns(datasets)
        return {node for node in found if node > 0}

    def _walk(self, connection: Connection, start: Collection[int], effect: Effect, barriers: Barriers) -> Flow:
        return flow_from(connection, start, effect, barriers, self._bounds)

    def _at(self, connection: Connection, edges: AnyEdges, effect: Effect) -> _HeldState:
        """Return what is held of the state that a connection sees, without the tags that cannot be followed."""
        state = once(connection, state_of)
        if state == self._state:
            return self._held
        if state in self._past:
            return _HeldState()  # somebody who began earlier
        changed = None if self._state is None else datasets_changed_since(connection, self._state)
        held, before = _HeldState(), self._held
        if self._state is not None and changed is not None:
            by_leaf = presence(connection).nested_lineage or any(one.flow for one in before.leaves.values())
            described = by_leaf and describes_datasets(connection, self._state)
            columns = {dataset: own for dataset, own in before.columns.items() if dataset not in changed}
            held = _HeldState({}, before.effects, columns)
            links = LinksNear(connection, edges, effect, held.effects, held.columns)
            near = links.columns(changed) | {-one for one in changed}
            past = _past_near(links, near, self._bounds)
            for tag, reach in before.reaches.items():
                found = _follow(reach, reach.start, near, links, past)
                if found is not None:
                    held.reaches[tag] = found
                if found is reach and tag in before.leaves and not described:
                    held.leaves[tag] = before.leaves[tag]
        if self._state is not None:
            self._past.append(self._state)
        self._state, self._held = state, held
        return held


def _held(start: frozenset[int], flow: Flow, barriers: Barriers, links: LinksNear) -> TagReach:
    """Return a flow as it is held; one over links of the past as it is, with who reads where it arrived by them."""
    past = flow.past_columns()
    if not past:
        return TagReach.of(start, flow, barriers)
    readers = frozenset(row[1] for row in links.out_of(past))
    return TagReach.walked_over_past(start, flow, barriers, readers)


def _follow(
    reach: TagReach, start: frozenset[int], near: Collection[int], links: LinksNear, past: Past
) -> TagReach | None:
    """Return where a tag arrives now; None where links of the past lead on from there, which only a walk follows."""
    if reach.walked is not None:
        touched = reach.start != start or not reach.readers.isdisjoint(near) or reach.arrives_at_any(links.beside(near))
        return None if touched or any(reach.arrives_at(row[0]) for row in past(())) else reach
    found, changed = updated(reach, start, near, links)
    new = {node for node in changed if found.arrives_at(node)}
    return None if any(found.arrives_at(row[0]) for row in past(new)) else found


def _past_near(links: LinksNear, near: Collection[int], bounds: Bounds) -> Past:
    """Find the links of the past that links into or out of some columns have read from, and links behind others."""
    if not any_replacement(links.connection):
        return lambda _: ()
    down, up = Direction.DOWN, Direction.UP
    fields = {node for node in near if node > 0}
    rows = [*links.edges.of_fields(down, fields).links, *links.edges.of_datasets(down, fields).links]
    rows += links.edges.of_fields(up, fields).links
    rows += links.edges.of_datasets(up, {-node for node in near if node < 0}).links
    own = links_before(links.connection, bounds, rows).links

    def past(new: Collection[int]) -> Iterable[Row]:
        behind = ended_links_from(links.connection, links.edges, new)
        return chain(own, links_before(links.connection, bounds, behind).links)

    return past


def held_flows(connection: Connection, bounds: Bounds, kind: Hashable) -> HeldFlows | None:
    """Return the flows of one kind of effects that are held for a store with edges in memory; None for others.

    None are held for who may not see all, or asks for another time.
    """
    index = connection.get_execution_options().get(OPTION)
    if index is None or bounds.as_of is not None or sight_of(connection) is not None:
        return None
    found: HeldFlows = index.derived.setdefault((bounds, kind), HeldFlows(bounds))
    return found
