"""Where the value of one column comes from, at one place in a plan.

A trace is a set of paths (source, transformation), a struct of traces, or the elements of an array or a map, so that
a leaf that was packed can be taken out again without its neighbours.
A source is an input field, or a placeholder for a column that only an outer scope knows:
an outer reference of a correlated subquery, a column of the recursion it stands in, a common expression.
The many columns that a function receives are one source together.
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from headwater.model import InputField, Subtype, Transformation, compose

Step = Transformation

TRANSFORMED = Transformation(Subtype.TRANSFORMATION)
AGGREGATED = Transformation(Subtype.AGGREGATION)
OPAQUE = Transformation(Subtype.TRANSFORMATION, opaque=True)
SAME = Transformation(Subtype.IDENTITY)
CONDITION = Transformation(Subtype.CONDITIONAL)
WINDOW = Transformation(Subtype.WINDOW)
FILTER = Transformation(Subtype.FILTER)
JOIN = Transformation(Subtype.JOIN)
GROUP_BY = Transformation(Subtype.GROUP_BY)
SORT = Transformation(Subtype.SORT)
CORRELATED = Transformation(Subtype.JOIN, description="compared with the query around it")
UNSEEN_ROWS = Transformation(Subtype.FILTER, opaque=True, description="a function may leave rows out or add some")


class Part(NamedTuple):
    """A part of a packed value: ``field`` has its number or name for a key, ``item`` an index or a literal.

    ``each`` is any element, ``label`` a map's key.

    ``extent`` and ``order`` are no parts of the value: they say which elements there are, and which stands where.
    ``shaped`` is the value with one more step for each of its leaves, which is the key; ``updated`` a struct with the
    changes to fields that are the key.
    """

    kind: str
    key: Hashable = None


EACH = Part("each")
LABEL = Part("label")
ANY_ITEM = Part("item")
EXTENT = Part("extent")
ORDER = Part("order")


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A column of another scope, or a part of one: ``kind`` is ``outer``, ``loop``, ``common`` or ``lambda``."""

    kind: str
    id: int
    position: int = 0
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class FunctionInput:
    """The paths of all that a function receives, as one source, so that each column it fills has one path."""

    paths: "Paths"


Source = InputField | Placeholder | FunctionInput
Path = tuple[Source, Transformation]
Paths = frozenset[Path]

NOTHING: Paths = frozenset()

_MANY_PATHS = 100
_MOST_LEAVES = 5_000
_MOST_ELEMENTS = 100
_MOST_LEVELS = 20


@dataclass(frozen=True, slots=True)
class Struct:
    """The traces of a struct's fields, in order, with their names; ``whole`` counts for all of them."""

    names: tuple[str, ...]
    fields: tuple["Trace", ...]
    whole: Paths = NOTHING
    leaves: int = 0
    levels: int = 0


@dataclass(frozen=True, slots=True)
class Elements:
    """The traces of an array's elements or a map's values; ``whole`` counts for all of them.

    ``keys`` has the index or literal key of each; where they are not known it is None, and ``values`` has one trace.
    ``extent`` decides which elements there are and in which order, ``labels`` are a map's keys, None of an array.
    ``order`` is of an array that was sorted: an element as what decides which one stands where, for each leaf apart.
    """

    keys: tuple[Hashable, ...] | None
    values: tuple["Trace", ...]
    whole: Paths = NOTHING
    extent: Paths = NOTHING
    labels: Paths | None = None
    order: "Trace" = NOTHING
    leaves: int = 0
    levels: int = 0


Trace = Paths | Struct | Elements


class _TransformationCache(dict[Transformation, Transformation]):
    """The transformations with one more step, each worked out once; forgotten when they are many."""

    def __init__(self, outer: Transformation) -> None:
        super().__init__()
        self._outer = outer

    def __missing__(self, inner: Transformation) -> Transformation:
        if len(self) >= 4_096:
            self.clear()
        self[inner] = compose(self._outer, inner)
        return self[inner]


_after = lru_cache(maxsize=1024)(_TransformationCache)


