"""Placeholders of traces replaced by what they stand for, once that is known."""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from headwater.extract.trace import (
    NOTHING,
    SAME,
    Part,
    Path,
    Paths,
    Placeholder,
    Struct,
    Trace,
    elements,
    flat,
    merge,
    ordered,
    part,
    source,
    step,
    struct,
    unchanged_placeholders,
    union,
)


def substitute(trace: Trace, lookup: Callable[[Placeholder], Trace | None]) -> Trace:
    """The trace with every placeholder that ``lookup`` knows replaced by what it stands for."""
    if isinstance(trace, frozenset):
        return _substitute_values(trace, lookup)
    whole = _substitute_values(trace.whole, lookup)
    if isinstance(trace, Struct):
        return merge((struct(trace.names, tuple(substitute(one, lookup) for one in trace.fields)), whole))
    values = tuple(substitute(one, lookup) for one in trace.values)
    labels = None if trace.labels is None else substitute_paths(trace.labels, lookup)
    extent, order = substitute_paths(trace.extent, lookup), substitute(trace.order, lookup)
    return merge((ordered(elements(trace.keys, values, NOTHING, extent, labels), order), whole))


def _substitute_values(paths: Paths, lookup: Callable[[Placeholder], Trace | None]) -> Trace:
    """Like substitute_paths(), but what arrives unchanged keeps its leaves, for all of which the other paths count."""
    found = {hole: trace for hole in unchanged_placeholders(paths) if (trace := _found(hole, lookup)) is not None}
    if not found:
        return substitute_paths(paths, lookup)
    rest = frozenset((origin, how) for origin, how in paths if origin not in found or how != SAME)
    return merge((*found.values(), substitute_paths(rest, lookup)))


def _found(hole: Placeholder, lookup: Callable[[Placeholder], Trace | None]) -> Trace | None:
    parts, found = tuple([_substitute_changes(one, lookup) for one in hole.parts]), lookup(hole)
    if found is None:
        return None if parts == hole.parts else source(replace(hole, parts=parts))
    return reduce(part, parts, found)


def _substitute_changes(which: Part, lookup: Callable[[Placeholder], Trace | None]) -> Part:
    if which.kind == "updated" and isinstance(which.key, tuple):
        return Part("updated", tuple((name, value and substitute(value, lookup)) for name, value in which.key))
    return which


def substitute_paths(paths: Paths, lookup: Callable[[Placeholder], Trace | None]) -> Paths:
    """Like substitute(), for plain paths."""
    if not any(isinstance(origin, Placeholder) for origin, _ in paths):
        return paths
    return union(_replace(path, lookup) for path in paths)


def _replace(path: Path, lookup: Callable[[Placeholder], Trace | None]) -> Paths:
    origin, transformation = path
    found = _found(origin, lookup) if isinstance(origin, Placeholder) else None
    return frozenset({path}) if found is None else step(transformation, found)


def has_outer(trace: Trace) -> bool:
    """True when a correlated reference is among the sources."""
    return any(isinstance(origin, Placeholder) and origin.kind == "outer" for origin, _ in flat(trace))
