"""The fields of each operator in its text (Spark's ``TreeNode.simpleString``)."""

import re
from collections.abc import Mapping
from typing import Any

from headwater.plan.text import expressions
from headwater.plan.text.operator_text import Fields, OperatorText, Reader, attributes, column, items, named
from headwater.plan.text.tokens import split, unreadable
from headwater.plan.tree import Expression, Operator


def project(parsed: OperatorText) -> Fields:
    """``Project [a#1, (b#2 + 1) AS c#3]``."""
    return {"projectList": named(items(parsed.listed(0)), parsed.columns)}, {}


def aggregate(parsed: OperatorText) -> Fields:
    """``Aggregate [k#1], [k#1, sum(x#2) AS s#3]``; without GROUP BY the first list is left out."""
    lists = [place for place, part in enumerate(parsed.parts) if part.startswith("[")]
    grouping = tuple(
        expressions.expression(text, parsed.columns) for place in lists[:-1] for text in parsed.listed(place)
    )
    found = named(items(parsed.last_list()), parsed.columns)
    keys = {
        node.values.get("id") for text in lists[:-1] for node in unreadable(parsed.parts[text], parsed.columns).children
    }
    for one in found:
        _mark_python_aggregates(one, keys)
    return {"groupingExpressions": grouping, "aggregateExpressions": found}, {}


def condition(parsed: OperatorText) -> Fields:
    """``Filter (a#1 > 1)``."""
    return {"condition": expressions.expression(", ".join(parsed.parts), parsed.columns)}, {}


def join(parsed: OperatorText) -> Fields:
    """``Join Inner, (a#1 = b#2), rightHint=(…)``."""
    conditions = [part for part in parsed.parts[1:] if not re.match(r"(left|right)Hint=", part)]
    references = {"condition": expressions.expression(", ".join(conditions), parsed.columns)} if conditions else {}
    return references, {"joinType": parsed.parts[0]}


def as_of_join(parsed: OperatorText) -> Fields:
    """``AsOfJoin (nearest), (condition), LeftOuter``: what it orders by is what it compares."""
    texts = [expressions.expression(text, parsed.columns) for text in parsed.parts[:-1]]
    return {"asOfCondition": texts[0], **({"condition": texts[1]} if texts[1:] else {})}, {"joinType": parsed.parts[-1]}


def numbered(parsed: OperatorText) -> Fields:
    """``AttachDistributedSequence[number#1, a#2] Index: number#1``."""
    return {"sequenceAttr": attributes([parsed.parts[0].rpartition("Index: ")[2]])}, {}


def lateral_join(parsed: OperatorText) -> Fields:
    """``LateralJoin lateral-subquery#1 [outer columns], Inner, condition``."""
    subquery = re.match(r"lateral-subquery#(\d+)", parsed.parts[0])
    plan = parsed.columns.plans.get(int(subquery[1])) if subquery else None
    references, values = join(OperatorText(parsed.parts[1:], parsed.columns, parsed.inputs))
    right = Expression("LateralSubquery", (), {"plan": plan} if plan else {})
    return {**references, "right": right}, values


def window(parsed: OperatorText) -> Fields:
    """``Window [f(x#1) windowspecdefinition(…) AS y#2], [partition], [order]``."""
    return {"windowExpressions": named(items(parsed.listed(0)), parsed.columns)}, {}


def sort(parsed: OperatorText) -> Fields:
    """``Sort [a#1 ASC NULLS FIRST], true``."""
    return {"order": tuple(expressions.expression(text, parsed.columns) for text in parsed.listed(0))}, {}


def keys(parsed: OperatorText) -> Fields:
    """``Deduplicate [k#1]``."""
    return {"keys": tuple(expressions.expression(text, parsed.columns) for text in parsed.listed(0))}, {}


def generate(parsed: OperatorText) -> Fields:
    """``Generate explode(xs#1), false, alias, [x#2]``."""
    generator = expressions.expression(parsed.parts[0], parsed.columns)
    if parsed.parts[0].startswith("stack("):
        generator = Expression("Stack", generator.children)
    return {"generator": generator, "generatorOutput": attributes(parsed.last_list())}, {}