def source(field: Source) -> Paths:
    """The trace of a column that is that field, unchanged."""
    return frozenset({(field, SAME)})


def received(paths: Paths) -> Paths:
    """The paths of what a function makes of all it receives; many are one source, unless some are replaced later."""
    found = step(OPAQUE, expanded(paths))
    later = any(isinstance(origin, Placeholder) or how.description == CORRELATED.description for origin, how in found)
    return found if later or len(found) < _MANY_PATHS else source(FunctionInput(found))


def expanded(paths: Paths) -> Paths:
    """The paths with those of each function in the place of the one source that stands for them."""
    together = [(origin.paths, how) for origin, how in paths if isinstance(origin, FunctionInput)]
    if not together:
        return paths
    single = frozenset(path for path in paths if not isinstance(path[0], FunctionInput))
    return union((single, *(_stepped(how, many) for many, how in together)))


def step(transformation: Step, trace: Trace) -> Paths:
    """The paths of ``trace`` with one more step, nearer to the output."""
    paths = flat(trace)
    if not paths:
        return paths
    return _stepped(transformation, paths) if len(paths) < _MANY_PATHS else _often_stepped(transformation, paths)


def _stepped(transformation: Step, paths: Paths) -> Paths:
    after = _after(transformation)
    if len(paths) == 1:
        ((origin, inner),) = paths
        return frozenset(((origin, after[inner]),))
    return frozenset([(origin, after[inner]) for origin, inner in paths])


def described(text: str, paths: Paths) -> Paths:
    """The paths with the text of the expression that their origins are in; those of a wide function stay equal."""
    if len(paths) == 1:
        ((origin, how),) = paths
        if isinstance(origin, FunctionInput):
            return paths
        return frozenset(((origin, Transformation(how.subtype, how.masking, how.opaque, text, how.guess)),))
    functions = frozenset([path for path in paths if isinstance(path[0], FunctionInput)])
    return union((step(Transformation(Subtype.IDENTITY, description=text), paths - functions), functions))


# Many columns may be computed of one wide value: one set for those that are computed alike.
_often_stepped = lru_cache(maxsize=8)(_stepped)


def struct(names: tuple[str, ...], fields: tuple[Trace, ...], whole: Paths = NOTHING) -> Trace:
    """A struct of traces; one of too many leaves is taken as a whole."""
    return _bounded(Struct(names, fields, whole, *_size(fields)))


def elements(
    keys: tuple[Hashable, ...] | None,
    values: tuple[Trace, ...],
    whole: Paths = NOTHING,
    extent: Paths = NOTHING,
    labels: Paths | None = None,
) -> Trace:
    """An array or a map; of one with too many elements it is not known which is which."""
    if keys is None or len(keys) > _MOST_ELEMENTS:
        keys, values = None, (merge(values),)
    return _bounded(Elements(keys, values, whole, extent, labels, NOTHING, *_size(values)))


def ordered(array: Trace, order: Trace) -> Trace:
    """An array with what decides which of its elements stands where."""
    if not isinstance(array, Elements) or len(flat(order)) > _MOST_LEAVES:
        return decided(array, flat(order))
    return replace(array, order=merge((array.order, order)))


def _size(traces: tuple[Trace, ...]) -> tuple[int, int]:
    """The leaves of traces, and how many levels of structs they make."""
    packed = [trace for trace in traces if not isinstance(trace, frozenset)]
    leaves = len(traces) - len(packed) + sum(trace.leaves for trace in packed)
    return leaves, 1 + max((trace.levels for trace in packed), default=0)


def _bounded(trace: Struct | Elements) -> Trace:
    return flat(trace) if trace.leaves > _MOST_LEAVES or trace.levels > _MOST_LEVELS else trace


def flat(trace: Trace) -> Paths:
    """The paths of a trace; to pack leaves transforms them."""
    if isinstance(trace, frozenset):
        return trace
    if isinstance(trace, Struct):
        return union((step(TRANSFORMED, union(map(flat, trace.fields))), trace.whole))
    packed = union((*map(flat, trace.values), trace.labels or NOTHING))
    return union((step(TRANSFORMED, packed), trace.whole, trace.extent, flat(trace.order)))


