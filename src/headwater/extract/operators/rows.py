"""Operators that keep or compute columns row by row, and choose, order or repeat rows."""

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.operators.predicates import correlation, predicate
from headwater.extract.operators.table import (
    Visitors,
    computed,
    passes_through,
    row_dependencies,
    row_effects,
    scope_of,
)
from headwater.extract.operators.watermarks import columns_of, watermark, without_late
from headwater.extract.scope import Extraction, Rows, attribute
from headwater.extract.trace import FILTER, GROUP_BY, NOTHING, SORT, Paths, flat, has_outer, merge, step, union
from headwater.plan import Operator


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
    """``ORDER BY``, ``SORT BY``."""
    return _decided(children[0], row_effects(SORT, node.expressions("order"), scope_of(children, extraction)))


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
    """Where the columns of a result come from, taken together."""
    return union(flat(rows.columns.get(column.expr_id, NOTHING)) for column in rows.output)


def _grouped(node: Operator, children: tuple[Rows, ...], keys: Paths, extraction: Extraction) -> Rows:
    return without_late(node, _decided(children[0], keys), columns_of(children), extraction)


def _decided(rows: Rows, by: Paths) -> Rows:
    return Rows(rows.output, rows.columns, union((rows.deciding, by)))


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
