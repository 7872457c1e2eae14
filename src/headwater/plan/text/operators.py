"""The fields of each operator in its text (Spark's ``TreeNode.simpleString``)."""

import re
from collections.abc import Mapping
from typing import Any

from headwater.plan.text import expressions
from headwater.plan.text.columns import unreadable
from headwater.plan.text.said import Fields, Reader, Said, attributes, items, named
from headwater.plan.text.tokens import split
from headwater.plan.tree import Expression, Operator


def project(said: Said) -> Fields:
    """``Project [a#1, (b#2 + 1) AS c#3]``."""
    return {"projectList": named(items(said.listed(0)), said.columns)}, {}


def aggregate(said: Said) -> Fields:
    """``Aggregate [k#1], [k#1, sum(x#2) AS s#3]``; without GROUP BY the first list is left out."""
    lists = [place for place, part in enumerate(said.parts) if part.startswith("[")]
    grouping = tuple(expressions.expression(text, said.columns) for place in lists[:-1] for text in said.listed(place))
    found = named(items(said.last_list()), said.columns)
    keys = {node.values["id"] for text in lists[:-1] for node in unreadable(said.parts[text], said.columns).children}
    for one in found:
        _mark_python_aggregates(one, keys)
    return {"groupingExpressions": grouping, "aggregateExpressions": found}, {}


def condition(said: Said) -> Fields:
    """``Filter (a#1 > 1)``."""
    return {"condition": expressions.expression(", ".join(said.parts), said.columns)}, {}


def join(said: Said) -> Fields:
    """``Join Inner, (a#1 = b#2), rightHint=(…)``."""
    conditions = [part for part in said.parts[1:] if not re.match(r"(left|right)Hint=", part)]
    references = {"condition": expressions.expression(", ".join(conditions), said.columns)} if conditions else {}
    return references, {"joinType": said.parts[0]}


def as_of_join(said: Said) -> Fields:
    """``AsOfJoin (nearest), (condition), LeftOuter``: what it orders by is what it compares."""
    texts = [expressions.expression(text, said.columns) for text in said.parts[:-1]]
    return {"asOfCondition": texts[0], **({"condition": texts[1]} if texts[1:] else {})}, {"joinType": said.parts[-1]}


def numbered(said: Said) -> Fields:
    """``AttachDistributedSequence[number#1, a#2] Index: number#1``."""
    return {"sequenceAttr": attributes([said.parts[0].rpartition("Index: ")[2]])}, {}


def lateral_join(said: Said) -> Fields:
    """``LateralJoin lateral-subquery#1 [outer columns], Inner, condition``."""
    subquery = re.match(r"lateral-subquery#(\d+)", said.parts[0])
    plan = said.columns.plans.get(int(subquery[1])) if subquery else None
    references, values = join(Said(said.parts[1:], said.columns, said.inputs))
    right = Expression("LateralSubquery", (), {"plan": plan} if plan else {})
    return {**references, "right": right}, values


def window(said: Said) -> Fields:
    """``Window [f(x#1) windowspecdefinition(…) AS y#2], [partition], [order]``."""
    return {"windowExpressions": named(items(said.listed(0)), said.columns)}, {}


def sort(said: Said) -> Fields:
    """``Sort [a#1 ASC NULLS FIRST], true``."""
    return {"order": tuple(expressions.expression(text, said.columns) for text in said.listed(0))}, {}


def keys(said: Said) -> Fields:
    """``Deduplicate [k#1]``."""
    return {"keys": tuple(expressions.expression(text, said.columns) for text in said.listed(0))}, {}


def generate(said: Said) -> Fields:
    """``Generate explode(xs#1), false, alias, [x#2]``."""
    generator = expressions.expression(said.parts[0], said.columns)
    if said.parts[0].startswith("stack("):
        generator = Expression("Stack", generator.children)
    return {"generator": generator, "generatorOutput": attributes(said.last_list())}, {}


def expand(said: Said) -> Fields:
    """``Expand [[a#1, null], [null, b#2]], [x#3]``."""
    rows = [split(row[1:-1], said.columns.names) for row in said.listed(0)]
    projections = tuple(tuple(expressions.expression(text, said.columns) for text in row) for row in rows)
    return {"projections": projections, "output": attributes(said.listed(1))}, {}


def set_operation(said: Said) -> Fields:
    """``Intersect All true``, ``Except false``."""
    return {}, {"isAll": bool(said.parts) and "true" in said.parts[0]}


