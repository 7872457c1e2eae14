"""Expressions of a query's SQL: which columns a value is made of, and how; the rules are those of Spark's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from headwater.extract.queries.result import Result, Star
from headwater.extract.trace import (
    AGGREGATED,
    CONDITION,
    NOTHING,
    OPAQUE,
    TRANSFORMED,
    WINDOW,
    Paths,
    step,
    union,
)
from headwater.model import Subtype, Transformation

if TYPE_CHECKING:
    from headwater.extract.queries.scopes import Reading

Rule = Callable[[exp.Expr, Scope, "Reading"], Paths]

_MASKED = Transformation(Subtype.TRANSFORMATION, masking=True)
_MASKED_AGGREGATE = Transformation(Subtype.AGGREGATION, masking=True)
_ORDERS = (exp.Distinct, exp.Ordered, exp.Order, exp.IgnoreNulls, exp.RespectNulls)
_SAME = (exp.Alias, exp.Paren, exp.Tuple, exp.Prior, exp.ConnectByRoot, *_ORDERS)
_OF_ROWS = frozenset({"row_to_json", "to_json", "to_jsonb", "json_agg", "jsonb_agg"})
_COUNTS = (exp.Count, exp.CountIf, exp.ApproxDistinct, exp.Hll)
_HASHES = (exp.MD5, exp.MD5Digest, exp.SHA, exp.SHA2, exp.SHA1Digest, exp.SHA2Digest, exp.StandardHash)
_HASH_NAMES = frozenset({"crc32", "hash", "hashbytes", "mask", "md5", "sha", "sha1", "sha2", "sha256", "sha512"})
_OFFSETS = (exp.Lag, exp.Lead)


def trace(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """Where the value of an expression comes from."""
    for kinds, rule in _RULES:
        if isinstance(node, kinds):
            return rule(node, scope, reading)
    return _function(node, scope, reading)


def columns_within(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """Every column that is named somewhere in an expression."""
    return union(reading.column(found, scope) for found in node.find_all(exp.Column))


def chosen(tested: Paths, values: Paths) -> Paths:
    """One of several values, chosen by what is tested."""
    return union((step(CONDITION, tested), step(TRANSFORMED, values)))


def opaque_all(result: Result) -> Paths:
    """Conservative edges from every column that a query lists."""
    return step(OPAQUE, union(paths for _, paths in result.columns if not isinstance(paths, Star)))


def in_query(condition: exp.Expr, query: exp.Expr, scope: Scope, reading: Reading) -> tuple[Paths, Paths]:
    """The columns that ``x IN (SELECT y …)`` compares, and those that decide inside."""
    found = _subquery(query, scope, reading)
    compared = union(paths for _, paths in found.columns if not isinstance(paths, Star))
    return union((trace(condition.this, scope, reading), compared)), found.deciding


def _subquery(query: exp.Expr, scope: Scope, reading: Reading) -> Result:
    inner = reading.subquery(query, scope)
    found = reading.result(inner) if inner else Result()
    if inner is None or found.stars:
        reading.problems.append("which column a subquery has is not in the query")
    return found


def _column(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    if not isinstance(node, exp.Column) or (node.is_star and isinstance(node.parent, _COUNTS)):
        return NOTHING
    is_row = node.is_star or (not node.table and node.parent is not None and _name(node.parent) in _OF_ROWS)
    row = reading.whole_row(node.table or node.name, scope) if is_row else None
    return reading.column(node, scope) if row is None else row


def _children(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    return _all(node.iter_expressions(), scope, reading)


def _all(nodes: Iterable[exp.Expr], scope: Scope, reading: Reading) -> Paths:
    return union(trace(node, scope, reading) for node in nodes)


def _function(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """Any function or operator: every argument is transformed; some hide the value."""
    found = _children(node, scope, reading)
    hides = isinstance(node, _HASHES) or _name(node) in _HASH_NAMES | reading.masking
    return step(_MASKED if hides else TRANSFORMED, found)


def _name(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def _aggregate(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    hides = isinstance(node, _COUNTS) or _name(node) in reading.masking
    return step(_MASKED_AGGREGATE if hides else AGGREGATED, _children(node, scope, reading))


def _within_group(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """``percentile_cont(0.5) WITHIN GROUP (ORDER BY x)``: x is what is aggregated."""
    return step(AGGREGATED, _children(node, scope, reading))


def _filtered(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """``sum(x) FILTER (WHERE c)``."""
    tested = trace(node.expression.this, scope, reading)
    return union((trace(node.this, scope, reading), step(CONDITION, tested)))


def _window(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    parts = [*(node.args.get("partition_by") or ())]
    if order := node.args.get("order"):
        parts.append(order)
    # The window of the WINDOW clause that `OVER w` refers to
    alias = node.args.get("alias")
    windows = scope.expression.args.get("windows") or ()
    named = next((window for window in windows if alias and window.name == alias.name), None)
    if named is not None:
        parts += named.args.get("partition_by") or ()
        parts += [named.args["order"]] if named.args.get("order") else []
    return union((trace(node.this, scope, reading), step(WINDOW, _all(parts, scope, reading))))


def _case(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """``CASE [x] WHEN test THEN value … ELSE value END``."""
    choices = node.args.get("ifs") or [node]
    tests = [choice.this for choice in choices] + ([node.this] if isinstance(node, exp.Case) and node.this else [])
    values = [value for choice in choices if (value := choice.args.get("true"))]
    values += [value for name in ("default", "false") if (value := node.args.get(name))]
    tested = _all(tests, scope, reading)
    return chosen(tested, _all(values, scope, reading))


def _decode(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """Oracle's ``DECODE(x, search, value, …, [default])``."""
    tested, *rest = node.expressions
    pairs, default = rest[: len(rest) // 2 * 2], rest[len(rest) // 2 * 2 :]
    tests, values = [tested, *pairs[::2]], [*pairs[1::2], *default]
    return chosen(_all(tests, scope, reading), _all(values, scope, reading))


def _nvl2(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """``NVL2(x, value, value where x is NULL)``."""
    values = [value for name in ("true", "false") if (value := node.args.get(name))]
    return chosen(trace(node.this, scope, reading), _all(values, scope, reading))


def _coalesce(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    found = _children(node, scope, reading)
    return chosen(found, found)


def _nullif(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    value = trace(node.this, scope, reading)
    tested = union((value, trace(node.expression, scope, reading)))
    return chosen(tested, value)


def _scalar(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """``(SELECT max(x) FROM t WHERE …)``: the value as it is, with what decides on it."""
    found = _subquery(node, scope, reading)
    values = union(paths for _, paths in found.columns[:1] if not isinstance(paths, Star))
    return union((values, found.deciding))


def _exists(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """``EXISTS (SELECT …)`` as a value: the correlated columns are compared, the rest decides on the rows."""
    inner = reading.subquery(node.this, scope)
    if inner is None:
        return _function(node, scope, reading)
    compared, rest = reading.correlation(inner)
    return union((step(TRANSFORMED, compared), rest))


def _in(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    query = node.args.get("query")
    if query is None:
        return _function(node, scope, reading)
    compared, within = in_query(node, query, scope, reading)
    return union((step(TRANSFORMED, compared), within))


def _nothing(node: exp.Expr, scope: Scope, reading: Reading) -> Paths:
    """``grouping(x)`` is the level of a ROLLUP, and does not depend on x."""
    return NOTHING


_RULES: tuple[tuple[tuple[type[exp.Expr], ...], Rule], ...] = (
    ((exp.Column,), _column),
    ((exp.Grouping, exp.GroupingId), _nothing),
    (_SAME, _children),
    (_OFFSETS, _function),
    ((exp.Filter,), _filtered),
    ((exp.WithinGroup,), _within_group),
    ((exp.Window,), _window),
    ((exp.Case, exp.If), _case),
    ((exp.DecodeCase,), _decode),
    ((exp.Nvl2,), _nvl2),
    ((exp.Coalesce,), _coalesce),
    ((exp.Nullif,), _nullif),
    ((exp.Exists,), _exists),
    ((exp.In,), _in),
    ((exp.Query,), _scalar),
    ((exp.AggFunc,), _aggregate),
)
