"""Operators that keep, compute, group and join columns, and that choose, order or repeat rows."""

from dataclasses import replace

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.expressions.subqueries import inner
from headwater.extract.operators.pivots import below_pivot, is_pivot, picks_labels
from headwater.extract.operators.predicates import correlation, predicate
from headwater.extract.operators.table import (
    Visitors,
    computed,
    passes_through,
    row_dependencies,
    row_effects,
    scope_of,
)
from headwater.extract.operators.watermarks import columns_of, joins_streams, watermark, without_late
from headwater.extract.scope import Extraction, Rows, Scope, attribute
from headwater.extract.substitution import has_outer
from headwater.extract.trace import FILTER, GROUP_BY, JOIN, NOTHING, SORT, Paths, flat, merge, step, union
from headwater.plan import Expression, Operator

_LEFT_ONLY = ("LeftSemi", "LeftAnti")
_NEAREST = ("asOfCondition", "orderExpression", "rankingExpression")


def project(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``SELECT a, f(b) AS c``."""
    output, columns = computed(node.expressions("projectList"), scope_of(children, extraction))
    return Rows(output, columns, row_dependencies(children))


def filter_(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``WHERE``, ``HAVING``, ``QUALIFY``."""
    scope = scope_of(children, extraction)
    tested = predicate(node.expression("condition"), FILTER, scope)
    if has_outer(tested):
        extraction.correlations[node] = correlation(node.expression("condition"), scope)
    return _decided(children[0], tested)


def sort(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``ORDER BY``, ``SORT BY``; what a table argument is partitioned by, and sorted for, are grouping keys."""
    scope, keys = scope_of(children, extraction), _partition_keys(node)
    orders = node.expressions("order")
    added = {key.expr_id for key in keys}
    written = [one for one in orders if added.isdisjoint(part.values.get("id") for part in (one, *one.children))]
    return _decided(children[0], union((row_effects(SORT, written, scope), row_effects(GROUP_BY, keys, scope))))


def _partition_keys(node: Operator) -> tuple[Expression, ...]:
    """The columns that Spark adds for ``f(TABLE(t) PARTITION BY k)`` (FunctionTableSubqueryArgumentExpression)."""
    parts = [one for below in node.inputs for one in below.expressions("partitionExpressions")]
    return tuple(one for one in parts if one.label.startswith("partition_by_"))


def limited(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``LIMIT n``, ``OFFSET n``: a number that a variable holds decides on the rows."""
    numbers = [node.expression("limitExpr"), node.expression("offsetExpr")]
    return _decided(children[0], row_effects(FILTER, filter(None, numbers), scope_of(children, extraction)))


def distinct(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``SELECT DISTINCT``, ``UNION``: rows are grouped by every column."""
    return _grouped(node, children, step(GROUP_BY, all_columns(children[0])), extraction)


def deduplicate(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``dropDuplicates(keys)``: rows are grouped by the keys."""
    keys = row_effects(GROUP_BY, node.expressions("keys"), scope_of(children, extraction))
    return _grouped(node, children, keys, extraction)


def expand(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """ROLLUP, CUBE, GROUPING SETS, UNPIVOT: each row several times; a column has a value from each projection."""
    scope = scope_of(children, extraction)
    repeated = [tuple(evaluate(value, scope) for value in row) for row in node.references.get("projections", ())]
    output = tuple(map(attribute, node.expressions("output")))
    columns = {column.expr_id: merge(row[place] for row in repeated) for place, column in enumerate(output)}
    return Rows(output, columns, row_dependencies(children))


def numbered(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """The default index of the pandas API: a column of row numbers, which come from no column."""
    numbers = tuple(map(attribute, node.expressions("sequenceAttr")))
    columns = {**children[0].columns, **dict.fromkeys((column.expr_id for column in numbers), NOTHING)}
    return Rows((*numbers, *children[0].output), columns, row_dependencies(children))


def all_columns(rows: Rows) -> Paths:
    """The sources of all columns of a result, taken together."""
    return union(flat(rows.columns.get(column.expr_id, NOTHING)) for column in rows.output)


def _grouped(node: Operator, children: tuple[Rows, ...], keys: Paths, extraction: Extraction) -> Rows:
    return without_late(node, _decided(children[0], keys), columns_of(children), extraction)


def _decided(rows: Rows, by: Paths) -> Rows:
    return Rows(rows.output, rows.columns, union((rows.deciding, by)))


def aggregate(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``SELECT k, sum(x) … GROUP BY k``."""
    scope = replace(scope_of(children, extraction), picks_labels=picks_labels(node))
    output, columns = computed(node.expressions("aggregateExpressions"), scope)
    grouped = row_effects(GROUP_BY, node.expressions("groupingExpressions"), scope)
    below = below_pivot(node, extraction) if is_pivot(node) else row_dependencies(children)
    rows = Rows(output, columns, union((below, grouped)))
    return without_late(node, rows, (grouped,), extraction)


def window(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``f(x) OVER (…)``: the child's columns, then the window functions'."""
    output, columns = computed(node.expressions("windowExpressions"), scope_of(children, extraction))
    return Rows((*children[0].output, *output), {**children[0].columns, **columns}, row_dependencies(children))


def join(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``a JOIN b ON …``: the columns of both sides, or of the left for a semi and an anti join."""
    rows = _joined(node, children, scope_of(children, extraction))
    if not extraction.watermarks or not joins_streams(node):
        return rows
    return without_late(node, rows, columns_of(children), extraction)


def as_of_join(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """The join behind ``merge_asof`` of the pandas API, and ``a JOIN b EXACT NEAREST 1 BY DISTANCE x`` of Spark 4.2."""
    scope = scope_of(children, extraction)
    rows = _joined(node, children, scope)
    nearest = union(predicate(node.expression(name), JOIN, scope) for name in _NEAREST)
    return Rows(rows.output, rows.columns, union((rows.deciding, nearest)))


def lateral_join(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``a, LATERAL (SELECT … a.x …)``: the subquery's rows, its outer references resolved in the left side."""
    subquery = node.expression("right")
    if subquery is None:
        return join(node, children, extraction)
    sides = (children[0], inner(subquery, Scope(children[0].columns, extraction)))
    return _joined(node, sides, scope_of(sides, extraction))


def _joined(node: Operator, sides: tuple[Rows, ...], scope: Scope) -> Rows:
    condition = predicate(node.expression("condition"), JOIN, scope)
    shown = sides[:1] if node.values.get("joinType") in _LEFT_ONLY else sides
    output = tuple(column for rows in shown for column in rows.output)
    return Rows(output, scope.columns, union((row_dependencies(sides), condition)))


OPERATORS: Visitors = {
    "Project": project,
    "Filter": filter_,
    "Sort": sort,
    **dict.fromkeys(("GlobalLimit", "LocalLimit", "Offset", "Tail"), limited),
    "Distinct": distinct,
    "Deduplicate": deduplicate,
    "DeduplicateWithinWatermark": deduplicate,
    "EventTimeWatermark": watermark,
    "Expand": expand,
    "Aggregate": aggregate,
    "Window": window,
    "Join": join,
    **dict.fromkeys(("AsOfJoin", "NearestByJoin"), as_of_join),
    "LateralJoin": lateral_join,
    "AttachDistributedSequence": numbered,
    **dict.fromkeys(
        (
            "CollectMetrics",
            "LimitAll",
            "PipeOperator",
            "RebalancePartitions",
            "Repartition",
            "RepartitionByExpression",
            "ResolvedHint",
            "SQLFunctionNode",
            "Sample",
            "SubqueryAlias",
            "UnresolvedHint",  # REBALANCE, when Spark does not adapt plans as they run
        ),
        passes_through,
    ),
}
