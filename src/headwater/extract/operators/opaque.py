"""Operators that hand rows to a function nobody can look into, and operators nobody knows.

Every output column depends on every column the operator receives; the edges are marked opaque. So do the rows: where no
such column is left, as after a count, an opaque FILTER says it (extract.edges).
"""

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.operators.rows import all_columns
from headwater.extract.operators.table import Visitors, row_dependencies, row_effects, scope_of
from headwater.extract.operators.watermarks import columns_of, without_late
from headwater.extract.scope import Extraction, Rows, attribute
from headwater.extract.trace import GROUP_BY, UNSEEN_ROWS, Paths, Trace, flat, merge, received, step, union
from headwater.plan import Expression, Operator


def mapped(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``mapInPandas``, ``mapInArrow``, ``TRANSFORM … USING``, typed ``map``."""
    extraction.report("opaque", _function(node), f"{node.name} runs a function that cannot be looked into")
    return _opaque(node, children, extraction)


def grouped(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``groupBy(k).applyInPandas``: opaque, and grouped by the keys."""
    rows = mapped(node, children, extraction)
    keys = row_effects(GROUP_BY, node.expressions("groupingAttributes"), scope_of(children, extraction))
    rows = Rows(rows.output, rows.columns, union((rows.deciding, keys)))
    return without_late(node, rows, columns_of(children), extraction)


def cogrouped(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``cogroup(…).applyInPandas``: each side is grouped by its first columns, which are the keys."""
    rows = mapped(node, children, extraction)
    lengths = (node.values.get("leftGroupingLen", 0), node.values.get("rightGroupingLen", 0))
    keys = union(
        flat(side.column(place)) for side, length in zip(children, lengths, strict=True) for place in range(length)
    )
    return Rows(rows.output, rows.columns, union((rows.deciding, step(GROUP_BY, keys))))


def stateful(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``groupBy(k).transformWithStateInPandas``: the second child, if any, are the rows that the state begins with."""
    extraction.report("opaque", _function(node), f"{node.name} runs a function that cannot be looked into")
    made = received(union(map(all_columns, children)))
    output = tuple(map(attribute, output_of(node)))
    length = node.values.get("groupingAttributesLen", 0)
    keys = step(GROUP_BY, union(flat(children[0].column(place)) for place in range(length)))
    rows = Rows(output, {column.expr_id: made for column in output}, union((row_dependencies(children), keys)))
    return without_late(node, rows, columns_of(children), extraction)


def cut(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """The operators that a limit left out of a plan (`Plan.cut`, which is reported once): every input column counts."""
    return _opaque(node, children, extraction)


def unknown(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """An operator without a rule: conservative edges, and a line in the coverage facet."""
    extraction.report("operator", node.name, "headwater has no rule for this operator: every input column counts")
    return _opaque(node, children, extraction)


def _opaque(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    made = received(_arguments(node, children, extraction))
    known = scope_of(children, extraction).columns
    output = tuple(map(attribute, output_of(node)))
    columns: dict[int, Trace] = {
        column.expr_id: merge((known[column.expr_id], made)) if column.expr_id in known else made for column in output
    }
    return Rows(output, columns, union((row_dependencies(children), step(UNSEEN_ROWS, made))))


def output_of(node: Operator) -> tuple[Expression, ...]:
    """The columns that an operator without a rule puts out; a command has none."""
    return next((found for name in ("output", "outputAttrs") if (found := node.expressions(name))), ())


def _arguments(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Paths:
    """The columns that a Python function gets are the children of ``functionExpr``; else all there are."""
    function = node.expression("functionExpr")
    if function is None or not function.children:
        return union(map(all_columns, children))
    scope = scope_of(children, extraction)
    return union(flat(evaluate(child, scope)) for child in function.children if isinstance(child, Expression))


def _function(node: Operator) -> str:
    function = node.expression("functionExpr")
    return (function.text("name") if function else "") or node.name


OPERATORS: Visitors = {
    **dict.fromkeys(
        (
            "AppendColumns",
            "AppendColumnsWithObject",
            "DeserializeToObject",
            "FlatMapGroupsInR",
            "FlatMapGroupsWithState",
            "TransformWithState",
            "FlatMapGroupsInRWithArrow",
            "CoGroup",
            "MapElements",
            "MapGroups",
            "MapInArrow",
            "MapInPandas",
            "MapPartitions",
            "MapPartitionsInR",
            "MapPartitionsInRWithArrow",
            "PythonMapInArrow",
            "ScriptTransformation",
            "SerializeFromObject",
            "TypedFilter",
        ),
        mapped,
    ),
    **dict.fromkeys(("FlatMapGroupsInArrow", "FlatMapGroupsInPandas", "FlatMapGroupsInPandasWithState"), grouped),
    **dict.fromkeys(("TransformWithStateInPandas", "TransformWithStateInPySpark"), stateful),
    "Cut": cut,
    **dict.fromkeys(("FlatMapCoGroupsInArrow", "FlatMapCoGroupsInPandas"), cogrouped),
}
