"""Spark plans as plain Python trees.

A plan is a directed graph without cycles: a subtree that occurs twice is one object, and
``Plan.nodes`` lists every node after all that it refers to, so that whoever reads a plan
needs a loop and no recursion, however deep it is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[str, Any] = MappingProxyType({})
"""The references or values of a node that has none: one for all, for a plan may have 300,000 nodes."""


# Not frozen: a plan may have 300,000 nodes, and a frozen dataclass takes three times as long to make.
@dataclass(slots=True, eq=False)
class Node:
    """An operator or an expression of a plan; nobody changes one after it was made.

    ``name`` is the class without its package below ``org.apache.spark.``, the full class name of others.
    ``references`` holds the fields that are nodes or (nested) tuples of nodes,
    ``values`` all the others: text, numbers, booleans, lists and facts about objects.
    """

    name: str
    children: tuple["Node", ...] = ()
    references: Mapping[str, Any] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    def expression(self, name: str) -> "Expression | None":
        """The expression in the field ``name``, None when it is absent or empty."""
        found = self.references.get(name)
        return found if isinstance(found, Expression) else None

    def expressions(self, name: str) -> tuple["Expression", ...]:
        """The expressions in the field ``name``, nested sequences flattened, in order."""
        found = self.references.get(name)
        if isinstance(found, tuple) and set(map(type, found)) == _ONLY_EXPRESSIONS:
            return found
        return tuple(node for node in _flat(found) if isinstance(node, Expression))

    def operator(self, name: str) -> "Operator | None":
        """The operator in the field ``name``, None when it is absent."""
        found = self.references.get(name)
        return found if isinstance(found, Operator) else None

    def operators(self, name: str) -> "tuple[Operator, ...]":
        """The operators in the field ``name``, nested sequences flattened, in order."""
        return tuple(node for node in _flat(self.references.get(name)) if isinstance(node, Operator))

    def text(self, name: str) -> str:
        """The value ``name`` as text, empty when it is absent or no text."""
        found = self.values.get(name)
        return found if isinstance(found, str) else ""

    def facts(self, name: str) -> Mapping[str, Any]:
        """The facts about the object in the field ``name``; empty when it is absent."""
        found = self.values.get(name)
        return found if isinstance(found, Mapping) else NOTHING


@dataclass(slots=True, eq=False)
class Expression(Node):
    """An expression: an attribute, a literal, a function, a subquery, …"""

    @property
    def expr_id(self) -> int:
        """The exprId of a named expression, -1 for others."""
        found: int = self.values.get("id", -1)
        return found

    @property
    def label(self) -> str:
        """The column name of a named expression, empty for others."""
        return self.text("name")


# Most lists of a plan are flat lists of expressions, and some are thousands long.
_ONLY_EXPRESSIONS = {Expression}


@dataclass(slots=True, eq=False)
class Operator(Node):
    """An operator (a node of the logical plan): Project, Join, a relation, a command, …"""

    @property
    def inputs(self) -> tuple["Operator", ...]:
        """The child operators, in order."""
        return tuple(node for node in self.children if isinstance(node, Operator))


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the plan's result: its exprId, its name and its type in catalog words."""

    expr_id: int
    name: str
    type: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """One analyzed plan: all nodes in order, the root last.

    ``operators`` are the operators among them, also those of subqueries.
    ``cut`` says which limit was met: then an operator ``Cut`` stands for all between the relations and the root.
    """

    nodes: tuple[Node, ...]
    output: tuple[Column, ...] = ()
    session: Mapping[str, Any] = field(default_factory=dict)
    cut: str = ""
    operators: tuple[Operator, ...] = field(init=False)

    def __post_init__(self) -> None:
        operators = tuple([node for node in self.nodes if isinstance(node, Operator)])
        object.__setattr__(self, "operators", operators)

    @property
    def root(self) -> Operator | None:
        """The topmost operator; None of a plan without nodes."""
        last = self.nodes[-1] if self.nodes else None
        return last if isinstance(last, Operator) else None


def _flat(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _flat(item)
