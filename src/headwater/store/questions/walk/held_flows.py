"""The reach of tags, held beside the edges in memory and brought up to date from what has changed since.

Exactly where a walk would arrive: whatever is not followed here, the walk is done anew (docs/decisions/0134).
"""

import threading
from collections import deque
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import Connection, func, select

from headwater.store import schema
from headwater.store.graph.index import OPTION
from headwater.store.graph.timeline import EVERYTHING, MOST, Version, changed_since, version_of
from headwater.store.questions.answers import Bounds, Node
from headwater.store.questions.walk.edges import AnyEdges, Edges, EdgesInMemory, edges_within
from headwater.store.questions.walk.held_past import HeldPast
from headwater.store.questions.walk.steps_inside import has_whole_sources
from headwater.store.questions.walk.tag_blocks import reach_in_blocks
from headwater.store.questions.walk.tag_flow import flow_from
from headwater.store.questions.walk.tag_leaves import Leaves, Start, flow_by_leaf
from headwater.store.questions.walk.tag_reach import LinksNear, TagReach, flow_of, updated
from headwater.store.questions.walk.tag_walk import Arriving, Barriers, Effect, Flow
from headwater.store.read_model.presence import once, presence
from headwater.store.read_model.visibility import sight_of
from headwater.store.sql.databases import rows_for

_EVENT, _FIELD, _TOUCH = schema.event, schema.field, schema.run_dataset
_LAST_EVENT = select(_EVENT.c.id, _EVENT.c.digest).order_by(_EVENT.c.id.desc()).limit(1)
_LAST_FIELD = select(func.max(_FIELD.c.id))
_Tagged = tuple[frozenset[int], Start]
"""Datasets with a tag, and the columns and fields within that have it themselves."""

_MOST_TAGS = 100
_REMEMBERED = 1_000


class State(NamedTuple):
    """A state of the store, as far as tags flow by it: its edges, its last event, and its last field."""

    edges: Version
    event: tuple[int, bytes]
    field: int


