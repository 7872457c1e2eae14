"""Which nodes of a plan the hooks of extensions are for: tables by class and function, made once for a run."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from headwater.ext.extension import Extension
from headwater.ext.hooks import DatasetResolver, ExpressionVisitor, OperatorVisitor
from headwater.plan import Expression, Node, Operator, Plan

Hook = OperatorVisitor | ExpressionVisitor | DatasetResolver
Table = dict[str, list[tuple[str, str, Hook]]]
"""By a name of a class or function: the names of extensions, of the kind of hook, and the hooks."""

_HOLDERS = ("relation", "table")
# Most of a plan is these: they call no function by a name, and hold no relation.
_COMMON = frozenset({"Add", "Alias", "And", "AttributeReference", "Cast", "EqualTo", "Filter", "Literal", "Project"})
_FUNCTION_NAMES = ("name", "udfName", "function")
# Expressions whose name is that of a field: no function.
_FIELDS = ("DropField", "GetStructField", "NamedArgumentExpression", "WithField")


class Claim(NamedTuple):
    """The name of an extension, which of its hooks, and a node that the hook is for."""

    extension: str
    kind: str
    hook: Any
    node: Node


@dataclass(frozen=True, slots=True)
class Claims:
    """The hooks by the names of classes and functions that they are for."""

    operators: Table = field(default_factory=dict)
    expressions: Table = field(default_factory=dict)
    functions: Table = field(default_factory=dict)
    datasets: Table = field(default_factory=dict)

    def add(self, others: "Claims") -> None:
        """Those of others too, after these."""
        for kind in fields(self):
            table: Table = getattr(self, kind.name)
            for name, claims in getattr(others, kind.name).items():
                table.setdefault(name, []).extend(claims)

    def of(self, plan: Plan) -> Iterator[Claim]:
        """The claims on nodes of a plan, in the plan's order; for one node in the order of the extensions."""
        for node in self._looked_at(plan):
            for extension, kind, hook in self._on(node):
                yield Claim(extension, kind, hook, node)

    def _looked_at(self, plan: Plan) -> Sequence[Node]:
        """Of a plan's nodes, which may be hundreds of thousands, those whose class says that one may be for them."""
        classes = self.operators.keys() | self.expressions.keys()
        nodes = _with_expressions(plan.nodes) if self.functions or self.expressions else plan.nodes
        if self.functions or self.datasets:
            classes |= self.datasets.keys()
            return [node for node in nodes if node.name not in _COMMON or node.name in classes]
        return [node for node in nodes if node.name in classes] if classes else ()

    def _on(self, node: Node) -> Sequence[tuple[str, str, Hook]]:
        if isinstance(node, Operator):
            return self._on_operator(node)
        found = self.expressions.get(node.name, ())
        if not self.functions or not _is_function(node):
            return found
        names = {node.text(name).lower() for name in _FUNCTION_NAMES}
        return [*found, *(claim for name in sorted(names) for claim in self.functions.get(name, ()))]

    def _on_operator(self, node: Operator) -> Sequence[tuple[str, str, Hook]]:
        found = self.operators.get(node.name, ())
        if not self.datasets:
            return found
        names = {node.name, *(str(node.facts(holder).get("class")) for holder in _HOLDERS)}
        return [*found, *(claim for name in sorted(names) for claim in self.datasets.get(name, ()))]


def _with_expressions(nodes: Sequence[Node]) -> Sequence[Node]:
    """The nodes of a plan that was read from a text are its operators: the expressions are in their fields."""
    if any(isinstance(node, Expression) for node in nodes):
        return nodes
    found = dict.fromkeys(nodes)
    stack = list(nodes)
    while stack:
        node = stack.pop()
        inner = (*node.children, *(one for name in node.references for one in node.expressions(name)))
        fresh = [one for one in inner if one not in found]
        found.update(dict.fromkeys(fresh))
        stack.extend(fresh)
    return tuple(found)


def _is_function(node: Node) -> bool:
    """A column and its alias have a name too, and an exprId; without arguments there is nothing to look up."""
    return bool(node.children) and "id" not in node.values and node.name not in _FIELDS


def claims_of(extension: Extension) -> Claims:
    """The claims of one extension."""
    found = Claims()
    for operator in extension.operators:
        _claim(found.operators, "operators", operator.classes, extension, operator)
    for expression in extension.expressions:
        _claim(found.expressions, "expressions", getattr(expression, "classes", ()), extension, expression)
        functions = tuple(name.lower() for name in getattr(expression, "functions", ()))
        _claim(found.functions, "expressions", functions, extension, expression)
    for resolver in extension.datasets:
        _claim(found.datasets, "datasets", resolver.classes, extension, resolver)
    return found


def _claim(table: Table, kind: str, names: Iterable[str], extension: Extension, hook: Hook) -> None:
    for name in dict.fromkeys(names):
        table.setdefault(name, []).append((extension.name, kind, hook))
