"""Only what influences without carrying the value: the paths with an INDIRECT step on them."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from headwater.graph import reachable
from headwater.model import Transformation
from headwater.store.questions.answers import Direction
from headwater.store.questions.closure import Closure
from headwater.store.questions.edges import Link
from headwater.store.questions.steps import Steps
from headwater.store.questions.ways import Arrivals


def only_indirect(
    closure: Closure, start: Collection[int], ways: Mapping[int, Transformation], direction: Direction
) -> Closure:
    """The part of a closure whose paths from the start are INDIRECT as a whole (see `headwater.model.compose`)."""
    up = direction is Direction.UP
    after = Arrivals(start, Steps(closure, direction), ways, direction).indirect()
    indirect = [link for link in closure.links if not ways[link.transformation].direct]
    before = reachable((_near(link, up=up) for link in indirect), Steps(closure, _other(direction)).successors)
    kept = [
        link
        for link in closure.links
        if not ways[link.transformation].direct or _near(link, up=up) in after or _near(link, up=not up) in before
    ]
    shown = after.union(start, *((link.input, link.output) for link in kept))
    distance = {node: far for node, far in closure.distance.items() if node in shown}
    return replace(closure, distance=distance, rows=tuple(kept))


def _near(link: Link, *, up: bool) -> int:
    return link.output if up else link.input


def _other(direction: Direction) -> Direction:
    return Direction.DOWN if direction is Direction.UP else Direction.UP
