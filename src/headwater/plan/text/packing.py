"""Functions that pack values into structs, arrays and maps or take them out again, as their texts have them.

A literal stands without quotes, so that a comma in one moves what follows it: where the arguments are not as many as
the function has, and where their places cannot be relied on, every argument counts.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from headwater.plan.text.lines import schema_fields
from headwater.plan.tree import Expression, Node

Arguments = tuple[Expression, ...]

REARRANGED = {
    "array_compact": "ArrayCompact",
    "array_distinct": "ArrayDistinct",
    "array_except": "ArrayExcept",
    "array_intersect": "ArrayIntersect",
    "array_max": "ArrayMax",
    "array_min": "ArrayMin",
    "array_remove": "ArrayRemove",
    "array_repeat": "ArrayRepeat",
    "array_union": "ArrayUnion",
    "concat": "Concat",
    "explode": "Explode",
    "flatten": "Flatten",
    "greatest": "Greatest",
    "inline": "Inline",
    "least": "Least",
    "map_concat": "MapConcat",
    "map_entries": "MapEntries",
    "map_from_entries": "MapFromEntries",
    "map_keys": "MapKeys",
    "map_values": "MapValues",
    "max": "Max",
    "min": "Min",
    "posexplode": "PosExplode",
    "reverse": "Reverse",
    "shuffle": "Shuffle",
    "sort_array": "SortArray",
}
"""The classes of functions whose arguments may be any."""

_HIGHER_ORDER = {
    "array_sort": "ArraySort",
    "exists": "ArrayExists",
    "filter": "ArrayFilter",
    "forall": "ArrayForAll",
    "map_filter": "MapFilter",
    "map_zip_with": "MapZipWith",
    "transform": "ArrayTransform",
    "transform_keys": "TransformKeys",
    "transform_values": "TransformValues",
    "zip_with": "ZipWith",
}
_COUNTED = {
    "array_append": ("ArrayAppend", 2),
    "array_prepend": ("ArrayPrepend", 2),
    "element_at": ("ElementAt", 4),
    "get": ("Get", 2),
    "map_from_arrays": ("MapFromArrays", 2),
    "size": ("Size", 2),
    "slice": ("Slice", 3),
    "try_element_at": ("ElementAt", 2),
}
"""The classes of functions by name, and how many arguments each has in a text."""

_TAKEN = {"ElementAt": 2, "Size": 1}
_READING = (
    *("AttributeReference", "NamedLambdaVariable", "OuterReference", "VariableReference"),
    *("Exists", "FunctionTableSubqueryArgumentExpression", "ListQuery", "ScalarSubquery"),
)
COMPARING = ("ArrayMax", "ArrayMin", "ArraySort", "Greatest", "Least", "Max", "Min", "SortArray")
"""The classes of functions that compare structs field by field, unless texts that are not the same may be equal."""


def _counted(name: str) -> Callable[[Arguments], Expression]:
    kind, count = _COUNTED[name]

    def node(children: Arguments) -> Expression:
        found = children[: _TAKEN.get(kind, count)] if len(children) == count else children
        return Expression(kind if len(children) == count else "Function", found)

    return node


def _higher_order(name: str) -> Callable[[Arguments], Expression]:
    return lambda children: Expression(_HIGHER_ORDER[name], children)


def _lambda(children: Arguments) -> Expression:
    """``lambdafunction(body, lambda x#1, lambda i#2, false)``."""
    body, *variables = children[:-1]
    known = all(one.name == "NamedLambdaVariable" for one in variables)
    return Expression("LambdaFunction" if known else "Function", (body, *variables))


def _aggregate(children: Arguments) -> Expression:
    return Expression("ArrayAggregate" if len(children) == 4 else "Function", children)


def _array_insert(children: Arguments) -> Expression:
    """``array_insert(a, 1, x, false)``: the last is whether places from the end are those of Spark 3.4."""
    if len(children) != 4:
        return Expression("Function", children)
    legacy = children[-1].values.get("literal") != "false"
    return Expression("ArrayInsert", children[:3], {}, {"legacyNegativeIndex": legacy})


def _arrays_zip(children: Arguments) -> Expression:
    """``arrays_zip(a#1, b#2, a, b)``: the arrays, then the names of their fields."""
    arrays, names = children[: len(children) // 2], children[len(children) // 2 :]
    if (
        len(arrays) != len(names)
        or {one.name for one in names} != {"Literal"}
        or _may_be_one(children[: len(names) + 1])
    ):
        return Expression("Function", children)
    texts = tuple(str(one.values.get("literal", one.values.get("value"))) for one in names)
    return Expression("ArraysZip", arrays, {}, {"names": texts})


def _may_be_one(values: Sequence[Expression]) -> bool:
    """Whether two values without a column beside each other may be one literal that has commas."""
    return any(map(all, pairwise(map(_is_constant, values))))


def _is_constant(value: Node) -> bool:
    """Whether a value may be a literal, which may look like anything that has no column in it."""
    stack = [value]
    while stack:
        one = stack.pop()
        if one.name in _READING:
            return False
        stack.extend(one.children)
    return True


def _array(children: Arguments) -> Expression:
    """``array(a, b)``: a comma within a literal may have moved what follows it."""
    return Expression("CreateArray", children, {}, {"ordered": not _may_be_one(children)})


def _map(children: Arguments) -> Expression:
    """``map('a', x, 'b', y)``, where keys and values are seen to take turns."""
    taking_turns = len(children) % 2 == 0 and not _may_be_one(children)
    return Expression("CreateMap" if taking_turns else "Function", children)


FORMS: Mapping[str, Callable[[Arguments], Expression]] = {
    **{name: _counted(name) for name in _COUNTED},
    **{name: _higher_order(name) for name in _HIGHER_ORDER},
    "aggregate": _aggregate,
    "array": _array,
    "array_insert": _array_insert,
    "arrays_zip": _arrays_zip,
    "lambdafunction": _lambda,
    "map": _map,
    "reduce": _aggregate,
}
"""Functions that are read in a way of their own."""


def named_struct(texts: Sequence[str], arguments: Sequence[Expression]) -> Expression:
    """``struct(a, x#1 AS a#2, b, 1)``: names and values in turn.

    Two fields with literals beside each other may be one, of a literal that has commas, unless an alias says its name.
    """
    pairs = list(zip(texts[::2], texts[1::2], arguments[::2], arguments[1::2], strict=False))
    literals = [
        _is_constant(value) and not re.search(rf" AS {re.escape(name)}#\d+L?$", text) for name, text, _, value in pairs
    ]
    named = len(texts) == len(arguments) == 2 * len(pairs) and all(name.name == "Literal" for _, _, name, _ in pairs)
    if not named or (any(map(all, pairwise(literals))) and not all(literals)):
        return Expression("Function", tuple(arguments), {}, {"name": "named_struct"})
    return Expression("CreateNamedStruct", tuple(arguments), {}, {"names": tuple(texts[::2])})


def updated(struct: Expression, changes: Sequence[Expression]) -> Expression:
    """``update_fields(s#1, WithField(a, x#2), dropfield(b))``."""
    values = tuple(one for one in changes if one.name == "WithField")
    known = len(values) == sum(one.name != "DropField" for one in changes)
    if not known:
        return Expression("Function", (struct, *changes))
    return Expression("UpdateFields", (struct, *values), {"fieldOps": tuple(changes)})


def type_of(value: Expression) -> str:
    """The type of a value as far as its text says it; empty where it does not."""
    if value.name == "CreateNamedStruct":
        kinds = [type_of(one) for one in value.children[1::2] if isinstance(one, Expression)]
        fields = (f"{name}:{kind}" for name, kind in zip(value.values["names"], kinds, strict=True))
        return f"struct<{','.join(fields)}>"
    children = [one for one in value.children if isinstance(one, Expression)]
    if value.name == "CreateArray" and len(kinds_of := set(map(type_of, children))) == 1:
        return f"array<{kinds_of.pop()}>"
    return value.text("dataType")


def recast(kind: str, target: str) -> Any:
    """The value of ``leaves`` for a cast: True where the type stays, else what becomes of the parts.

    >>> recast("struct<a:int,b:string>", "struct<x:bigint,y:string>")
    {'names': ('x', 'y'), 'fields': [None, True]}
    """
    if kind and kind == target:
        return True
    if target.startswith("array<"):
        return {"element": recast(kind[6:-1] if kind.startswith("array<") else "", target[6:-1])}
    if not target.startswith("struct<"):
        return None
    fields = schema_fields(target[7:-1])
    known = schema_fields(kind[7:-1]) if kind.startswith("struct<") else []
    kinds = [one for _, one in known] if len(known) == len(fields) else [""] * len(fields)
    casts = [recast(one, other) for one, (_, other) in zip(kinds, fields, strict=True)]
    return {"names": tuple(name for name, _ in fields), "fields": casts}
