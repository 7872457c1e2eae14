"""Read what Spark's own ``TreeNode.toJSON`` says of a plan: for a JVM in which nothing can be compiled.

The form is a list of nodes, each before its children, whose number it has (``num-children``). A field is the position
of a child, a list of its own (a node that is no child), or a value. What the form loses, of relations and targets,
comes as ``Facts`` from whoever can ask the JVM.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater.errors import PlanError
from headwater.plan import json_fields as fields
from headwater.plan.tree import Column, Expression, Node, Operator, Plan

LeafKey = tuple[str, tuple[int, ...]]
"""The class of a leaf without its package, and the exprIds of its output: the same leaf has the same key."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The values that toJSON loses: those of the root command, of leaves, and the types of the query's columns."""

    root: Mapping[str, Any] = field(default_factory=dict)
    leaves: Mapping[LeafKey, Mapping[str, Any]] = field(default_factory=dict)
    output: Sequence[Column] = ()
    session: Mapping[str, Any] = field(default_factory=dict)


def decode_tojson(text: str, facts: Facts | None = None) -> Plan:
    """The plan that ``toJSON`` wrote as ``text``, completed by ``facts``.

    Raises:
        PlanError: the text is not of that form.

    >>> decode_tojson('[{"class": "org.apache.spark.sql.catalyst.plans.logical.OneRowRelation$", "num-children": 0}]')
    ... # doctest: +ELLIPSIS
    Plan(nodes=(Operator(name='OneRowRelation', ...
    """
    reading = _Reading(facts or Facts())
    try:
        reading.tree(json.loads(text), at_root=True)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise PlanError(f"Spark's toJSON is a list of nodes, each before its children; met {error!r}.") from error
    return Plan(tuple(reading.nodes), tuple(reading.facts.output), reading.facts.session)


class _Reading:
    """Makes the nodes of a plan, each after all it refers to."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.nodes: list[Node] = []
        self._types = {column.expr_id: column.type for column in facts.output if column.type}
        self._common = 0

    def tree(self, rows: Sequence[Mapping[str, Any]], *, at_root: bool = False) -> Node:
        """The node at the head of a list. Not recursive over children, however deep a plan is."""
        open_rows: list[tuple[Mapping[str, Any], list[Node]]] = []
        for row in rows:
            open_rows.append((row, []))
            while len(open_rows[-1][1]) == open_rows[-1][0]["num-children"]:
                done, children = open_rows.pop()
                node = self._node(done, tuple(children), at_root and not open_rows)
                if not open_rows:
                    return node
                open_rows[-1][1].append(node)
        raise ValueError("the list ends before the last child")

    def _node(self, row: Mapping[str, Any], children: tuple[Node, ...], at_root: bool) -> Node:
        name = fields.simple_name(row["class"])
        if fields.is_expression(row["class"]):
            return self._expression(name, row, children)
        references, values = self._operator_fields(row, children)
        if name == "Expand" and "projections" not in references:
            name = "Expand, whose projections toJSON leaves out when they are an ArraySeq"
        if name == "HiveTableRelation":
            references["output"] = (*references.get("dataCols", ()), *references.get("partitionCols", ()))
        if at_root:
            values = fields.completed(values, self.facts.root)
        if not children:
            key = (name, tuple(node.expr_id for node in references.get("output", ()) if isinstance(node, Expression)))
            values = fields.completed(values, self.facts.leaves.get(key, {}))
        return self._keep(Operator(name, children, references, values))

    def _operator_fields(
        self, row: Mapping[str, Any], children: tuple[Node, ...]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        references: dict[str, Any] = {}
        values: dict[str, Any] = {}
        for key, value in row.items():
            if key in fields.MACHINERY or value is None or value == []:
                continue
            if key in fields.CHILDREN and fields.positions(value):
                references[key] = fields.placed(value, children)
            elif fields.holds_trees(value):
                references[key] = self._trees(value)
            else:
                found = fields.plain(value)
                if found is not None:
                    values["id" if key == "exprId" else key] = found
        return references, values

    def _trees(self, value: Any) -> Any:
        if value and isinstance(value[0], dict):
            return self.tree(value)
        return tuple(self._trees(item) for item in value if item)

    def _expression(self, name: str, row: Mapping[str, Any], children: tuple[Node, ...]) -> Node:
        values = fields.expression_values(name, row, children)
        if name == "Alias" and values.get("id") in self._types:
            values["type"] = self._types[values["id"]]
        references: dict[str, Any] = {}
        for key in fields.SPLIT.get(name, ()):
            if fields.positions(row.get(key)):
                references[key] = fields.placed(row[key], children)
        for key in ("plan", "e"):
            if fields.holds_trees(row.get(key)):
                references[key] = self._trees(row[key])
        if name == "With":
            children = self._with(children)
        return self._keep(Expression(name, children, references, values))

    def _with(self, children: tuple[Node, ...]) -> tuple[Node, ...]:
        """``With(child, definitions…)``: toJSON loses which definition a reference means, so it means all of them."""
        self._common += 1
        for reference in _unbound(children[0]):
            reference.values["id"] = self._common  # type: ignore[index]  # a dict of ours until the plan is handed out
        definitions = children[1:]
        if len(definitions) > 1:
            every = Expression("Several", tuple(child for one in definitions for child in one.children))
            definitions = (self._keep(Expression("CommonExpressionDef", (self._keep(every),))),)
        bound = Expression(definitions[0].name, definitions[0].children, {}, {"id": self._common})
        return (children[0], self._keep(bound))

    def _keep(self, node: Node) -> Node:
        self.nodes.append(node)
        return node


def _unbound(node: Node) -> Iterator[Node]:
    """The references to common expressions below a node that belong to no With of their own."""
    open_nodes = [node]
    while open_nodes:
        one = open_nodes.pop()
        if one.name == "CommonExpressionRef" and "id" not in one.values:
            yield one
        open_nodes += one.children
