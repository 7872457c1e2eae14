"""The fields of a node in Spark's ``toJSON``: which are children, trees of their own, values, and machinery."""

from collections.abc import Mapping
from typing import Any

from headwater.plan.tree import Expression, Node

CHILDREN = frozenset(
    {"child", "children", "left", "right", "query", "plan", "cteDefs", "anchor", "recursion", "source"}
)
"""Fields of operators whose numbers are positions of children, not numbers."""

MACHINERY = frozenset(
    {
        *("class", "num-children", "analyzedQuery", "commandLogicalPlan", "commandPhysicalPlan", "outputColumnNames"),
        *("metrics", "isStreaming", "stats", "hint"),
    }
)
"""Fields that repeat a child, are cut short by toJSON, or say nothing of the statement."""

SPLIT = {
    "WindowSpecDefinition": ("partitionSpec", "orderSpec"),
    "LambdaFunction": ("function", "arguments"),
    "InSubquery": ("values", "query"),
}
"""Expressions whose parts cannot be known from the children alone."""

_EXPRESSIONS = (
    "org.apache.spark.sql.catalyst.expressions.",
    "org.apache.spark.sql.catalyst.analysis.",
    "org.apache.spark.sql.catalyst.plans.logical.MergeRows$",
    "org.apache.spark.sql.execution.aggregate.",
    "org.apache.spark.sql.internal.",
)
_OPERATORS_AMONG_THEM = ("UnresolvedRelation", "ResolvedIdentifier", "ResolvedTable", "ResolvedNamespace", "View")
_TYPES = {"integer": "int", "long": "bigint", "short": "smallint", "byte": "tinyint"}


def simple_name(name: str) -> str:
    """Classes below ``org.apache.spark.`` go by their last component, others by their full name.

    >>> simple_name("org.apache.spark.sql.catalyst.plans.logical.OneRowRelation$")
    'OneRowRelation'
    """
    short = name.rpartition(".")[2] if name.startswith("org.apache.spark.") else name
    return short.removesuffix("$")


def is_expression(name: str) -> bool:
    """Whether a class is one of Spark's expressions, by its package."""
    return name.startswith(_EXPRESSIONS) and simple_name(name) not in _OPERATORS_AMONG_THEM


def positions(value: Any) -> bool:
    """Whether a value can be the positions of children."""
    if isinstance(value, list):
        return bool(value) and all(positions(item) for item in value)
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def placed(value: Any, children: tuple[Node, ...]) -> Any:
    """The children at the positions in ``value``."""
    if isinstance(value, list):
        return tuple(placed(item, children) for item in value)
    return children[value]


def holds_trees(value: Any) -> bool:
    """Whether a value is a list of nodes, or (lists of) lists of such."""
    if not isinstance(value, list) or not value:
        return False
    first = next((item for item in value if item), None)
    return "num-children" in first if isinstance(first, dict) else holds_trees(first)


def plain(value: Any) -> Any:
    """A value as the recorded form of plans has it; None for what is of no use."""
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, list):
        found = tuple(plain(item) for item in value)
        return None if None in found else found
    if not isinstance(value, dict):
        return None
    if "object" in value:
        return simple_name(str(value["object"]))
    return _product(value)


def _product(value: Mapping[str, Any]) -> Any:
    name = simple_name(str(value.get("product-class", "")))
    if name == "ExprId":
        return value["id"]
    if name in ("TableIdentifier", "AliasIdentifier"):
        return tuple(value[part] for part in ("catalog", "database", "table", "name") if value.get(part))
    if "identifier" in value:
        return {"class": name, "identifier": plain(value["identifier"])}
    return None


def completed(values: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """The values with those of ``more``; what both have as mappings is put together."""
    found = dict(values)
    for key, value in more.items():
        mine = found.get(key)
        found[key] = {**mine, **value} if isinstance(mine, dict) and isinstance(value, Mapping) else value
    return found


def expression_values(name: str, row: Mapping[str, Any], children: tuple[Node, ...]) -> dict[str, Any]:
    """The values of an expression that lineage asks for."""
    values: dict[str, Any] = {
        key: row[key] for key in ("name", "functionName", "udfName", "ordinal") if isinstance(row.get(key), str | int)
    }
    if name in ("Alias", "AttributeReference", "NamedLambdaVariable") and isinstance(row.get("exprId"), dict):
        values["id"] = row["exprId"]["id"]
    if "dataType" in row:
        values["dataType"] = catalog_type(row["dataType"])
    if name == "AttributeReference" and "__metadata_col" in (row.get("metadata") or {}):
        values["metadataColumn"] = True
    if name == "Cast":
        values["same"] = type_of(children[0]) == values.get("dataType")
    if name == "CreateNamedStruct":
        values["names"] = tuple(child.values.get("value", "") for child in children[::2])
    if name == "Literal":
        values["value"] = _literal(row.get("value"), values.get("dataType"))
        if values.get("dataType") == "string" and row.get("value") is not None:
            values["literal"] = row["value"]
    if name == "AggregateExpression" and row.get("isDistinct") is True:
        values["isDistinct"] = True
    return values


def _literal(value: Any, kind: Any) -> Any:
    text = str(value)
    if kind == "int" and text.lstrip("-").isdigit():
        return int(text)
    return text == "true" if kind == "boolean" else value


def type_of(node: Node) -> str:
    """The type of an expression, in catalog words, where toJSON has it; else empty."""
    if isinstance(node, Expression) and node.name in ("Alias", "SortOrder") and node.children:
        return type_of(node.children[0])
    return node.text("dataType")


def catalog_type(kind: Any) -> str:
    """A type of Spark's JSON in the words of its catalog.

    >>> catalog_type({"type": "array", "elementType": "long", "containsNull": True})
    'array<bigint>'
    """
    if isinstance(kind, str):
        return _TYPES.get(kind, kind)
    if not isinstance(kind, dict):
        return ""
    if kind.get("type") == "struct":
        inner = ",".join(f"{one['name']}:{catalog_type(one['type'])}" for one in kind["fields"])
        return f"struct<{inner}>"
    if kind.get("type") == "array":
        return f"array<{catalog_type(kind['elementType'])}>"
    if kind.get("type") == "map":
        return f"map<{catalog_type(kind['keyType'])},{catalog_type(kind['valueType'])}>"
    return catalog_type(kind.get("sqlType", ""))