def shaped(transformation: Step, trace: Trace) -> Trace:
    """The trace with one more step for each of its leaves, nearer to the output."""
    if isinstance(trace, frozenset):
        return _later(trace, Part("shaped", transformation), transformation)
    whole = _later(trace.whole, Part("shaped", transformation), transformation)
    if isinstance(trace, Struct):
        return replace(trace, fields=tuple(shaped(transformation, one) for one in trace.fields), whole=whole)
    values = tuple(shaped(transformation, one) for one in trace.values)
    extent, labels = step(transformation, trace.extent), trace.labels and step(transformation, trace.labels)
    order = shaped(transformation, trace.order)
    return replace(trace, values=values, whole=whole, extent=extent, labels=labels, order=order)


def decided(trace: Trace, by: Paths) -> Trace:
    """The trace with paths that count for all of it."""
    if not by:
        return trace
    return union((trace, by)) if isinstance(trace, frozenset) else replace(trace, whole=union((trace.whole, by)))


def union(many: Iterable[Paths]) -> Paths:
    """All the paths of ``many``; one non-empty set is returned as it is."""
    sets = [paths for paths in many if paths]
    if len(sets) < 2:
        return sets[0] if sets else NOTHING
    return sets[0].union(*sets[1:])


def merge(traces: Iterable[Trace]) -> Trace:
    """The trace of a column that has one of several values; those of equal shape keep it, fields go by position."""
    found = [trace for trace in traces if trace]
    if len(found) < 2 or all(trace is found[0] for trace in found):
        return found[0] if found else NOTHING
    plain = union(trace for trace in found if isinstance(trace, frozenset))
    structs = [trace for trace in found if isinstance(trace, Struct)]
    lists = [trace for trace in found if isinstance(trace, Elements)]
    if structs and not lists and len({len(trace.fields) for trace in structs}) == 1:
        fields = tuple(map(merge, zip(*(trace.fields for trace in structs), strict=True)))
        return struct(structs[0].names, fields, union((plain, *(trace.whole for trace in structs))))
    if lists and not structs and len({trace.labels is None for trace in lists}) == 1:
        return _either(lists, plain)
    return union(map(flat, found))


def _either(lists: list[Elements], plain: Paths) -> Trace:
    whole, extent = union((plain, *(one.whole for one in lists))), union(one.extent for one in lists)
    labels = None if lists[0].labels is None else union(one.labels or NOTHING for one in lists)
    order = merge(one.order for one in lists)
    if len({one.keys for one in lists}) == 1:
        values = tuple(map(merge, zip(*(one.values for one in lists), strict=True)))
        return ordered(elements(lists[0].keys, values, whole, extent, labels), order)
    values = tuple(value for one in lists for value in one.values)
    return ordered(elements(None, values, whole, extent, labels), order)


def part(trace: Trace, which: Part) -> Trace:
    """A part of a packed value; what is no such value is taken as a whole."""
    if isinstance(which.key, Transformation):
        return shaped(which.key, trace)
    if which.kind == "updated" and isinstance(which.key, tuple):
        return updated(trace, which.key)
    if isinstance(trace, frozenset):
        return _later(_may_be_sorted(trace) if which == ORDER else trace, which, TRANSFORMED)
    if isinstance(trace, Struct) and (place := _place(trace, which.key)) is not None:
        return decided(trace.fields[place], _later(trace.whole, which, TRANSFORMED))
    if isinstance(trace, Elements) and which.kind in _PARTS:
        return _PARTS[which.kind](trace, which.key)
    return step(TRANSFORMED, trace)


def _place(packed: Struct, key: Hashable) -> int | None:
    """The place of a field by its number, or by its name where one field alone has it; None where it has none."""
    if isinstance(key, int):
        return key if 0 <= key < len(packed.fields) else None
    names, wanted = packed.names, str(key)
    same = [place for place, name in enumerate(names) if name == wanted]
    places = same or [place for place, name in enumerate(names) if name.lower() == wanted.lower()]
    return places[0] if len(places) == 1 else None