def state_of(connection: Connection) -> State:
    """Return the state that a connection sees."""
    last = connection.execute(_LAST_EVENT).first()
    newest = connection.execute(_LAST_FIELD).scalar()
    return State(once(connection, version_of), (0, b"") if last is None else (last.id, last.digest), newest or 0)


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
    starts: dict[_Tagged, Start] = field(default_factory=dict)
    past: HeldPast | None = None

    def starts_after(self, changed: Collection[int], links: LinksNear) -> dict[_Tagged, Start]:
        """Return the starts after some datasets have changed: the same objects where they have no other columns."""
        if len(self.starts) > _MOST_TAGS:
            return {}
        found: dict[_Tagged, Start] = {}
        for (datasets, own), start in self.starts.items():
            near = datasets.intersection(changed)
            old = {node for one in near for node in self.columns.get(one, ())}
            new = {node for node in links.columns(near) if node > 0}
            other = start._replace(columns=(start.columns - old) | new | own.columns) if old != new else start
            found[datasets, own] = other
        return found


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
        self._held = self._former = _HeldState()

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
            flow = flow_from(connection, start, effect, barriers, self._bounds)
            return flow_by_leaf(connection, flow, leaves, effect, barriers, self._bounds) or flow
        with self._lock:
            held = self._at(connection, edges, effect)
            if held.past is None:
                held.past = HeldPast.of_store(LinksNear(connection, edges, effect), self._bounds)
            past = held.past.steps
            links = LinksNear(connection, edges, effect, held.effects, held.columns, past)
            before, now = held.reaches.pop(tag, None), frozenset(start)
            reach = _with(before, now, barriers, links) if before is not None else None
            held.reaches[tag] = reach = reach or reach_in_blocks(now, barriers, links, edges)
            if len(held.reaches) > _MOST_TAGS:
                held.reaches.pop(next(iter(held.reaches)))
            flow = flow_of(reach, LinksNear(connection, edges, effect, past=past))
            of_leaves = held.leaves.get(tag)
            if of_leaves is None or not of_leaves.is_of(reach, leaves):
                by_leaf = flow_by_leaf(connection, flow, leaves, effect, barriers, self._bounds)
                of_leaves = held.leaves[tag] = _HeldLeaves(reach, leaves.start, leaves.barriers, by_leaf)
        return of_leaves.flow or flow

    def start(self, connection: Connection, datasets: frozenset[int], tagged: Start, effect: Effect) -> Start:
        """Return the columns of some datasets, and others with the same tag, as a start.

        It is the same object as long as it is equal: to compare many columns takes longer than to follow an event.
        """
        edges = edges_within(connection, self._bounds)
        with self._lock:
            held = self._at(connection, edges, effect)
            if (datasets, tagged) not in held.starts:
                found = LinksNear(connection, edges, effect, columns_of=held.columns).columns(datasets)
                columns = frozenset(node for node in found if node > 0)
                held.starts[datasets, tagged] = tagged._replace(columns=columns | tagged.columns)
            return held.starts[datasets, tagged]

    def _at(self, connection: Connection, edges: AnyEdges, effect: Effect) -> _HeldState:
        """Return what is held of the state that a connection sees, without the tags that cannot be followed."""
        state = once(connection, state_of)
        if state == self._state:
            return self._held
        if state in self._past:
            return self._former if state == self._past[-1] else _HeldState()  # somebody who began earlier
        changed = None if self._state is None else datasets_changed_since(connection, self._state)
        held, before = _HeldState(), self._held
        if self._state is not None and changed is not None:
            by_leaf = presence(connection).nested_lineage or any(one.flow for one in before.leaves.values())
            described = by_leaf and describes_datasets(connection, self._state)
            columns = dict(before.columns)
            for dataset in changed:
                columns.pop(dataset, None)
            held = _HeldState({}, before.effects, columns)
            links = LinksNear(connection, edges, effect, held.effects, held.columns)
            held.starts = before.starts_after(changed, links)
            followed = before.past.after(links, self._bounds, changed) if before.past is not None else None
            if followed is not None:
                held.past, ends = followed
                links.past = held.past.steps
                whole = {-one for one in ends if one < 0}
                near = links.columns(whole.union(changed)).union(ends, (-one for one in changed))
                for tag, reach in before.reaches.items():
                    held.reaches[tag] = updated(reach, reach.start, near, links)
                    if held.reaches[tag] is reach and tag in before.leaves and not described:
                        held.leaves[tag] = before.leaves[tag]
        if self._state is not None:
            self._past.append(self._state)
        self._state, self._held, self._former = state, held, before
        return held


def _with(reach: TagReach, start: frozenset[int], barriers: Barriers, links: LinksNear) -> TagReach | None:
    """Return where a tag arrives from other columns and behind other barriers; None where too much is other."""
    old = reach.barriers
    jobs, fields = old.jobs ^ barriers.jobs, old.fields ^ barriers.fields
    tagged = reach.tagged_anew(start)
    if not (tagged or jobs or fields):
        return reach
    if len(tagged) + len(jobs) + len(fields) > MOST:
        return None
    touch = select(_TOUCH.c.dataset_id).join(schema.run, schema.run.c.id == _TOUCH.c.run_id).where(_TOUCH.c.written)
    rows = rows_for(links.connection, jobs, lambda some: touch.where(schema.run.c.job_id.in_(some)).distinct())
    written = {row.dataset_id for row in rows}
    near = links.columns(written).union(fields, (-one for one in written))
    steps = links.past
    nodes = {node for node, column in steps.columns.items() if column in fields} if fields else set()
    near |= nodes.union(step[1] for step in steps.real if step[3] in jobs) if jobs else nodes
    return updated(reach._replace(barriers=barriers), start, near, links)


def held_flows(connection: Connection, bounds: Bounds, kind: Hashable) -> HeldFlows | None:
    """Return the flows of one kind of effects that are held for a store with edges in memory; None for others.

    None are held for who may not see all, or asks for another time.
    """
    index = connection.get_execution_options().get(OPTION)
    if index is None or bounds.as_of is not None or sight_of(connection) is not None:
        return None
    found: HeldFlows = index.derived.setdefault((bounds, kind), HeldFlows(bounds))
    return found
