"""Where walks up end: the columns that nothing stands before, and what is known of them."""

from collections.abc import Collection, Mapping

from sqlalchemy import Connection

from headwater.graph import closed_cycles
from headwater.store.catalog.sight import references
from headwater.store.questions.answers import Bounds, Column, Direction, End, Evidence
from headwater.store.questions.closure import Closure
from headwater.store.questions.edges import edges_within
from headwater.store.questions.evidence import evidence, near_columns
from headwater.store.questions.steps import Steps

TO_GUESS = (Evidence.UNNAMED, Evidence.UNWRITTEN)
"""Of a column that was asked for, where another may be meant; of others `Evidence.UNNAMED` alone."""


def ends_of(
    connection: Connection, closure: Closure, columns: Mapping[int, Column], bounds: Bounds
) -> dict[Column, End]:
    """The ends of a walk up, with columns that may be meant instead."""
    found = evidence_of_ends(connection, closure, Steps(closure, Direction.UP), bounds)

    def end(node: int, known: Evidence) -> End:
        guessed = known in TO_GUESS if not closure.distance[node] else known is Evidence.UNNAMED
        return End(known, near_columns(connection, columns[node], bounds.sees) if guessed else ())

    return {columns[node]: end(node, known) for node, known in found.items()}


def evidence_of_ends(connection: Connection, closure: Closure, steps: Steps, bounds: Bounds) -> dict[int, Evidence]:
    """The columns that nothing stands before, with what is known of each; of a walk up and its steps."""
    open_ended = closure.distance.keys() - closure.unexplored
    leaves = {node for node in open_ended if not steps(node)}
    cycles = closed_cycles(open_ended - leaves, leaves | closure.unexplored, steps.successors)
    found = evidence(connection, {node: closure.dataset_of[node] for node in leaves}, now=bounds.as_of is None)
    if bounds.filtered or references(connection):
        found |= dict.fromkeys(_with_more(connection, closure, leaves, bounds), Evidence.FILTERED)
    return found | {node: Evidence.CYCLE for node in cycles if node > 0}


def _with_more(connection: Connection, closure: Closure, leaves: Collection[int], bounds: Bounds) -> set[int]:
    """The leaves that something stands before which a filter left out."""
    every = edges_within(connection, Bounds(bounds.edge_type, bounds.as_of, guess=bounds.guess))
    into = {row[1] for row in every.of_fields(Direction.UP, leaves).links}
    datasets = {closure.dataset_of[node] for node in leaves}
    whole = {-row[1] for row in every.of_datasets(Direction.UP, datasets).links}
    return {node for node in leaves if node in into or closure.dataset_of[node] in whole}
