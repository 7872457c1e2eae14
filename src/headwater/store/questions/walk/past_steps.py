"""Walks over past links, each of which is only connected with what has read its output while it held.

A past link that was read, in a span that it held, is a node of a walk: from its input to it, and from it over the links
that have read what it had made. So what arrived at a column on one day does not go on to who read it on another.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from headwater.store.graph.timeline import Span
from headwater.store.questions.walk.edges import Row
from headwater.store.questions.walk.past import ReadLink

FIRST_NODE = 1 << 53
"""Nodes of past links begin here: behind the ids of columns, and of fields within (`leaf_steps`)."""


@dataclass(slots=True)
class PastSteps:
    """Steps out of columns to nodes of past links, and out of these, as links.

    ``columns`` are those at which nodes arrive; ``real`` has the link of the store for each step.
    """

    columns: dict[int, int] = field(default_factory=dict)
    links: dict[int, list[Row]] = field(default_factory=dict)
    real: dict[Row, Row] = field(default_factory=dict)
    before: dict[int, list[Row]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.real)

    def out_of(self, node: int) -> list[Row]:
        """Return the steps out of a column or node."""
        return self.links.get(node, [])

    def into(self, node: int) -> list[Row]:
        """Return the steps to a column or node."""
        return self.before.get(node, [])

    def add(self, source: int, output: int, real: Row) -> None:
        """Add a step that stands for a link of the store."""
        step = (source, output, *real[2:])
        if step not in self.real:
            self.real[step] = real
            self.links.setdefault(source, []).append(step)
            self.before.setdefault(output, []).append(step)

    def after(self, gone: Collection[Row], new: Mapping[Row, Row]) -> "PastSteps":
        """Return the steps without some, and with others, each with its link of the store."""
        links, before, real = dict(self.links), dict(self.before), dict(self.real)
        for step in gone:
            del real[step]
        for place, ends in enumerate((links, before)):
            for end in {step[place] for step in (*gone, *new)}:
                ends[end] = [step for step in ends.get(end, ()) if step in real]
            for step in new:
                ends[step[place]].append(step)
        return PastSteps(self.columns, links, {**real, **new}, before)

    def leads_to_columns(self, node: int) -> bool:
        """Whether any column is behind a node: what nobody has read since leads nowhere."""
        seen, waiting = {node}, [node]
        while waiting and waiting[-1] >= FIRST_NODE:
            new = {step[1] for step in self.out_of(waiting.pop())} - seen
            seen |= new
            waiting += sorted(new, reverse=True)
        return bool(waiting)


def past_steps(read_links: Iterable[ReadLink]) -> PastSteps:
    """Return the steps over past links that were read."""
    steps, nodes = PastSteps(), dict[object, int]()

    def node(key: object, column: int) -> int:
        found = nodes.setdefault(key, FIRST_NODE + len(nodes))
        steps.columns[found] = column
        return found

    every = [(node((link, held, column), column), link, held, reading) for link, held, column, reading in read_links]
    of_spans: dict[tuple[Row, Span | None], dict[int, None]] = {}
    for near, link, held, _ in every:
        of_spans.setdefault((link, held), {})[near] = None
        steps.add(link[0], near, link)
    for near, _, _, reading in every:
        before = near
        if reading.inside is not None:
            before = node((near, reading.inside[1]), reading.inside[1])
            steps.add(near, before, reading.inside)
        now = {reading.link[1]: None} if reading.held is None else {}
        for end in now or of_spans.get((reading.link, reading.held), {}):
            steps.add(before, end, reading.link)
    return steps
