"""Read the table of nodes that the JVM side writes (``capture/jvm/PlanWriter.java``).

The form is JSON: ``{"nodes": [[class, children, references, values, 1 for an operator], …],
"output": [[exprId, name, type], …], "session": {…}, "cut": reason}``; children and references are positions.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from headwater.errors import PlanError
from headwater.plan.tree import NOTHING, Column, Expression, Node, Operator, Plan


def decode(text: str | bytes) -> Plan:
    """The plan in its recorded form ``text``.

    Raises:
        PlanError: the text is not such a form.

    >>> plan = decode('{"nodes": [["OneRowRelation", [], {}, {}, 1]]}')
    >>> plan.root.name
    'OneRowRelation'
    """
    try:
        return decode_document(json.loads(text))
    except ValueError as error:
        raise PlanError(f"A recorded plan is JSON, but reading it failed: {error}.") from error


def decode_document(document: Mapping[str, Any]) -> Plan:
    """The plan in an already parsed document of the recorded form; its nodes may come one by one.

    Raises:
        PlanError: the document is not of that form.
    """
    try:
        nodes = _nodes(document["nodes"])
        output = tuple(Column(*column) for column in document.get("output", ()))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise PlanError(f"A recorded plan is a table of nodes, each after what it refers to; met {error!r}.") from error
    return Plan(nodes, output, document.get("session", {}), document.get("cut", ""))


def _nodes(rows: Iterable[Sequence[Any]]) -> tuple[Node, ...]:
    nodes: list[Node] = []
    at = nodes.__getitem__
    for row in rows:
        name, children, references, values = row[:4]
        kind = Operator if len(row) > 4 else Expression
        below = tuple(map(at, children)) if children else ()
        fields = {field: _resolve(value, at) for field, value in references.items()} if references else NOTHING
        nodes.append(kind(name, below, fields, _values(values, at) if values else NOTHING))
    return tuple(nodes)


def _resolve(value: Any, at: Callable[[int], Node]) -> Any:
    if isinstance(value, int):
        return at(value)
    try:
        return tuple(map(at, value))
    except TypeError:  # a list in the list, or a gap
        return tuple(None if item is None else _resolve(item, at) for item in value)


def _values(values: dict[str, Any], at: Callable[[int], Node]) -> dict[str, Any]:
    """Values as they are, except that a node among them (``{"$": position}``) is put in its place."""
    if list in map(type, values.values()):
        return {name: _value(value, at) for name, value in values.items()}
    return values


def _value(value: Any, at: Callable[[int], Node]) -> Any:
    if isinstance(value, list):
        return tuple(_value(item, at) for item in value)
    if isinstance(value, dict) and "$" in value:
        return at(value["$"])
    return value
