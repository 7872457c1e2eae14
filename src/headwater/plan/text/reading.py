"""The text of an analyzed plan as a `Plan`: operators are read from the leaves up, each with the columns below it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from headwater.errors import PlanError
from headwater.model.nested_fields import name_parts
from headwater.plan.text.bodies import Inlining
from headwater.plan.text.commands import COMMANDS, V2_COMMANDS
from headwater.plan.text.lines import Line, tree, with_transposed
from headwater.plan.text.nodes import UNREAD
from headwater.plan.text.operator_text import OperatorText
from headwater.plan.text.operators import READERS, output_of, unread
from headwater.plan.text.relations import LEAVES, TextFacts
from headwater.plan.text.tokens import Columns, split
from headwater.plan.tree import Expression, Node, Operator, Plan

_NOTHING_KNOWN = TextFacts()
_SUBQUERY = re.compile(r"(?:scalar-subquery|exists|list|lateral-subquery|table-argument)#(\d+)L? \[")
_DELAY = re.compile(r"(#\d+L?)-T\d+ms\b")
"""An event time with the delay of its watermark, as AttributeReference.toString writes it."""


def decode_text(text: str, facts: TextFacts = _NOTHING_KNOWN) -> Plan:
    """The plan that a text shows (`analyzed_plan`), completed by what was asked for beside it.

    Raises:
        PlanError: the text is no plan, or was cut short (``spark.sql.debug.maxToStringFields``).

    >>> decode_text("Project [a#1]\\n+- LocalRelation [a#1, b#2]").root.name
    'Project'
    """
    if cut := re.search(r"\.\.\. (\d+) more fields", text):
        raise PlanError(f"The text of this plan leaves out {cut[1]} fields; raise spark.sql.debug.maxToStringFields.")
    reading = _Reading(facts)
    try:
        root = with_transposed(tree(_DELAY.sub(r"\1", text)), facts.transposed)
        reading.read(root, collates="collat" in f"{text}{facts.transposed}{facts.tables}{facts.sources}".lower())
    except (ValueError, IndexError, KeyError, AttributeError) as error:
        raise PlanError(f"The text of an analyzed plan was expected, as EXPLAIN prints it; met {error!r}.") from error
    return Plan(tuple(reading.nodes), (), facts.session)


class _Reading:
    """The operators read so far, and the names and types of all columns in them."""

    def __init__(self, facts: TextFacts) -> None:
        self.nodes: list[Node] = []
        self._facts = facts
        self._bodies = Inlining(facts.functions)
        self._names: dict[int, str] = {}
        self._types: dict[int, str] = {}
        self._ranges: list[Operator] = []
        self._loops: list[Operator] = []
        self._collated = False

    def read(self, root: Line, *, collates: bool) -> None:
        """Read every line, children first, then subqueries (whose outer columns are the children's)."""
        self._collated = collates
        done: dict[Line, Operator] = {}
        stack: list[tuple[Line, bool]] = [(root, False)]
        while stack:
            line, opened = stack.pop()
            if opened:
                done[line] = self._operator(line, done)
            else:
                stack.append((line, True))
                stack.extend((below, False) for below in reversed([*line.children, *line.inner]))
        self._complete()

    def _operator(self, line: Line, done: dict[Line, Operator]) -> Operator:
        inputs = tuple(done[child] for child in line.children)
        inner = tuple(done[plan] for plan in line.inner)
        line.text = self._with_bodies(line.text, inputs)
        operator = self._leaf(line) or self._inside(line, inputs, inner)
        for node in _shown(operator):
            self._names[node.expr_id] = node.label
            kind = node.text("dataType") or (node.children[0].text("dataType") if node.name == "Alias" else "")
            if kind:
                self._types[node.expr_id] = kind
        self.nodes.append(operator)
        return operator

    def _with_bodies(self, text: str, inputs: tuple[Operator, ...]) -> str:
        """The text with the bodies of SQL functions; one that cannot be read gets every column below as an argument."""
        found = self._bodies.inlined(text)
        if f"{UNREAD}(" not in found:
            return found
        every = ", ".join(f"{one.label}#{one.expr_id}" for below in inputs for one in output_of(below))
        return found.replace(f"{UNREAD}(", f"{UNREAD}({every}, ")

    def _leaf(self, line: Line) -> Operator | None:
        if line.name == "Range":
            self._ranges.append(Operator("Range", (), {}, {}))
            return self._ranges[-1]
        read = LEAVES.get(line.name)
        return read(line.rest, self._facts) if read else None

    def _inside(self, line: Line, inputs: tuple[Operator, ...], inner: tuple[Operator, ...]) -> Operator:
        ids = list(dict.fromkeys(int(found) for found in _SUBQUERY.findall(line.text)))
        plans = dict(zip(ids, inner, strict=False))
        parsed = OperatorText(
            split(line.rest, self._names), Columns(self._names, self._types, plans, self._collated), inputs
        )
        if line.name in COMMANDS:
            query = [*inputs, *inner]
            values = self._located(COMMANDS[line.name](parsed))
            partitions = tuple(
                Expression("AttributeReference", (), {}, {"name": name}) for name in values.pop("partitions", ())
            )
            references = {"query": query[0], "partitionColumns": partitions} if query else {}
            return Operator(line.name, tuple(query), references, values)
        if line.name in V2_COMMANDS:
            return self._v2_command(parsed, line, inputs, inner)
        if line.name == "ResolvedIdentifier":
            return Operator(line.name, (), {}, {"identifier": {"parts": name_parts(line.rest.rpartition(", ")[2])}})
        name = line.name if line.name in READERS else f"{line.name}, whose text is not read"
        references, values = READERS.get(line.name, unread)(parsed)
        if len(inner) > len(ids):
            references = _with_hidden(references, inner)
        operator = Operator(name, inputs, references, values)
        if line.name == "UnionLoop":
            self._loops.append(operator)
        return operator

    def _v2_command(
        self, parsed: OperatorText, line: Line, inputs: tuple[Operator, ...], inner: tuple[Operator, ...]
    ) -> Operator:
        """A command of the v2 API, as the command of the v1 API that writes the same columns to the same table."""
        name, read = V2_COMMANDS[line.name]
        values = self._located(read(replace(parsed, inputs=(*inputs, *inner))))
        query = [plan for plan in (*inputs, *inner) if plan.name != "ResolvedIdentifier"]
        if "changed" in values:
            types = values["changed"].get("types", {})
            columns = tuple({"name": column, "type": kind} for column, kind in types.items())
            return Operator(name, (), {}, {**values, "columns": columns})
        return Operator(name, tuple(query[-1:]), {"query": query[-1]} if query else {}, values)

    def _located(self, values: dict[str, Any]) -> dict[str, Any]:
        """The facts of a command, its table completed by the answers of the server."""
        for key in ("table", "catalogTable", "tableDesc", "changed"):
            if key in values:
                known = self._facts.tables.get(".".join(values[key]["identifier"]), {})
                values[key] = {**values[key], **known}
                values["columnTypes"] = known.get("types", {})
        return values

    def _complete(self) -> None:
        """Give ``Range`` and ``UnionLoop``, whose text lists no columns, those that no other operator puts out."""
        missing = sorted(self._referenced() - self._names.keys())
        for operator in self._ranges:
            taken, missing = missing[:1], missing[1:]
            output = tuple(Expression("AttributeReference", (), {}, {"id": one, "name": "id"}) for one in taken)
            operator.references["output"] = output  # type: ignore[index]  # nobody else has it yet
        for operator in self._loops:
            width = len(output_of(operator.references["anchor"]))
            taken, missing = missing[:width], missing[width:]
            operator.values["outputAttrIds"] = tuple(taken)  # type: ignore[index]  # as above

    def _referenced(self) -> set[int]:
        return {
            node.expr_id for operator in self.nodes if isinstance(operator, Operator) for node in _inside_of(operator)
        }


def _with_hidden(references: dict[str, Any], plans: tuple[Operator, ...]) -> dict[str, Any]:
    """References with plans that no subquery names: those of SQL functions, of which any computed value may come."""
    hidden = tuple(Expression("FunctionTableSubqueryArgumentExpression", (), {"plan": plan}) for plan in plans)

    def hiding(node: Expression) -> Expression:
        if node.name == "AttributeReference":
            return node
        inner = (*node.children, *hidden) if node.name == "Alias" else (node, *hidden)
        body = Expression("Unreadable", inner, {}, {"text": "the body of a SQL function"})
        return Expression("Alias", (body,), {}, node.values) if node.name == "Alias" else body

    return {
        name: tuple(hiding(one) if isinstance(one, Expression) else one for one in value)
        if isinstance(value, tuple)
        else hiding(value)
        if isinstance(value, Expression)
        else value
        for name, value in references.items()
    }


def _shown(operator: Operator) -> Iterator[Expression]:
    """The columns that an operator brings into the plan."""
    for name in ("output", "generatorOutput"):
        yield from operator.expressions(name)
    for name in ("projectList", "aggregateExpressions", "windowExpressions"):
        yield from (node for node in operator.expressions(name) if node.name == "Alias")
        for node in operator.expressions(name):
            if node.name == "Alias" and node.children[0].name == "Alias":
                yield from (child for child in node.children if isinstance(child, Expression))


def _inside_of(operator: Operator) -> Iterator[Expression]:
    """Every column that the expressions of an operator refer to."""
    stack: list[Node] = [node for name in operator.references for node in operator.expressions(name)]
    while stack:
        node = stack.pop()
        if node.name == "AttributeReference" and isinstance(node, Expression):
            yield node
        stack.extend(node.children)
        if (outer := node.expression("e")) is not None:
            stack.append(outer)