def _field(packed: Elements, key: Hashable) -> Trace:
    """That field of every element."""
    which = Part("field", key)
    values, order = tuple(part(one, which) for one in packed.values), part(packed.order, which)
    return ordered(elements(packed.keys, values, packed.whole, packed.extent), order)


Changes = tuple[tuple[str, "Trace | None"], ...]
"""The fields of a struct that are set, with their traces, and those that are dropped, with None."""


def updated(trace: Trace, changes: Changes) -> Trace:
    """A struct after changes to its fields, whose names have no case; what is no such value is taken as a whole."""
    if isinstance(trace, Struct) and len({name.lower() for name in trace.names}) == len(trace.names):
        fields = dict(zip(trace.names, trace.fields, strict=True))
        for name, value in changes:
            known = next((one for one in fields if one.lower() == name.lower()), name)
            fields[known] = value or NOTHING
            if value is None:
                del fields[known]
        return struct(tuple(fields), tuple(fields.values()), trace.whole)
    paths = flat(trace)
    holes = [hole for hole in unchanged_placeholders(paths) if len(hole.parts) < _MOST_LEVELS]
    later = (source(replace(hole, parts=(*hole.parts, Part("updated", changes)))) for hole in holes)
    rest = frozenset(path for path in paths if path[0] not in holes or path[1] != SAME)
    if rest or not holes:
        return union((*later, step(TRANSFORMED, union((rest, *(flat(value) for _, value in changes if value))))))
    return union(later)


def _later(paths: Paths, which: Part, otherwise: Step) -> Paths:
    """The part of what placeholders stand for that arrive unchanged; of all other paths one more step."""
    holes = unchanged_placeholders(paths)
    if not holes:
        return step(otherwise, paths)
    parts = (source(replace(hole, parts=(*hole.parts, which))) for hole in holes if len(hole.parts) < _MOST_LEVELS)
    rest = (path for path in paths if path[0] not in holes or path[1] != SAME or len(path[0].parts) >= _MOST_LEVELS)
    return union((*parts, step(otherwise, frozenset(rest))))


def unchanged_placeholders(paths: Paths) -> list[Placeholder]:
    """The placeholders among the paths whose values arrive unchanged."""
    return [origin for origin, how in paths if isinstance(origin, Placeholder) and how == SAME]


def _may_be_sorted(paths: Paths) -> Paths:
    """Those of what is not known yet: a column's order is part of its value."""
    return frozenset(path for path in paths if isinstance(path[0], Placeholder))


def _each(packed: Elements, _: Hashable) -> Trace:
    return decided(merge(packed.values), _later(packed.whole, EACH, TRANSFORMED))


def _item(packed: Elements, key: Hashable) -> Trace:
    """The element of a literal key, all where that is None; a negative index counts from the end."""
    values = packed.values
    if key is not None and packed.keys is not None:
        wanted = key + len(values) if isinstance(key, int) and key < 0 and packed.labels is None else key
        values = tuple(value for known, value in zip(packed.keys, values, strict=True) if known == wanted)
    decisive = step(TRANSFORMED, union((packed.extent, packed.labels or NOTHING)))
    whole = _later(packed.whole, Part("item", key), TRANSFORMED)
    return decided(merge((*values, packed.order)), union((whole, decisive)))


def _label(packed: Elements, _: Hashable) -> Trace:
    return union((step(TRANSFORMED, packed.labels or NOTHING), _later(packed.whole, LABEL, TRANSFORMED)))


def _extent(packed: Elements, _: Hashable) -> Trace:
    return union((step(TRANSFORMED, packed.extent), _later(packed.whole, EXTENT, TRANSFORMED)))


def _order(packed: Elements, _: Hashable) -> Trace:
    return decided(packed.order, _later(packed.whole, ORDER, TRANSFORMED))


_PARTS: dict[str, Callable[[Elements, Hashable], Trace]] = {
    "each": _each,
    "extent": _extent,
    "field": _field,
    "item": _item,
    "label": _label,
    "order": _order,
}
