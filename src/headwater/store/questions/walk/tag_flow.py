"""Where a tag on some columns flows, by the quickest walk that there is for it."""

from collections.abc import Collection
from dataclasses import replace
from importlib.util import find_spec

from sqlalchemy import Connection

from headwater.store.ingest.replacements import any_replacement
from headwater.store.questions.answers import Bounds
from headwater.store.questions.walk.edges import AnyEdges, Edges, EdgesInMemory, Row, edges_within
from headwater.store.questions.walk.steps_inside import has_whole_sources
from headwater.store.questions.walk.tag_walk import (
    ArrivedColumns,
    Arriving,
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
    flow = _flow_in_arrays(edges, start, effect, barriers) if isinstance(edges, EdgesInMemory) else None
    flow = flow or _flow_in_blocks(connection, edges, start, effect, barriers, bounds)
    if bounds.as_of is not None or not any_replacement(connection):
        return flow
    near = {*flow.arrived[Arriving.VALUE].now, *flow.arrived[Arriving.MASKED].now}
    past: dict[int, list[Row]] = {}
    for row in links_before(connection, bounds, ended_links_from(connection, edges, near)):
        past.setdefault(row[0], []).append(row)
    return Walker(connection, edges, effect, barriers, past).flow(start) if past else flow


def _flow_in_arrays(edges: EdgesInMemory, start: Collection[int], effect: Effect, barriers: Barriers) -> Flow | None:
    """Return the flow as `Walker.flow` does; None where edges are into whole datasets."""
    from headwater.store.questions.walk.tag_arrays import ArrayWalk  # numpy may not be installed

    if edges.arrays is None or min(start, default=1) < 0:
        return None
    numbers: dict[Arriving | None, int] = {None: 0, Arriving.VALUE: 1, Arriving.MASKED: 2, Arriving.INFLUENCE: 3}
    value, masked, influence = (numbers[one] for one in Arriving)

    def number_of(transformation: int) -> int:
        return numbers[effect(transformation)] if edges.follows(transformation) else 0

    arrays = ArrayWalk(edges.arrays, number_of, barriers.jobs, barriers.fields)
    values, rest = arrays.from_columns(start, {value})
    arrived: dict[Arriving, ArrivedColumns] = {
        Arriving.VALUE: values,
        Arriving.MASKED: arrays.from_links(rest, masked, {value, masked}, values),
        Arriving.INFLUENCE: arrays.from_links(rest, influence, {value, masked, influence}, values),
    }
    return Flow(arrived, tuple(arrays.blocked))


def _flow_in_blocks(  # noqa: PLR0913, PLR0917 - all that a walk needs
    connection: Connection, edges: AnyEdges, start: Collection[int], effect: Effect, barriers: Barriers, bounds: Bounds
) -> Flow:
    """Return the flow: row by row as long as it is small, which finds the links on the way, else by blocks of ends."""
    small = Walker(connection, edges, effect, barriers)
    plain = sight_of(connection) is None and not has_whole_sources(connection, bounds) and barriers == Barriers()
    if not isinstance(edges, Edges) or not plain or find_spec("numpy") is None:
        return small.flow(start)
    try:
        return replace(small, most=ROW_BY_ROW).flow(start)
    except TooManyColumns:
        from headwater.store.questions.walk.tag_blocks import flow_in_blocks

        return flow_in_blocks(connection, edges, start, effect)
