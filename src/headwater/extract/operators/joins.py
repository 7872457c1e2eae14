"""Joins, lateral ones included."""

from headwater.extract.expressions.subqueries import inner
from headwater.extract.operators.predicates import predicate
from headwater.extract.operators.table import Visitors, row_dependencies, scope_of
from headwater.extract.operators.watermarks import columns_of, joins_streams, without_late
from headwater.extract.scope import Extraction, Rows, Scope
from headwater.extract.trace import JOIN, union
from headwater.plan import Operator

_LEFT_ONLY = ("LeftSemi", "LeftAnti")


def join(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``a JOIN b ON …``: the columns of both sides, or of the left for a semi and an anti join."""
    rows = _joined(node, children, scope_of(children, extraction))
    if not extraction.watermarks or not joins_streams(node):
        return rows
    return without_late(node, rows, columns_of(children), extraction)


def as_of_join(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """The join behind ``merge_asof`` of the pandas API: nearest rows by ``asOfCondition``."""
    scope = scope_of(children, extraction)
    rows = _joined(node, children, scope)
    nearest = union(predicate(node.expression(name), JOIN, scope) for name in ("asOfCondition", "orderExpression"))
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


OPERATORS: Visitors = {"Join": join, "AsOfJoin": as_of_join, "LateralJoin": lateral_join}
