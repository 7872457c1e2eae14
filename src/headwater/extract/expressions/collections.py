"""Arrays and maps: what was packed under a literal index or key is found under it again.

To pack a value into an array or a map transforms it, so that taking it out need not; an element whose place
is not a literal may be any.
"""

from collections.abc import Hashable, Iterable, Sequence
from itertools import zip_longest

from headwater.extract.expressions.comparisons import compared
from headwater.extract.expressions.functions import function
from headwater.extract.scope import Scope, Visitors
from headwater.extract.trace import (
    ANY_ITEM,
    EACH,
    EXTENT,
    LABEL,
    NOTHING,
    ORDER,
    TRANSFORMED,
    Elements,
    Part,
    Paths,
    Struct,
    Trace,
    decided,
    elements,
    flat,
    merge,
    ordered,
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
    extent, order = flat(part(trace, EXTENT)), part(trace, ORDER)
    return Elements(None, (part(trace, EACH),), extent=extent, order=order, leaves=1, levels=1)


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
    """``arrays_zip(a, b)``: structs of the elements at one place; what orders an array decides which of it is there."""
    names = tuple(node.values.get("names") or ("",) * len(children))  # a plan from a text takes fields out by name
    extent = all_of(part(one, EXTENT) for one in children)
    rows = zipped(children)
    if rows is None:
        return elements(None, (struct(names, tuple(map(at_some_place, children))),), extent=extent)
    return _in_places([struct(names, row) for row in rows], extent)


def at_some_place(array: Trace) -> Trace:
    """An element that is put beside something by its place."""
    return merge((part(array, EACH), opened(array).order))


def zipped(arrays: Iterable[Trace]) -> list[tuple[Trace, ...]] | None:
    """The elements at each place of arrays that are all written out; None of others."""
    known: list[tuple[Trace, ...]] = []
    for array in arrays:
        values = _written(array)
        if values is None:
            return None
        known.append(values)
    return list(zip_longest(*known, fillvalue=NOTHING))


def _in_places(values: Sequence[Trace], extent: Paths) -> Trace:
    """An array that is written out, each element in its place."""
    return elements(tuple(range(len(values))), tuple(values), extent=extent)


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
    placed = _placed(node, children)
    if placed is not None:
        return _in_places(placed, all_of(counted))
    order = merge(part(child, ORDER) for child in holding)
    if node.name == "SortArray":
        order = merge((order, compared(node, merge(values), scope)))
    return ordered(elements(None, values, extent=all_of(children if node.name in _COMPARING else counted)), order)


def _placed(node: Expression, children: tuple[Trace, ...]) -> tuple[Trace, ...] | None:
    """The elements in their new places where the arrays and the places are written out; None elsewhere."""
    holding = children if node.name == "Concat" else children[:1]
    known = [_written(child) for child in holding]
    if node.name not in ("Concat", "Reverse", "Slice") or None in known:
        return None
    values = tuple(value for one in known for value in one or ())
    if node.name == "Slice":
        return _sliced(values, *map(literal, node.children[1:3]))
    return values[::-1] if node.name == "Reverse" else values


def _sliced(values: tuple[Trace, ...], start: Hashable, length: Hashable) -> tuple[Trace, ...] | None:
    """``slice(array, start, length)``, which counts from 1 or from the end; None where that is not written out."""
    if not isinstance(start, int) or not isinstance(length, int) or not start or length < 0:
        return None
    first = start - 1 if start > 0 else len(values) + start
    return values[first : first + length] if first >= 0 else ()


def array_insert(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``array_insert(array, 1, x)``, which counts from 1 or from the end."""
    place = None if node.values.get("legacyNegativeIndex") else literal(node.children[1])
    return _inserted(children[0], children[2], place, children[1])


def array_append(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``array_append(array, x)`` and ``array_prepend``; Spark 4 replaces both by ``array_insert``."""
    if len(children) == 1:
        return children[0]
    return _inserted(children[0], children[1], -1 if node.name == "ArrayAppend" else 1, NOTHING)


def _inserted(array: Trace, value: Trace, place: Hashable, index: Trace) -> Trace:
    known, new = _written(array), shaped(TRANSFORMED, value)
    extent = all_of((part(array, EXTENT), index))
    if known is not None and place in (1, -1):
        return _in_places((new, *known) if place == 1 else (*known, new), extent)
    return ordered(elements(None, (part(array, EACH), new), extent=extent), part(array, ORDER))


def flatten(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``flatten(arrays)``: the elements of the elements, in their places where all the arrays are written out."""
    packed, any_array = children[0], part(children[0], EACH)
    extent = all_of((part(packed, EXTENT), part(any_array, EXTENT)))
    written = _written(packed)
    arrays = written and [_written(one) for one in written]
    if not arrays or None in arrays:
        order = merge((part(any_array, ORDER), part(part(packed, ORDER), ANY_ITEM)))
        return ordered(elements(None, (part(any_array, EACH),), extent=extent), order)
    return _in_places([value for array in arrays for value in array or ()], extent)


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


def array_compact(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``array_compact(array)``: which elements are NULL decides on the places; a packed struct is not by a leaf."""
    packed = children[0]
    if not isinstance(packed, Elements):
        return function(node, children, scope)
    missing = (value.whole if isinstance(value, Struct) else value for value in packed.values)
    extent = all_of((part(packed, EXTENT), *missing))
    return ordered(elements(None, (part(packed, EACH),), extent=extent), part(packed, ORDER))


def map_keys(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_keys(m)``."""
    return elements(None, (part(children[0], LABEL),), extent=_extent(children[0]))


def map_values(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_values(m)``: in the order of the map where that is written out."""
    known = _entries(node.children[0], children[0])
    if known is not None:
        return _in_places(known, _extent(children[0]))
    return elements(None, (part(children[0], EACH),), extent=_extent(children[0]))


def _entries(node: Node, packed: Trace) -> tuple[Trace, ...] | None:
    """The values of ``map('a', x, 'b', y)`` with different literal keys, in order; None of any other map."""
    if node.name != "CreateMap" or not isinstance(packed, Elements) or packed.keys is None:
        return None
    if len(set(packed.keys)) < len(packed.keys):
        return None
    return tuple(part(packed, Part("item", key)) for key in packed.keys)


def map_concat(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_concat(m, n)``: the entries of each."""
    maps = [child for child in children if isinstance(child, Elements) and child.labels is not None]
    if not maps or len(maps) < len(children):
        return function(node, children, scope)
    labels, extent = union(one.labels or NOTHING for one in maps), union(one.extent for one in maps)
    whole = union(one.whole for one in maps)
    values = tuple(value for one in maps for value in one.values)
    if any(one.keys is None for one in maps):
        return elements(None, values, whole, extent, labels)
    return elements(tuple(key for one in maps for key in one.keys or ()), values, whole, extent, labels)


def map_entries(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_entries(m)``: structs of a key and a value."""
    label, known = part(children[0], LABEL), _entries(node.children[0], children[0])
    values = [part(children[0], EACH)] if known is None else known
    entries = tuple(struct(("key", "value"), (label, value)) for value in values)
    return elements(None if known is None else tuple(range(len(known))), entries, extent=_extent(children[0]))


def _extent(packed: Trace) -> Paths:
    """The paths that decide which elements or entries there are."""
    return all_of((part(packed, EXTENT), part(packed, LABEL)))


def map_from_arrays(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_from_arrays(keys, values)``."""
    keys, values = children
    extent, labels = all_of((keys, part(values, EXTENT))), all_of((keys,))
    written, known = _written(values), tuple(map(literal, node.children[0].children))
    if (
        node.children[0].name == "CreateArray"
        and written is not None
        and len(written) == len(known)
        and None not in known
    ):
        return elements(known, written, extent=extent, labels=labels)
    return elements(None, (at_some_place(values),), extent=extent, labels=labels)


def map_from_entries(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``map_from_entries(entries)``: of structs of a key and a value."""
    entry = part(children[0], EACH)
    if not isinstance(entry, Struct) or len(entry.fields) != 2:
        return function(node, children, scope)
    keys, value = (part(entry, Part("field", place)) for place in (0, 1))  # of one key, the last entry may count
    extent, labels = all_of((part(children[0], EXTENT), part(children[0], ORDER), keys)), all_of((keys,))
    written, known = _written(children[0]), _literal_keys(node.children[0])
    if written is not None and len(written) == len(known):
        values = tuple(part(one, Part("field", 1)) for one in written)
        return elements(known, values, extent=extent, labels=labels)
    return elements(None, (value,), extent=extent, labels=labels)


def _literal_keys(node: Node) -> tuple[Hashable, ...]:
    """The keys of ``array(struct('a', x), struct('b', y))`` where all are literals; none of anything else."""
    entries = node.children if node.name == "CreateArray" else ()
    if any(entry.name != "CreateNamedStruct" or len(entry.children) < 2 for entry in entries):
        return ()
    keys = tuple(literal(entry.children[1]) for entry in entries)
    return () if None in keys else keys


_JOINING = ("ArrayUnion", "Concat")
_COMPARING = ("ArrayDistinct", "ArrayExcept", "ArrayIntersect", "ArrayRemove", "ArrayUnion")

EXPRESSIONS: Visitors = {
    "ArrayAppend": array_append,
    "ArrayCompact": array_compact,
    "ArrayInsert": array_insert,
    "ArrayPrepend": array_append,
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
    "MapConcat": map_concat,
    "MapEntries": map_entries,
    "MapFromArrays": map_from_arrays,
    "MapFromEntries": map_from_entries,
    "MapKeys": map_keys,
    "MapValues": map_values,
    "Size": size,
    **dict.fromkeys(
        (
            "ArrayDistinct",
            "ArrayExcept",
            "ArrayIntersect",
            "ArrayRemove",
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