def definition(said: Said) -> Fields:
    """``CTERelationDef 1, false``."""
    return {}, {"id": int(said.parts[0])}


def reference(said: Said) -> Fields:
    """``CTERelationRef 1, true, [a#1], false``."""
    return {"output": attributes(said.last_list())}, {"cteId": int(said.parts[0])}


def with_cte(said: Said) -> Fields:
    """``WithCTE``: the plan is the last child."""
    return {"plan": said.inputs[-1]}, {}


def loop(said: Said) -> Fields:
    """``UnionLoop 1``: the ids that it puts out are not said; `reading` finds them."""
    return {"anchor": said.inputs[0], "recursion": said.inputs[1]}, {"id": int(said.parts[0])}


def loop_reference(said: Said) -> Fields:
    """``UnionLoopRef 1, [a#1], false``."""
    return {"output": attributes(said.last_list())}, {"loopId": int(said.parts[0])}


def view(said: Said) -> Fields:
    """``View (`catalog`.`db`.`v`, [a#1])``: a name of three parts is one of the catalog's."""
    name = tuple(re.findall(r"`((?:[^`]|``)+)`", said.parts[0].partition(", [")[0]))
    return {}, {"desc": {"identifier": name}, "isTempView": len(name) < 3}


def function(said: Said) -> Fields:
    """``MapInPandas f(a#1)#2, [x#3], false``, ``FlatMapGroupsInPandas [k#1], f(k#1, v#2)#3, [x#4]``."""
    place = next((i for i, part in enumerate(said.parts) if re.search(r"\)#\d+", part)), 0)
    references: dict[str, Any] = {"output": attributes(said.last_list())}
    references["functionExpr"] = expressions.expression(said.parts[place], said.columns)
    if place and said.parts[0].startswith("["):
        references["groupingAttributes"] = attributes(said.listed(0))
    lengths = [int(part) for part in said.parts[:place] if part.isdigit()]
    values = dict(zip(("leftGroupingLen", "rightGroupingLen"), lengths, strict=False))
    return references, values


def rows(said: Said) -> Fields:
    """``LogicalRDD [a#1], false``, ``ScriptTransformation cat, [a#1], …``."""
    return {"output": attributes(said.last_list())}, {}


def nothing(said: Said) -> Fields:
    """An operator of which the children say it all."""
    return {}, {}


def unread(said: Said) -> Fields:
    """An operator that is not read: whatever it may put out, each column of it from all that it gets."""
    named = [node for part in said.parts for node in unreadable(part, said.columns).children]
    below = [node for operator in said.inputs for node in output_of(operator)]
    return {"output": tuple({node.values["id"]: node for node in (*below, *named)}.values())}, {}


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


def _mark_python_aggregates(root: Expression, grouped: set[int]) -> None:
    """A Python function in an aggregate is one itself when it gets columns that are neither grouped nor aggregated."""
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if node.name == "PythonUDF" and any(
            child.name == "AttributeReference" and child.values["id"] not in grouped for child in node.children
        ):
            node.name = "PythonUDAF"
        stack.extend(node.children)


_OUTPUTS = ("projectList", "aggregateExpressions", "output", "windowExpressions", "generatorOutput", "sequenceAttr")

READERS: Mapping[str, Reader] = {
    "Aggregate": aggregate,
    "AsOfJoin": as_of_join,
    "AttachDistributedSequence": numbered,
    "CTERelationDef": definition,
    "CTERelationRef": reference,
    "Deduplicate": keys,
    "DeduplicateWithinWatermark": keys,
    "Except": set_operation,
    "Expand": expand,
    "Filter": condition,
    "Generate": generate,
    "Intersect": set_operation,
    "Join": join,
    "LateralJoin": lateral_join,
    "LogicalRDD": rows,
    "Project": project,
    "ScriptTransformation": rows,
    "Sort": sort,
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
                "EventTimeWatermark",
                "GlobalLimit",
                "LimitAll",
                "LocalLimit",
            ),
            *("Offset", "OneRowRelation", "PipeOperator", "RebalancePartitions", "Repartition", "ResolvedHint"),
            *("RepartitionByExpression", "LocalLimit", "SQLFunctionNode", "Sample", "SubqueryAlias", "Tail", "Union"),
        ),
        nothing,
    ),
}
"""The readers of operators, by name; any other operator is not read."""
