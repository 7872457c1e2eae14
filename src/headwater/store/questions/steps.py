"""A closure as steps from column to column."""

from collections.abc import Iterator, Sequence

from headwater.store.questions.answers import Direction
from headwater.store.questions.closure import Closure
from headwater.store.questions.edges import Link

Step = tuple[int, Link | None]
"""The next node and the link that leads there; no link between a column and its dataset's own node."""


class Steps:
    """The steps of a closure from a node onward; a dataset's own node stands between it and its columns."""

    def __init__(self, closure: Closure, direction: Direction) -> None:
        self._next: dict[int, list[Step]] = {}
        up = direction is Direction.UP
        for link in closure.links:
            near, far = (link.output, link.input) if up else (link.input, link.output)
            self._next.setdefault(near, []).append((far, link))
        whole = {link.output for link in closure.links if link.output < 0}
        for column, dataset in closure.dataset_of.items():
            if -dataset in whole:
                near, far = (column, -dataset) if up else (-dataset, column)
                self._next.setdefault(near, []).append((far, None))

    def __call__(self, node: int) -> Sequence[Step]:
        """The steps from a node."""
        return self._next.get(node, ())

    def successors(self, node: int) -> Iterator[int]:
        """The nodes that steps lead to from a node."""
        return (then for then, _ in self._next.get(node, ()))

    def counted(self, node: int) -> Iterator[tuple[int, bool]]:
        """Those nodes, each with whether a link leads there."""
        return ((then, link is not None) for then, link in self._next.get(node, ()))