def expand(parsed: OperatorText) -> Fields:
    """``Expand [[a#1, null], [null, b#2]], [x#3]``."""
    rows = [split(row[1:-1], parsed.columns.names) for row in parsed.listed(0)]
    projections = tuple(tuple(expressions.expression(text, parsed.columns) for text in row) for row in rows)
    return {"projections": projections, "output": attributes(parsed.listed(1))}, {}


def set_operation(parsed: OperatorText) -> Fields:
    """``Intersect All true``, ``Except false``."""
    return {}, {"isAll": bool(parsed.parts) and "true" in parsed.parts[0]}


def definition(parsed: OperatorText) -> Fields:
    """``CTERelationDef 1, false``."""
    return {}, {"id": int(parsed.parts[0])}


def reference(parsed: OperatorText) -> Fields:
    """``CTERelationRef 1, true, [a#1], false``."""
    return {"output": attributes(parsed.last_list())}, {"cteId": int(parsed.parts[0])}


def with_cte(parsed: OperatorText) -> Fields:
    """``WithCTE``: the plan is the last child."""
    return {"plan": parsed.inputs[-1]}, {}


def loop(parsed: OperatorText) -> Fields:
    """``UnionLoop 1``: the ids that it puts out are not in the text; `reading` finds them."""
    return {"anchor": parsed.inputs[0], "recursion": parsed.inputs[1]}, {"id": int(parsed.parts[0])}


def loop_reference(parsed: OperatorText) -> Fields:
    """``UnionLoopRef 1, [a#1], false``."""
    return {"output": attributes(parsed.last_list())}, {"loopId": int(parsed.parts[0])}


def view(parsed: OperatorText) -> Fields:
    """``View (`catalog`.`db`.`v`, [a#1])``: a name of three parts is one of the catalog's."""
    name = tuple(re.findall(r"`((?:[^`]|``)+)`", parsed.parts[0].partition(", [")[0]))
    return {}, {"desc": {"identifier": name}, "isTempView": len(name) < 3}


def function(parsed: OperatorText) -> Fields:
    """``MapInPandas f(a#1)#2, [x#3], false``, ``FlatMapGroupsInPandas [k#1], f(k#1, v#2)#3, [x#4]``."""
    place = next((i for i, part in enumerate(parsed.parts) if re.search(r"\)#\d+", part)), 0)
    references: dict[str, Any] = {"output": attributes(parsed.last_list())}
    references["functionExpr"] = expressions.expression(parsed.parts[place], parsed.columns)
    if place and parsed.parts[0].startswith("["):
        references["groupingAttributes"] = attributes(parsed.listed(0))
    lengths = [int(part) for part in parsed.parts[:place] if part.isdigit()]
    values = dict(zip(("leftGroupingLen", "rightGroupingLen"), lengths, strict=False))
    return references, values


def rows(parsed: OperatorText) -> Fields:
    """``LogicalRDD [a#1], false``, ``ScriptTransformation cat, [a#1], …``."""
    return {"output": attributes(parsed.last_list())}, {}


def nothing(parsed: OperatorText) -> Fields:
    """An operator without fields of its own."""
    return {}, {}


def unread(parsed: OperatorText) -> Fields:
    """An operator without a rule: it may put out every column that it names or gets."""
    named = [node for part in parsed.parts for node in unreadable(part, parsed.columns).children]
    below = [node for operator in parsed.inputs for node in output_of(operator)]
    found = {node.values["id"]: node for node in (*below, *named) if "id" in node.values}
    return {"output": tuple(found.values())}, {}


def repartition(parsed: OperatorText) -> Fields:
    """``RepartitionByExpression [k#1], 5``."""
    found = (expressions.expression(text, parsed.columns) for text in parsed.listed(0))
    return {"partitionExpressions": tuple(found)}, {}


