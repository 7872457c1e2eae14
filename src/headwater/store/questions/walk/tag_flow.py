"""Where a tag on some columns flows, by the quickest walk that there is for it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import chain
from typing import Any

from sqlalchemy import Connection

from headwater.store.ingest.replacements import any_replacement
from headwater.store.questions.answers import Bounds
from headwater.store.questions.walk.edges import AnyEdges, Edges, EdgesInMemory, edges_within
from headwater.store.questions.walk.past_steps import PastSteps, past_steps
from headwater.store.questions.walk.steps_inside import has_whole_sources
from headwater.store.questions.walk.tag_walk import (
    Barriers,
    Effect,
    Flow,
    TooManyColumns,
    Walker,
    ended_links_from,
    links_before,
)
from headwater.store.read_model.visibility import sight_of

ROW_BY_ROW = 20_000
"""Columns; a walk over edges in the database that reaches more is done in blocks."""

_MOST_STEPS = 50_000  # over past links; behind more of them a walk anew is as quick


def flow_from(
    connection: Connection, start: Collection[int], effect: Effect, barriers: Barriers, bounds: Bounds
) -> Flow:
    """Return where a tag on some columns flows.

    Bounds say the moment, the guesses and the kind of edges.
    """
    edges = edges_within(connection, bounds)
    if isinstance(edges, Edges | EdgesInMemory) and _in_blocks(connection, edges, bounds):
        if isinstance(edges, Edges):
            try:
                return _row_by_row(edges, Walker(connection, edges, effect, barriers, most=ROW_BY_ROW), start, bounds)
            except TooManyColumns:
                pass
        return _flow_in_blocks(connection, edges, start, effect, barriers, bounds)
    return _row_by_row(edges, Walker(connection, edges, effect, barriers), start, bounds)


def past_of(connection: Connection, edges: AnyEdges, flow: Flow, bounds: Bounds) -> PastSteps:
    """Return the steps over links that no longer hold behind where a tag arrives; none of those of a moment."""
    if bounds.as_of is not None or not any_replacement(connection):
        return PastSteps()
    near = _Arrived(tuple(one.now for one in flow.arrived.values()))
    return past_steps(links_before(connection, bounds, ended_links_from(connection, edges, near)).read_links())


@dataclass(frozen=True)
class _Arrived(Collection[int]):
    """The columns at which anything arrives: of millions it takes a second to make a set."""

    kinds: tuple[Mapping[int, Any], ...]

    def __len__(self) -> int:
        return sum(map(len, self.kinds))

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.kinds)

    def __contains__(self, node: object) -> bool:
        return any(node in one for one in self.kinds)


def _row_by_row(edges: AnyEdges, walker: Walker, start: Collection[int], bounds: Bounds) -> Flow:
    """Return the flow; the links are found on the way."""
    flow, barriers = walker.flow(start), walker.barriers
    past = past_of(walker.connection, edges, flow, bounds)
    if not past:
        return flow
    return Walker(walker.connection, edges, walker.effect, barriers.before(past), past, walker.most).flow(start)


def _flow_in_blocks(  # noqa: PLR0913, PLR0917 - all that a walk needs
    connection: Connection,
    edges: Edges | EdgesInMemory,
    start: Collection[int],
    effect: Effect,
    barriers: Barriers,
    bounds: Bounds,
) -> Flow:
    """Return the flow in blocks; steps over past links are followed from where it has arrived without."""
    from headwater.store.questions.walk.tag_blocks import reach_in_blocks  # numpy may not be installed
    from headwater.store.questions.walk.tag_reach import LinksNear, flow_of, updated

    links = LinksNear(connection, edges, effect)
    reach = reach_in_blocks(start, barriers, links, edges)
    if past := past_of(connection, edges, flow_of(reach, links), bounds):
        links = LinksNear(connection, edges, effect, links.effects, past=past)
        if len(past.real) > _MOST_STEPS:
            reach = reach_in_blocks(start, barriers, links, edges)
        else:
            ends = {step[1] for step in past.real}
            reach = updated(reach, reach.start, ends | links.columns({-one for one in ends if one < 0}), links)
    return flow_of(reach, links)


def _in_blocks(connection: Connection, edges: Edges | EdgesInMemory, bounds: Bounds) -> bool:
    """Whether there are blocks of these edges."""
    if isinstance(edges, EdgesInMemory):
        return bool(edges.arrays)
    plain = sight_of(connection) is None and not has_whole_sources(connection, bounds)
    return plain and find_spec("numpy") is not None
