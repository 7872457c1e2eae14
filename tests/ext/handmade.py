"""Plans written by hand, as the JVM side writes them: a table of nodes that name each other by their places."""

from typing import Any

from headwater.model import Output
from headwater.plan import Plan, decode_document

Node = list[Any]


def column(key: int, name: str) -> Node:
    return ["AttributeReference", [], {}, {"id": key, "name": name, "dataType": "int"}]


def files(name: str, *columns: int) -> Node:
    """A relation of files whose columns stand at these places."""
    return ["LogicalRelation", [], {"output": list(columns)}, {"relation": {"paths": [f"file:/{name}"]}}, 1]


def operator(kind: str, /, *below: int, values: dict[str, Any] | None = None, **references: Any) -> Node:
    """An operator of a class, above those at these places."""
    return [kind, list(below), references, values or {}, 1]


def expression(kind: str, /, *children: int, **values: Any) -> Node:
    return [kind, list(children), {}, values]


def plan(*nodes: Node) -> Plan:
    """The plan of these nodes, the last its root."""
    return decode_document({"nodes": list(nodes)})


def saved(*nodes: Node) -> Plan:
    """A plan that writes the rows of the last of these nodes to files."""
    query = len(nodes) - 1
    command = ["SaveIntoDataSourceCommand", [query], {"query": query}, {"options": {"path": "/out"}}, 1]
    return plan(*nodes, command)


def edges(output: Output) -> dict[str, set[str]]:
    """The edges of each field as text, with the last part of the dataset's name; those of every row under ``*``."""
    found = {**output.lineage.fields, "*": output.lineage.dataset}
    return {
        name: {
            f"{edge.input.dataset.name.strip('/')}.{edge.input.name} {edge.transformation.subtype.value}"
            + " masking" * edge.transformation.masking
            + " opaque" * edge.transformation.opaque
            for edge in many
        }
        for name, many in found.items()
    }