def limit(parsed: OperatorText) -> Fields:
    """``GlobalLimit 5``, ``Offset variablereference(system.session.x=1)``."""
    return {"limitExpr": expressions.named(parsed.parts[0], parsed.columns)} if parsed.parts else {}, {}


def create_variable(parsed: OperatorText) -> Fields:
    """``CreateVariable defaultvalueexpression(cast(5 as double), 5), false``; the names are below it."""
    return {"defaultExpr": expressions.expression(parsed.parts[0], parsed.columns)}, {}


def transpose(parsed: OperatorText) -> Fields:
    """``Transpose [key#1, a#2], [[x,1], [y,2]]``: the text has the rows, not the plan that made them."""
    return {"output": attributes(parsed.listed(0))}, {}


def set_variable(parsed: OperatorText) -> Fields:
    """``SetVariable [variablereference(system.session.x=1)]``; the values are the columns below it."""
    targets = tuple(expressions.expression(text, parsed.columns) for text in parsed.listed(0))
    return {"targetVariables": targets}, {}


def output_of(operator: Operator) -> tuple[Expression, ...]:
    """The columns of an operator, as far as its text or that of those below lists them."""
    found: list[Expression] = []
    stack = [operator]
    while stack:
        one = stack.pop()
        listed = [node for name in _OUTPUTS for node in one.expressions(name)]
        found += listed
        if not listed or one.name in ("Window", "Generate"):
            stack.extend(one.inputs)
    return tuple(found)


def _mark_python_aggregates(root: Expression, grouped: set[int | None]) -> None:
    """Make aggregates of Python functions that get columns which are neither grouped nor aggregated."""
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if node.name == "PythonUDF" and any(
            child.name == "AttributeReference" and child.values["id"] not in grouped for child in node.children
        ):
            node.name = "PythonUDAF"
        stack.extend(node.children)


_OUTPUTS = ("projectList", "aggregateExpressions", "output", "windowExpressions", "generatorOutput", "sequenceAttr")


def watermark(parsed: OperatorText) -> Fields:
    """``EventTimeWatermark <id>, at#1: timestamp, 1 hours``, before Spark 4 without the id."""
    times = (column(part.rpartition(": ")[0]) for part in parsed.parts)
    return {"eventTime": next(filter(None, times), None)}, {}


READERS: Mapping[str, Reader] = {
    "Aggregate": aggregate,
    "AsOfJoin": as_of_join,
    "AttachDistributedSequence": numbered,
    "CTERelationDef": definition,
    "CTERelationRef": reference,
    "CreateVariable": create_variable,
    "Deduplicate": keys,
    "DeduplicateWithinWatermark": keys,
    "Except": set_operation,
    "Expand": expand,
    "Filter": condition,
    "Generate": generate,
    **dict.fromkeys(("GlobalLimit", "LocalLimit", "Offset"), limit),
    "Intersect": set_operation,
    "Join": join,
    "LateralJoin": lateral_join,
    "LogicalRDD": rows,
    "Project": project,
    "ScriptTransformation": rows,
    "RepartitionByExpression": repartition,
    "SetVariable": set_variable,
    "Sort": sort,
    "EventTimeWatermark": watermark,
    "Transpose": transpose,
    "UnionLoop": loop,
    "UnionLoopRef": loop_reference,
    "View": view,
    "Window": window,
    "WithCTE": with_cte,
    **dict.fromkeys(
        (
            *("FlatMapCoGroupsInArrow", "FlatMapCoGroupsInPandas", "FlatMapGroupsInArrow", "FlatMapGroupsInPandas"),
            *("MapInArrow", "MapInPandas", "PythonMapInArrow"),
        ),
        function,
    ),
    **dict.fromkeys(
        (
            *(
                "CollectMetrics",
                "CommandResult",
                "Distinct",
                "LimitAll",
            ),
            *("OneRowRelation", "PipeOperator", "RebalancePartitions", "Repartition", "ResolvedHint"),
            *("SQLFunctionNode", "Sample", "SubqueryAlias", "Tail", "Union", "UnresolvedHint"),
        ),
        nothing,
    ),
}
"""The readers of operators, by name; any other operator is not read."""
