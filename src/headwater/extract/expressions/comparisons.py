"""Functions that compare structs to choose one or to sort them: they do it field by field."""

from headwater.extract.expressions.functions import function
from headwater.extract.scope import Scope, Visitors
from headwater.extract.trace import ANY_ITEM, NOTHING, Paths, Struct, Trace, flat, merge, part, struct, union
from headwater.plan import Expression, Node


def compared(node: Expression, value: Trace, scope: Scope) -> Trace:
    """One of several values, or the place of each among them, by their order.

    A field of structs depends on itself and on those before it. Under a collation texts may be equal and not the
    same: then the fields behind decide between them.
    """
    if not isinstance(value, Struct) or value.leaves > _MOST_LEAVES or _is_collated(node):
        return function(node, (value,), scope)
    return _field_by_field(node, value, NOTHING, scope)


_MOST_LEAVES = 200
"""Of wider structs a leaf has the edges of all: those before each are as many as the square of them."""


def _field_by_field(node: Expression, value: Trace, before: Paths, scope: Scope) -> Trace:
    if not isinstance(value, Struct):
        return union((before, flat(function(node, (value,), scope))))
    before = union((before, flat(function(node, (value.whole,), scope))))
    fields: list[Trace] = []
    for one in value.fields:
        fields.append(_field_by_field(node, one, before, scope))
        before = flat(fields[-1])
    return struct(value.names, tuple(fields))


def _is_collated(node: Node) -> bool:
    stack = [node]
    while stack:
        one = stack.pop()
        if "collate" in str(one.values.get("dataType", "")):
            return True
        stack.extend(one.children)
    return False


def extreme(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``max(struct)``, ``greatest(one, other)``; ``max(x, 3)`` of Spark 4.2 makes an array."""
    if node.name in ("Max", "Min") and len(children) > 1:
        return function(node, children, scope)
    return compared(node, merge(children), scope)


def extreme_element(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``array_max(structs)``."""
    return compared(node, part(children[0], ANY_ITEM), scope)


EXPRESSIONS: Visitors = {
    **dict.fromkeys(("Max", "Min", "Greatest", "Least"), extreme),
    **dict.fromkeys(("ArrayMax", "ArrayMin"), extreme_element),
}
