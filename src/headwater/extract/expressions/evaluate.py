"""The trace of an expression in a scope: an explicit stack, then one table look-up per node."""

from headwater.extract.expressions import (
    aggregates,
    collections,
    comparisons,
    conditionals,
    functions,
    lambdas,
    references,
    structs,
    subqueries,
)
from headwater.extract.scope import Scope, Visitor, Visitors, merged
from headwater.extract.trace import NOTHING, OPAQUE, SAME, Trace, flat, step, union
from headwater.plan import Expression, Node

VISITORS: Visitors = merged(
    references.EXPRESSIONS,
    conditionals.EXPRESSIONS,
    structs.EXPRESSIONS,
    collections.EXPRESSIONS,
    lambdas.EXPRESSIONS,
    aggregates.EXPRESSIONS,
    comparisons.EXPRESSIONS,
    subqueries.EXPRESSIONS,
    functions.EXPRESSIONS,
)


_DEEP = 100


def evaluate(root: Expression, scope: Scope) -> Trace:
    """Where the value of ``root`` comes from.

    An expression may be thousands of nodes deep, and a part of it may be in several places: that is visited once.
    """
    return _visit(root, (), scope) if not root.children else _trace(root, {}, scope, 0)


def _trace(node: Node, traces: dict[Node, Trace], scope: Scope, depth: int) -> Trace:
    found = traces.get(node)
    if found is not None:
        return found
    if depth == _DEEP:
        return _on_a_stack(node, traces, scope)
    below = [
        _trace(child, traces, scope, depth + 1) if child.children else _visit(child, (), scope)
        for child in node.children
    ]
    found = traces[node] = _visit(node, tuple(below), scope)
    return found


def _on_a_stack(root: Node, traces: dict[Node, Trace], scope: Scope) -> Trace:
    """As `_trace`, without recursion."""
    stack: list[Node] = [root]
    while stack:
        node = stack[-1]
        if not _descend(node, stack, traces, scope):
            stack.pop()
            traces[node] = _visit(node, tuple([traces[child] for child in node.children]), scope)
    return traces[root]


def _descend(node: Node, stack: list[Node], traces: dict[Node, Trace], scope: Scope) -> bool:
    """Put the children that have no trace yet on the stack, leaves aside; True when there were any."""
    deeper = False
    for child in node.children:
        if child not in traces:
            if child.children:
                stack.append(child)
                deeper = True
            else:
                traces[child] = _visit(child, (), scope)
    return deeper


def _visit(node: Node, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """One expression; when its visitor fails, that costs the precision of this expression and no more."""
    if not isinstance(node, Expression):
        return NOTHING
    visitor: Visitor = VISITORS.get(node.name, functions.function)
    if scope.extraction.expressions and node in scope.extraction.expressions:
        visitor = _by_extension
    try:
        return visitor(node, children, scope)
    except Exception as error:
        scope.extraction.report("expression", node.name, f"reading it failed ({error!r}): every input counts")
        return step(OPAQUE, union(map(flat, children)))


def _by_extension(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """The children as they take part by an extension's answer; a struct that is handed on stays one."""
    steps = scope.extraction.expressions[node]
    taking_part = [(how, trace) for how, trace in zip(steps, children, strict=True) if how is not None]
    if len(taking_part) == 1 and taking_part[0][0] == SAME:
        return taking_part[0][1]
    return union(step(how, flat(trace)) for how, trace in taking_part)
