"""Plans of any size in the recorded form, as Spark writes them for projections over projections of one table."""

import json
from typing import Any


def projections(columns: int, steps: int) -> str:
    """A table of ``columns`` columns under ``steps`` projections, each of which computes all of them anew."""
    nodes: list[list[Any]] = [_attribute(f"c{place}", place) for place in range(columns)]
    nodes.append(_relation(columns))
    below, at = columns, list(range(columns))
    for step in range(1, steps + 1):
        aliases = []
        for place in range(columns):
            id = step * columns + place
            nodes.append(["Literal", [], {}, {"value": step}])
            nodes.append(["Add", [at[place], len(nodes) - 1], {}, {}])
            nodes.append(["Alias", [len(nodes) - 1], {}, {"name": f"c{place}", "id": id, "type": "bigint"}])
            aliases.append(len(nodes) - 1)
        nodes.append(["Project", [below], {"projectList": aliases, "child": below}, {}, 1])
        below = len(nodes) - 1
        at = list(range(len(nodes), len(nodes) + columns))
        nodes.extend(_attribute(f"c{place}", step * columns + place) for place in range(columns))
    return _document(nodes[:-columns] if steps else nodes, columns, steps)


def _attribute(name: str, id: int) -> list[Any]:
    return ["AttributeReference", [], {}, {"name": name, "dataType": "bigint", "id": id}]


def _relation(columns: int) -> list[Any]:
    relation = {"class": "HadoopFsRelation", "paths": ["file:/lake/source"], "format": "ParquetFileFormat"}
    return ["LogicalRelation", [], {"output": list(range(columns))}, {"relation": relation}, 1]


def _document(nodes: list[list[Any]], columns: int, steps: int) -> str:
    output = [[steps * columns + place, f"c{place}", "bigint"] for place in range(columns)]
    return json.dumps({"nodes": nodes, "output": output, "session": {}}, separators=(",", ":"))
