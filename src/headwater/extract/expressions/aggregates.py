"""Aggregate and window functions."""

from dataclasses import replace

from headwater.extract.scope import Scope, Visitors
from headwater.extract.trace import (
    AGGREGATED,
    CONDITION,
    NOTHING,
    TRANSFORMED,
    WINDOW,
    Elements,
    Struct,
    Trace,
    decided,
    elements,
    flat,
    merge,
    shaped,
    step,
    union,
)
from headwater.plan import Expression


def aggregate_expression(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``sum(x) FILTER (WHERE c)``: the arguments are AGGREGATION, the filter CONDITIONAL."""
    filters = step(CONDITION, union(map(flat, children[1:])))
    value = shaped(AGGREGATED, children[0])
    if isinstance(value, Elements) and node.values.get("isDistinct"):
        value = replace(value, extent=flat(value))
    return decided(value, filters)


def chosen(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``first(x)``, ``max_by(x, y)``: the value of one row; a leaf of it depends on what chooses the row alone."""
    return decided(children[0], union(map(flat, children[1:])))


def collected(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``collect_list(x)``: values that are NULL are left out, of a set also those that it has already."""
    value = children[0]
    missing = value.whole if isinstance(value, Struct) else flat(value)
    return elements(None, (value,), extent=flat(value) if node.name == "CollectSet" else missing)


def aggregated_arguments(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """An aggregate that stands in a window without the usual wrapper: a pandas aggregate."""
    return step(AGGREGATED, union(map(flat, children)))


def nth_value(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``nth_value(x, 2)``, without the usual wrapper as well."""
    return shaped(AGGREGATED, chosen(node, children, scope))


def pivot_first(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``PIVOT``: the pivot column decides which output column a value goes to."""
    return union((step(CONDITION, children[0]), step(AGGREGATED, union(map(flat, children[1:])))))


def rank(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``rank()`` has the ORDER BY expressions of its window as children: the window already has them."""
    return NOTHING


def window_specification(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``PARTITION BY … ORDER BY …``."""
    return step(WINDOW, union(map(flat, children)))


def window_expression(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``f(x) OVER (…)``."""
    return decided(children[0], union(map(flat, children[1:])))


def offset_function(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``lag(x, 1, default)``: the value of another row."""
    value = merge((*children[:1], *children[2:3]))
    return decided(shaped(TRANSFORMED, value), step(TRANSFORMED, union(map(flat, children[1:2]))))


EXPRESSIONS: Visitors = {
    "AggregateExpression": aggregate_expression,
    "PivotFirst": pivot_first,
    "NthValue": nth_value,
    "PythonUDAF": aggregated_arguments,
    **dict.fromkeys(("AnyValue", "First", "Last", "MaxBy", "MinBy"), chosen),
    **dict.fromkeys(("CollectList", "CollectSet"), collected),
    "Lag": offset_function,
    "Lead": offset_function,
    "WindowExpression": window_expression,
    "WindowSpecDefinition": window_specification,
    **dict.fromkeys(("Rank", "DenseRank", "PercentRank", "CumeDist", "RowNumber", "NTile"), rank),
}
