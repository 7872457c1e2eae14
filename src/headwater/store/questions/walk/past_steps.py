"""Walks down over past links, each of which only leads to what has read its output while it held.

A past link that was read, in a span that it held, is a node of a walk: from its input to it, and from it over the links
that have read what it had made. So what arrived at a column on one day does not go on to who read it on another.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from headwater.store.graph.timeline import Span
from headwater.store.questions.walk.edges import Row
from headwater.store.questions.walk.past import ReadLink

FIRST_NODE = 1 << 53
"""Nodes of past links begin here: behind the ids of columns, and of fields within (`leaf_steps`)."""


@dataclass(slots=True)
class PastSteps:
    """Steps out of columns to nodes of past links, and out of these, as links.

    ``columns`` are those at which nodes arrive; ``real`` has the links of the store for each step.
    """

    columns: dict[int, int] = field(default_factory=dict)
    links: dict[int, list[Row]] = field(default_factory=dict)
    real: dict[Row, tuple[Row, ...]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.links)

    def out_of(self, node: int) -> list[Row]:
        """Return the steps out of a column or node."""
        return self.links.get(node, [])

    def add(self, step: Row, *real: Row) -> None:
        """Add a step with its links of the store."""
        if step not in self.real:
            self.real[step] = real
            self.links.setdefault(step[0], []).append(step)


def past_steps(read_links: Iterable[ReadLink]) -> PastSteps:
    """Return the steps over past links that were read."""
    steps, nodes = PastSteps(), dict[tuple[Row, Span, int], int]()
    every = list(read_links)
    of: dict[tuple[Row, Span], list[int]] = {}
    for link, held, column, _ in every:
        if (link, held, column) not in nodes:
            node = nodes[link, held, column] = FIRST_NODE + len(nodes)
            of.setdefault((link, held), []).append(node)
            steps.columns[node] = column
            steps.add((link[0], node, *link[2:]), link)
    for link, held, column, reading in every:
        node, (_, output, *how) = nodes[link, held, column], reading.link
        ends = [output] if reading.held is None else of.get((reading.link, reading.held), [])
        real = [one for one in (reading.inside, reading.link) if one is not None]
        for end in ends:
            steps.add((node, end, *how), *real)
    return steps
