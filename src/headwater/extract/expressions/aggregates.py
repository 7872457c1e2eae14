"""Aggregate and window functions."""

from headwater.extract.expressions.table import Visitors
from headwater.extract.scope import Scope
from headwater.extract.trace import AGGREGATED, CONDITION, NOTHING, TRANSFORMED, WINDOW, Trace, flat, step, union
from headwater.plan import Expression


def aggregate_expression(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``sum(x) FILTER (WHERE c)``: the arguments are AGGREGATION, the filter CONDITIONAL."""
    filters = step(CONDITION, union(map(flat, children[1:])))
    return union((step(AGGREGATED, children[0]), filters))


def aggregated_arguments(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """An aggregate that stands in a window without the usual wrapper: ``nth_value``, a pandas aggregate."""
    return step(AGGREGATED, union(map(flat, children)))


def pivot_first(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``PIVOT``: the pivot column decides which output column a value goes to."""
    return union((step(CONDITION, children[0]), step(AGGREGATED, union(map(flat, children[1:])))))


def rank(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``rank()`` has the ORDER BY expressions of its window as children: the window already tells of them."""
    return NOTHING


def window_specification(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``PARTITION BY … ORDER BY …``."""
    return step(WINDOW, union(map(flat, children)))


def window_expression(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``f(x) OVER (…)``."""
    return union(map(flat, children))


def offset_function(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``lag(x, 1, default)``: the value of another row."""
    return step(TRANSFORMED, union(map(flat, children)))


EXPRESSIONS: Visitors = {
    "AggregateExpression": aggregate_expression,
    "PivotFirst": pivot_first,
    "NthValue": aggregated_arguments,
    "PythonUDAF": aggregated_arguments,
    "Lag": offset_function,
    "Lead": offset_function,
    "WindowExpression": window_expression,
    "WindowSpecDefinition": window_specification,
    **dict.fromkeys(("Rank", "DenseRank", "PercentRank", "CumeDist", "RowNumber", "NTile"), rank),
}
