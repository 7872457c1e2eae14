"""Columns that are made from one another only, such as a table that a job reads and overwrites."""

from collections.abc import Callable, Collection, Iterable, Iterator

Steps = Callable[[int], Iterable[tuple[int, object]]]
"""From a node to those that come next, each with what leads there."""


def closed_cycles(nodes: Collection[int], ends: Collection[int], steps: Steps) -> set[int]:
    """The columns of every cycle that nothing leads out of, among columns from which no end is reached."""
    lost = _not_reaching(nodes, ends, steps)
    component = components(lost, steps)
    leaving = {component[node] for node in component for then, _ in steps(node) if component[then] != component[node]}
    return {node for node in component if node > 0 and component[node] not in leaving}


def _not_reaching(nodes: Collection[int], ends: Collection[int], steps: Steps) -> set[int]:
    before: dict[int, set[int]] = {}
    seen = set(nodes)
    stack = list(nodes)
    while stack:
        node = stack.pop()
        for then, _ in steps(node):
            before.setdefault(then, set()).add(node)
            if then not in seen:
                seen.add(then)
                stack.append(then)
    reaching = set(ends)
    stack = list(ends)
    while stack:
        new = before.get(stack.pop(), set()) - reaching
        reaching |= new
        stack += new
    return seen - reaching


def components(nodes: Collection[int], steps: Steps) -> dict[int, int]:
    """Strongly connected components (Kosaraju): which nodes reach one another, by a representative."""
    before: dict[int, list[int]] = {}
    for node in nodes:
        for then, _ in steps(node):
            before.setdefault(then, []).append(node)
    component: dict[int, int] = {}
    for first in reversed(_finished(nodes, steps)):
        stack = [first] if first not in component else []
        while stack:
            node = stack.pop()
            if node not in component:
                component[node] = first
                stack += before.get(node, [])
    return component


def _finished(nodes: Collection[int], steps: Steps) -> list[int]:
    """The nodes in the order in which a depth-first walk leaves them."""
    order: list[int] = []
    seen: set[int] = set()
    for first in nodes:
        stack: list[tuple[int, Iterator[int]]] = []
        _enter(first, stack, seen, steps)
        while stack:
            node, onward = stack[-1]
            then = next(onward, None)
            if then is None:
                order.append(node)
                stack.pop()
            else:
                _enter(then, stack, seen, steps)
    return order


def _enter(node: int, stack: list[tuple[int, Iterator[int]]], seen: set[int], steps: Steps) -> None:
    if node not in seen:
        seen.add(node)
        stack.append((node, (then for then, _ in steps(node))))
