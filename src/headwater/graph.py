"""Directed graphs of any hashable nodes, which a function from a node to its successors describes."""

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)

Successors = Callable[[Node], Iterable[Node]]
"""From a node to those that its edges lead to."""


def reachable(nodes: Iterable[Node], successors: Successors[Node]) -> set[Node]:
    """Return the nodes that edges lead to from these, themselves included.

    >>> sorted(reachable([2], {1: [2], 2: [3], 3: [2]}.__getitem__))
    [2, 3]
    """
    found = set(nodes)
    stack = list(found)
    while stack:
        new = set(successors(stack.pop())) - found
        found |= new
        stack += new
    return found


def distances(start: Node, steps: Callable[[Node], Iterable[tuple[Node, bool]]]) -> dict[Node, int]:
    """Return the length of a shortest path to each node that steps lead to, 0 for the start.

    Args:
        start: where paths begin.
        steps: from a node to its successors, each with whether the step counts.

    >>> distances("a", {"a": [("b", True)], "b": [("c", False)], "c": [("a", True)]}.__getitem__)
    {'a': 0, 'b': 1, 'c': 1}
    """
    found = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for then, counts in steps(node):
            far = found[node] + counts
            if far < found.get(then, far + 1):
                found[then] = far
                (queue.append if counts else queue.appendleft)(then)
    return found


def components(nodes: Iterable[Node], successors: Successors[Node]) -> Iterator[tuple[Node, ...]]:
    """Yield the strongly connected components, each after those that it points to, in linear time.

    Tarjan's algorithm ("Depth-first search and linear graph algorithms", 1972), on a stack of its own.

    Args:
        nodes: where to begin; components that edges lead to from there come too.
        successors: the edges.

    >>> graph = {1: [2], 2: [3], 3: [2]}
    >>> list(components(graph, graph.__getitem__))
    [(2, 3), (1,)]
    """
    number: dict[Node, int] = {}
    lowest: dict[Node, int] = {}
    path: list[Node] = []
    for root in nodes:
        waiting = [] if root in number else [(root, iter(successors(root)))]
        while waiting:
            node, rest = waiting[-1]
            if node not in number:
                number[node] = lowest[node] = len(number)
                path.append(node)
            for other in rest:
                if other not in number:
                    waiting.append((other, iter(successors(other))))
                    break
                lowest[node] = min(lowest[node], lowest.get(other, number[node]))
            else:
                waiting.pop()
                if waiting:
                    above = waiting[-1][0]
                    lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] == number[node]:
                    found = _cut(path, node)
                    for one in found:
                        del lowest[one]  # of this component nothing more is asked
                    yield found


def closed_cycles(nodes: Iterable[Node], ends: Collection[Node], successors: Successors[Node]) -> set[Node]:
    """Return the nodes of all cycles that no edge leads out of, where some nodes lead and where no end is reached.

    Args:
        nodes: where to begin.
        ends: the nodes without successors, and others behind which nothing is known.
        successors: the edges.

    >>> sorted(closed_cycles([1, 4], [5], {1: [2], 2: [3], 3: [2], 4: [4, 5], 5: []}.__getitem__))
    [2, 3]
    """
    before: dict[Node, list[Node]] = {}
    every = set(nodes)
    stack = list(every)
    while stack:
        node = stack.pop()
        for then in successors(node):
            before.setdefault(then, []).append(node)
            if then not in every:
                every.add(then)
                stack.append(then)
    ending = reachable(ends, lambda node: before.get(node, ()))
    endless = every - ending
    return {
        node
        for component in map(frozenset, components(endless, successors))
        if all(component.issuperset(successors(node)) for node in component)
        for node in component
    }


def _cut(path: list[Node], node: Node) -> tuple[Node, ...]:
    """Take the end of a path, from a node on, off it."""
    place = len(path) - 1
    while path[place] != node:
        place -= 1
    found = tuple(path[place:])
    del path[place:]
    return found
