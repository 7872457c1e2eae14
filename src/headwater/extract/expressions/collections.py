"""Arrays and maps: what was packed under a literal index or key is found under it again.

To pack a value into an array or a map transforms it, so that taking it out need not; an element that cannot be told
from the others may be any.
"""

from collections.abc import Hashable, Iterable

from headwater.extract.expressions.functions import function
from headwater.extract.expressions.table import Visitors
from headwater.extract.scope import Scope
from headwater.extract.trace import (
    ANY_ITEM,
    EACH,
    EXTENT,
    LABEL,
    TRANSFORMED,
    Elements,
    Part,
    Paths,
    Struct,
    Trace,
    decided,
    elements,
    flat,
    part,
    shaped,
    step,
    struct,
    union,
)
from headwater.plan import Expression, Node


def literal(node: Node) -> Hashable:
    """The value of a literal number, what stands for that of a text; None of anything else."""
    if node.name != "Literal":
        return None
    value = node.values.get("value")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return ("literal", node.values["literal"]) if "literal" in node.values else None


def opened(trace: Trace) -> Elements:
    """The elements of an array or a map, of a column that came as one too."""
    if isinstance(trace, Elements):
        return trace
    return Elements(None, (part(trace, EACH),), extent=flat(part(trace, EXTENT)), leaves=1, levels=1)


def all_of(traces: Iterable[Trace]) -> Paths:
    """The paths that a function depends on which compares or counts its arguments."""
    return step(TRANSFORMED, union(map(flat, traces)))


def create_array(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``array(a, b)``."""
    known = tuple(range(len(children))) if node.values.get("ordered", True) else None
    return elements(known, tuple(shaped(TRANSFORMED, child) for child in children))


def create_map(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map('a', x, 'b', y)``: keys and values in turn."""
    keys = tuple(map(literal, node.children[::2]))
    known = None if None in keys else keys
    values = tuple(shaped(TRANSFORMED, child) for child in children[1::2])
    return elements(known, values, labels=all_of(children[::2]))


def get_item(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``array[0]``, ``map['a']``; ``get(array, 0)``, which Spark 3.5 replaces by the former."""
    if len(children) == 1:
        return children[0]
    return _item(node, children, literal(node.children[1]))


def element_at(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``element_at(array, 1)``, which counts from 1 or from the end, ``element_at(map, 'a')``."""
    key = literal(node.children[1])
    if not isinstance(children[0], Elements):
        key = None
    elif children[0].labels is None and isinstance(key, int):
        key = key - 1 if key > 0 else key
    return _item(node, children, key)


def _item(node: Expression, children: tuple[Trace, ...], key: Hashable) -> Trace:
    packed, index = children
    found = part(packed, ANY_ITEM if key is None else Part("item", key))
    return decided(found, step(TRANSFORMED, flat(index)))


def arrays_zip(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``arrays_zip(a, b)``: structs of the elements at one place."""
    fields = tuple(part(child, EACH) for child in children)
    return elements(None, (struct(("",) * len(fields), fields),), extent=all_of(children))


def array_repeat(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``array_repeat(x, 3)``."""
    return elements(None, (shaped(TRANSFORMED, children[0]),), extent=all_of(children[1:]))


def rearranged(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """Functions that put elements of arrays together, leave some out or change their order: each stays what it was.

    Those that compare elements depend on all of them, the others only on what decides how many there are.
    """
    arrays = [child for child in children if isinstance(child, Elements)]
    if not arrays or any(child.labels is not None for child in arrays):
        return function(node, children, scope)
    holding = children if node.name in _JOINING else children[:1]
    values = tuple(part(child, EACH) for child in holding)
    counted = (*(part(child, EXTENT) for child in holding), *children[len(holding) :])
    return elements(None, values, extent=all_of(children if node.name in _COMPARING else counted))


def flatten(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``flatten(arrays)``: the elements of the elements, in their places where all the arrays are written out."""
    packed, any_array = children[0], part(children[0], EACH)
    extent = all_of((part(packed, EXTENT), part(any_array, EXTENT)))
    written = _written(packed)
    arrays = written and [_written(one) for one in written]
    if not arrays or None in arrays:
        return elements(None, (part(any_array, EACH),), extent=extent)
    values = tuple(value for array in arrays for value in array or ())
    return elements(tuple(range(len(values))), values, extent=extent)


def _written(packed: Trace) -> tuple[Trace, ...] | None:
    """The elements of an array that is written out, each in its place; None of any other."""
    if not isinstance(packed, Elements) or packed.keys is None or packed.labels is not None:
        return None
    return tuple(part(packed, Part("item", key)) for key in packed.keys)


def size(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``size(array)``, ``cardinality(map)``: by what decides how many there are; else by all that is written out."""
    if not isinstance(children[0], Elements):
        return function(node, children, scope)
    return _extent(children[0]) or all_of(children)


def map_keys(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_keys(m)``."""
    return elements(None, (part(children[0], LABEL),), extent=_extent(children[0]))


def map_values(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_values(m)``."""
    return elements(None, (part(children[0], EACH),), extent=_extent(children[0]))


def map_entries(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_entries(m)``: structs of a key and a value."""
    entry = struct(("key", "value"), (part(children[0], LABEL), part(children[0], EACH)))
    return elements(None, (entry,), extent=_extent(children[0]))


def _extent(packed: Trace) -> Paths:
    """The paths that decide which elements or entries there are."""
    return all_of((part(packed, EXTENT), part(packed, LABEL)))


def map_from_arrays(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_from_arrays(keys, values)``."""
    keys, values = children
    extent = all_of((keys, part(values, EXTENT)))
    return elements(None, (part(values, EACH),), extent=extent, labels=all_of((keys,)))


def map_from_entries(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_from_entries(entries)``: of structs of a key and a value."""
    entry = part(children[0], EACH)
    if not isinstance(entry, Struct) or len(entry.fields) != 2:
        return function(node, children, scope)
    keys, value = (part(entry, Part("field", place)) for place in (0, 1))
    extent = all_of((part(children[0], EXTENT), keys))
    return elements(None, (value,), extent=extent, labels=all_of((keys,)))


_JOINING = ("ArrayUnion", "Concat")
_COMPARING = ("ArrayDistinct", "ArrayUnion", "SortArray")

EXPRESSIONS: Visitors = {
    "ArrayRepeat": array_repeat,
    "ArraysZip": arrays_zip,
    "CreateArray": create_array,
    "CreateMap": create_map,
    "ElementAt": element_at,
    "Flatten": flatten,
    "Get": get_item,
    "GetArrayItem": get_item,
    "GetItem": get_item,
    "GetMapValue": get_item,
    "MapEntries": map_entries,
    "MapFromArrays": map_from_arrays,
    "MapFromEntries": map_from_entries,
    "MapKeys": map_keys,
    "MapValues": map_values,
    "Size": size,
    **dict.fromkeys(
        (
            "ArrayDistinct",
            "ArrayUnion",
            "Concat",
            "Reverse",
            "Shuffle",
            "Slice",
            "SortArray",
        ),
        rearranged,
    ),
}
