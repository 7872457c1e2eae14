"""Aggregates, pivots and windows."""

from headwater.extract.operators.table import Visitors, computed, row_dependencies, row_effects, scope_of
from headwater.extract.operators.watermarks import without_late
from headwater.extract.scope import Extraction, Rows
from headwater.extract.trace import GROUP_BY, Paths, union
from headwater.plan import Expression, Node, Operator


def aggregate(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``SELECT k, sum(x) … GROUP BY k``."""
    scope = scope_of(children, extraction)
    output, columns = computed(node.expressions("aggregateExpressions"), scope)
    grouped = row_effects(GROUP_BY, node.expressions("groupingExpressions"), scope)
    below = _below_pivot(node, extraction) if _is_pivot(node) else row_dependencies(children)
    rows = Rows(output, columns, union((below, grouped)))
    return without_late(node, rows, (grouped,), extraction)


def window(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``f(x) OVER (…)``: the child's columns, then the window functions'."""
    output, columns = computed(node.expressions("windowExpressions"), scope_of(children, extraction))
    return Rows((*children[0].output, *output), {**children[0].columns, **columns}, row_dependencies(children))


def _is_pivot(node: Operator) -> bool:
    """Spark rewrites PIVOT into two aggregates, the upper one of PivotFirst (Analyzer, ResolvePivot)."""
    return any(_holds_pivot(expression) for expression in node.expressions("aggregateExpressions"))


def _holds_pivot(expression: Expression) -> bool:
    node: Node = expression
    while node.children:
        if node.name == "PivotFirst":
            return True
        node = node.children[0]
    return False


def _below_pivot(node: Operator, extraction: Extraction) -> Paths:
    """The lower aggregate of a PIVOT groups by the pivot column too, which nobody wrote: pass it over."""
    return row_dependencies(extraction.rows(below) for inner in node.inputs for below in inner.inputs)


OPERATORS: Visitors = {"Aggregate": aggregate, "Window": window}
