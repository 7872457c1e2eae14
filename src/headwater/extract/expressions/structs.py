"""Structs: packed leaves keep their own traces until something looks at the struct as a whole."""

from headwater.extract.scope import Scope, Visitors
from headwater.extract.trace import (
    TRANSFORMED,
    Elements,
    Part,
    Trace,
    flat,
    part,
    step,
    struct,
    updated,
)
from headwater.plan import Expression


def create_named_struct(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``named_struct('a', x, 'b', y)``: names and values in turn."""
    return struct(tuple(node.values.get("names", ())), children[1::2])


def get_struct_field(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``s.a``: the leaf that was packed, or a part of a column that came as a struct.

    A plan from a text has the name alone, and says so of an array of structs too.
    """
    return part(children[0], Part("field", node.text("field") or int(node.values.get("ordinal", -1))))


def get_array_struct_fields(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``array.a``: that leaf of every element."""
    packed = children[0]
    return get_struct_field(node, children, scope) if isinstance(packed, Elements) else step(TRANSFORMED, flat(packed))


def update_fields(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``withField``/``dropFields``: the other leaves of a struct packed in this query stay as they are."""
    by_node = dict(zip(node.children, children, strict=True))
    changes = [
        (one.text("name"), by_node[one] if one.name == "WithField" else None) for one in node.expressions("fieldOps")
    ]
    return updated(children[0], tuple(changes))


def with_field(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """The value that one field of a struct is set to."""
    return children[0]


EXPRESSIONS: Visitors = {
    "CreateNamedStruct": create_named_struct,
    "GetArrayStructFields": get_array_struct_fields,
    "GetStructField": get_struct_field,
    "UpdateFields": update_fields,
    "WithField": with_field,
}
