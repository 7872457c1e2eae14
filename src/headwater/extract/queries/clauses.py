"""The clauses that decide on the rows of a query: WHERE, HAVING, ON, USING, GROUP BY, DISTINCT, ORDER BY."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from headwater.extract.queries import expressions, joins
from headwater.extract.trace import FILTER, GROUP_BY, JOIN, NOTHING, SORT, Paths, Step, step, union

if TYPE_CHECKING:
    from headwater.extract.queries.scopes import Reading

_LOGIC = (exp.And, exp.Or, exp.Not, exp.Paren)


def deciding(scope: Scope, reading: Reading, *, correlated: bool = True) -> Paths:
    """Everything that decides on the rows of a SELECT, what is inside its FROM included.

    Without ``correlated``, what its WHERE compares with the query around it is left out.
    """
    query = scope.expression
    below = union(reading.rows(origin, scope) for _, origin in scope.selected_sources.values())
    clauses = ((name, query.args.get(name)) for name in ("where", "prewhere", "having", "qualify"))
    counts = (query.args.get(name) for name in ("limit", "offset"))
    return union(
        (
            below,
            union(
                predicate(clause.this, FILTER, scope, reading, correlated=correlated or name != "where")
                for name, clause in clauses
                if clause
            ),
            union(_joined(join.node, scope, reading) for join in reading.joins(scope)),
            step(JOIN, joins.compared(scope, reading)),
            _connected(query.args.get("connect"), scope, reading),
            step(FILTER, union(expressions.trace(count, scope, reading) for count in counts if count)),
            step(FILTER, union(expressions.columns_within(one, scope, reading) for one in joins.arrays(scope))),
            step(GROUP_BY, _grouped(scope, reading)),
            step(SORT, union(_sorted(scope, reading))),
        )
    )


def selects(scope: Scope) -> list[exp.Expr]:
    """The expressions after SELECT; none in the scope of another kind of query."""
    return list(scope.expression.selects) if isinstance(scope.expression, exp.Select) else []


def predicate(condition: exp.Expr, how: Step, scope: Scope, reading: Reading, *, correlated: bool = True) -> Paths:
    """The paths by which a condition decides, conjunct by conjunct; IN and EXISTS subqueries are joins."""
    parts = (part for part in _split(condition) if correlated or not _is_correlated(part, scope, reading))
    return union(_part(part, how, scope, reading) for part in parts)


def correlation(scope: Scope, reading: Reading) -> Paths:
    """The comparisons with the query around it in the WHERE of a subquery."""
    where = scope.expression.args.get("where")
    parts = _split(where.this) if where else ()
    return union(expressions.trace(part, scope, reading) for part in parts if _is_correlated(part, scope, reading))


def _part(condition: exp.Expr, how: Step, scope: Scope, reading: Reading) -> Paths:
    if isinstance(condition, exp.Exists) and (inner := reading.subquery(condition.this, scope)):
        return reading.result(inner).deciding
    if isinstance(condition, exp.In) and (query := condition.args.get("query")):
        compared, within = expressions.in_query(condition, query, scope, reading)
        return union((step(JOIN, compared), within))
    found = expressions.trace(condition, scope, reading)
    return step(JOIN if _is_correlated(condition, scope, reading) else how, found)


def _is_correlated(condition: exp.Expr, scope: Scope, reading: Reading) -> bool:
    return scope.is_subquery and any(reading.is_outer(column, scope) for column in condition.find_all(exp.Column))


def _split(condition: exp.Expr) -> Iterator[exp.Expr]:
    stack = [condition]
    while stack:
        part = stack.pop()
        if isinstance(part, _LOGIC):
            stack.extend(part.iter_expressions())
        else:
            yield part


def _joined(join: exp.Join, scope: Scope, reading: Reading) -> Paths:
    if join.method == "NATURAL":
        reading.problems.append("which columns a NATURAL JOIN compares is not in the query")
    condition = join.args.get("on")
    return predicate(condition, JOIN, scope, reading) if condition else NOTHING


def _connected(connect: exp.Connect | None, scope: Scope, reading: Reading) -> Paths:
    """Oracle's ``START WITH`` chooses rows, and ``CONNECT BY`` joins those of a table to its own."""
    start, condition = (connect.args.get(name) for name in ("start", "connect")) if connect else (None, None)
    return union(
        predicate(part, how, scope, reading) for part, how in ((start, FILTER), (condition, JOIN)) if part is not None
    )


def _grouped(scope: Scope, reading: Reading) -> Paths:
    """The grouping columns, those of ROLLUP, CUBE and GROUPING SETS too; with DISTINCT all that is selected."""
    group, distinct = scope.expression.args.get("group"), scope.expression.args.get("distinct")
    keys = list(group.iter_expressions()) if group else []
    if distinct:
        on = distinct.args.get("on")
        keys += on.expressions if on else [item for item in selects(scope) if not item.is_star]
    return union(_selected_or_not(key, scope, reading) for key in keys)


def _sorted(scope: Scope, reading: Reading) -> Iterator[Paths]:
    order = scope.expression.args.get("order")
    for key in order.expressions if order else ():
        yield _selected_or_not(key.this if isinstance(key, exp.Ordered) else key, scope, reading)


def _selected_or_not(key: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """A key may be the number or the name of a selected column."""
    items = selects(scope)
    if isinstance(key, exp.Literal) and key.is_int and 0 < int(key.this) <= len(items):
        key = items[int(key.this) - 1]
    elif isinstance(key, exp.Column) and not key.table:
        key = next((item for item in items if item.alias == key.name), key)
    return NOTHING if key.is_star else expressions.trace(key, scope, reading)
