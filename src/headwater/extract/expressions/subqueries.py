"""Subqueries used as a value: what happens inside touches only the column that uses it."""

from dataclasses import replace

from headwater.extract.scope import Rows, Scope, Visitors
from headwater.extract.substitution import substitute, substitute_paths
from headwater.extract.trace import (
    CORRELATED,
    NOTHING,
    TRANSFORMED,
    Paths,
    Trace,
    decided,
    flat,
    step,
    union,
)
from headwater.plan import Expression, Operator


def inner(node: Expression, scope: Scope) -> Rows:
    """The rows of a subquery's plan, its outer references replaced by this scope's columns."""
    rows = scope.extraction.rows(node.operator("plan"))
    columns = {key: substitute(trace, scope.outer) for key, trace in rows.columns.items()}
    return Rows(rows.output, columns, joined(substitute_paths(rows.deciding, scope.outer)))


def scalar_subquery(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``(SELECT max(x) FROM t WHERE …)``: the value as it is, with what decides on it. Children are outer columns."""
    rows = inner(node, scope)
    return decided(rows.column(0), rows.deciding)


def exists(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``EXISTS (SELECT …)`` as a value: the correlated columns are compared, the rest decides on the rows."""
    compared = _correlation(node.operator("plan"), scope)
    deciding = uncorrelated(scope.extraction.rows(node.operator("plan")).deciding)
    return substitute_paths(union((step(TRANSFORMED, compared), deciding)), scope.outer)


def joined(paths: Paths) -> Paths:
    """The paths with comparisons with the query around them as the joins that they are."""
    rest = uncorrelated(paths)
    return rest | frozenset((origin, replace(how, description="")) for origin, how in paths - rest)


def uncorrelated(paths: Paths) -> Paths:
    """The paths without those of comparisons with the query around them."""
    return frozenset(path for path in paths if path[1].description != CORRELATED.description)


def _correlation(plan: Operator | None, scope: Scope) -> Paths:
    """The comparisons with the query around it in the filters of a subquery's plan."""
    found: list[Paths] = []
    stack = [plan] if plan else []
    while stack:
        operator = stack.pop()
        found.append(scope.extraction.correlations.get(operator, NOTHING))
        stack.extend(operator.inputs)
    return union(found)


def in_subquery(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``x IN (SELECT y …)`` as a value: x and y are compared."""
    rows, compared = in_parts(node, children, scope)
    return union((step(TRANSFORMED, compared), rows.deciding))


def in_parts(node: Expression, children: tuple[Trace, ...], scope: Scope) -> tuple[Rows, Paths]:
    """The rows of the subquery of an IN, and the columns compared, those of both sides."""
    query = node.expression("query") or node
    rows = inner(query, scope)
    values = node.expressions("values")
    wanted = [trace for child, trace in zip(node.children, children, strict=True) if child in values]
    sides = [*wanted, *(rows.column(position) for position in range(len(values)))]
    return rows, union(map(flat, sides))


def list_query(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """The right side of an IN: read by in_subquery()."""
    return frozenset()


def table_argument(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``f(TABLE(t))``: the function gets every column."""
    rows = inner(node, scope)
    return union((step(TRANSFORMED, union(map(flat, rows.columns.values()))), rows.deciding))


EXPRESSIONS: Visitors = {
    "ScalarSubquery": scalar_subquery,
    "Exists": exists,
    "InSubquery": in_subquery,
    "ListQuery": list_query,
    "FunctionTableSubqueryArgumentExpression": table_argument,
}
