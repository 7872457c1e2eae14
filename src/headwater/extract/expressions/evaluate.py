"""The trace of an expression in a scope: an explicit stack, then one table look-up per node."""

from headwater.extract.expressions import aggregates, conditionals, functions, references, structs, subqueries
from headwater.extract.expressions.table import Visitor, Visitors, merged
from headwater.extract.scope import Scope
from headwater.extract.trace import NOTHING, OPAQUE, Trace, flat, step, union
from headwater.plan import Expression, Node

VISITORS: Visitors = merged(
    references.EXPRESSIONS,
    conditionals.EXPRESSIONS,
    structs.EXPRESSIONS,
    aggregates.EXPRESSIONS,
    subqueries.EXPRESSIONS,
    functions.EXPRESSIONS,
)


def evaluate(root: Expression, scope: Scope) -> Trace:
    """Where the value of ``root`` comes from.

    Works on an explicit stack: an expression may be thousands of nodes deep.
    """
    if root.name == "AttributeReference":
        return references.attribute_reference(root, (), scope)
    traces: dict[Node, Trace] = {}
    stack: list[Node] = [root]
    while stack:
        node = stack[-1]
        missing = [child for child in node.children if child not in traces]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        if node not in traces:
            traces[node] = _visit(node, tuple(traces[child] for child in node.children), scope)
    return traces[root]


def _visit(node: Node, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """One expression; when its visitor fails, that costs the precision of this expression and no more."""
    visitor: Visitor = VISITORS.get(node.name, functions.function)
    if not isinstance(node, Expression):
        return NOTHING
    try:
        return visitor(node, children, scope)
    except Exception as error:
        scope.extraction.report("expression", node.name, f"reading it failed ({error!r}): every input counts")
        return step(OPAQUE, union(map(flat, children)))
