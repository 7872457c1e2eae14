"""A closure as steps from column to column, and what is reached over them."""

from collections import deque
from collections.abc import Iterable, Sequence

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


def distances(start: int, steps: Steps) -> dict[int, int]:
    """How many links there are between a node and each that steps lead to."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for then, link in steps(node):
            far = found[node] + (link is not None)
            if far < found.get(then, far + 1):
                found[then] = far
                (queue.append if link is not None else queue.appendleft)(then)
    return found


def reached(nodes: Iterable[int], steps: Steps) -> set[int]:
    """The nodes that steps lead to from these, themselves included."""
    found = set(nodes)
    stack = list(found)
    while stack:
        new = {node for node, _ in steps(stack.pop())} - found
        found |= new
        stack += new
    return found
