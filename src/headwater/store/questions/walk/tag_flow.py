"""Where a tag on some columns flows, by the quickest walk that there is for it."""

from collections.abc import Collection
from dataclasses import replace
from importlib.util import find_spec

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


def flow_from(
    connection: Connection, start: Collection[int], effect: Effect, barriers: Barriers, bounds: Bounds
) -> Flow:
    """Return where a tag on some columns flows.

    Bounds say the moment, the guesses and the kind of edges.
    """
    edges = edges_within(connection, bounds)
    flow = _flow(connection, edges, start, effect, barriers, bounds)
    if bounds.as_of is not None or not any_replacement(connection):
        return flow
    past = past_of(connection, edges, flow, bounds)
    return _flow(connection, edges, start, effect, barriers, bounds, past) if past else flow


def past_of(connection: Connection, edges: AnyEdges, flow: Flow, bounds: Bounds) -> PastSteps:
    """Return the steps over links that no longer hold behind where a tag arrives."""
    near = {node for one in flow.arrived.values() for node in one.now}
    return past_steps(links_before(connection, bounds, ended_links_from(connection, edges, near)).read_links())


def _flow(  # noqa: PLR0913, PLR0917 - all that a walk needs
    connection: Connection,
    edges: AnyEdges,
    start: Collection[int],
    effect: Effect,
    barriers: Barriers,
    bounds: Bounds,
    past: PastSteps | None = None,
) -> Flow:
    """Return the flow: in blocks over edges in memory, and over those of the database where there are very many.

    Row by row the links are found on the way.
    """
    row_by_row = Walker(connection, edges, effect, barriers.before(past) if past else barriers, past)
    if not isinstance(edges, Edges | EdgesInMemory) or not _in_blocks(connection, edges, bounds):
        return row_by_row.flow(start)
    if isinstance(edges, Edges):
        try:
            return replace(row_by_row, most=ROW_BY_ROW).flow(start)
        except TooManyColumns:
            pass
    from headwater.store.questions.walk.tag_blocks import flow_in_blocks  # numpy may not be installed
    from headwater.store.questions.walk.tag_reach import LinksNear

    links = LinksNear(connection, edges, effect, past=past or PastSteps())
    return flow_in_blocks(start, barriers, links, edges)


def _in_blocks(connection: Connection, edges: Edges | EdgesInMemory, bounds: Bounds) -> bool:
    """Whether there are blocks of these edges."""
    if isinstance(edges, EdgesInMemory):
        return bool(edges.arrays)
    plain = sight_of(connection) is None and not has_whole_sources(connection, bounds)
    return plain and find_spec("numpy") is not None
