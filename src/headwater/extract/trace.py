"""Where the value of one column comes from, at one place in a plan.

A trace is a set of paths (source, transformation), or a struct of traces, so that a leaf
packed into a struct can be taken out again unchanged.
A source is an input field, or a placeholder for a column that only an outer scope knows:
an outer reference of a correlated subquery, a column of the recursion it stands in, a common expression.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

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


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A column of another scope: ``kind`` is ``outer``, ``loop`` or ``common``."""

    kind: str
    id: int
    position: int = 0


Path = tuple[InputField | Placeholder, Transformation]
Paths = frozenset[Path]


@dataclass(frozen=True, slots=True)
class Struct:
    """The traces of a struct's fields, in order, with their names."""

    names: tuple[str, ...]
    fields: tuple["Trace", ...]


Trace = Paths | Struct

NOTHING: Paths = frozenset()


class _After(dict[Transformation, Transformation]):
    """What each transformation becomes with one more step, worked out once."""

    def __init__(self, outer: Transformation) -> None:
        super().__init__()
        self._outer = outer

    def __missing__(self, inner: Transformation) -> Transformation:
        self[inner] = compose(self._outer, inner)
        return self[inner]


@lru_cache(maxsize=1024)
def _after(outer: Transformation) -> _After:
    return _After(outer)


def source(field: InputField | Placeholder) -> Paths:
    """The trace of a column that is that field, unchanged."""
    return frozenset({(field, SAME)})


def step(transformation: Step, trace: Trace) -> Paths:
    """The paths of ``trace`` with one more step, nearer to the output."""
    paths = flat(trace)
    if not paths:
        return paths
    after = _after(transformation)
    return frozenset([(origin, after[inner]) for origin, inner in paths])


def flat(trace: Trace) -> Paths:
    """The paths of a trace; to pack leaves into a struct transforms them."""
    if isinstance(trace, frozenset):
        return trace
    return step(TRANSFORMED, union(flat(field) for field in trace.fields))


def union(many: Iterable[Paths]) -> Paths:
    """All the paths of ``many``; one non-empty set is returned as it is."""
    sets = [paths for paths in many if paths]
    if len(sets) < 2:
        return sets[0] if sets else NOTHING
    return sets[0].union(*sets[1:])


def merge(traces: Iterable[Trace]) -> Trace:
    """The trace of a column that has one of several values; structs of equal shape stay structs."""
    found = [trace for trace in traces if trace]
    if len(found) == 1:
        return found[0]
    structs = [trace for trace in found if isinstance(trace, Struct)]
    if structs and len(structs) == len(found) and len({trace.names for trace in structs}) == 1:
        return Struct(structs[0].names, tuple(map(merge, zip(*(trace.fields for trace in structs), strict=True))))
    return union(map(flat, found))


def substitute(trace: Trace, lookup: Callable[[Placeholder], Trace | None]) -> Trace:
    """The trace with every placeholder that ``lookup`` knows replaced by what it stands for."""
    if isinstance(trace, Struct):
        return Struct(trace.names, tuple(substitute(field, lookup) for field in trace.fields))
    if len(trace) == 1:
        ((origin, transformation),) = trace
        if transformation == SAME and isinstance(origin, Placeholder):
            found = lookup(origin)
            return trace if found is None else found
    return substitute_paths(trace, lookup)


def substitute_paths(paths: Paths, lookup: Callable[[Placeholder], Trace | None]) -> Paths:
    """Like substitute(), for plain paths."""
    if not any(isinstance(origin, Placeholder) for origin, _ in paths):
        return paths
    return union(_replace(path, lookup) for path in paths)


def _replace(path: Path, lookup: Callable[[Placeholder], Trace | None]) -> Paths:
    origin, transformation = path
    found = lookup(origin) if isinstance(origin, Placeholder) else None
    return frozenset({path}) if found is None else step(transformation, found)


def joined(paths: Paths) -> Paths:
    """The paths with comparisons with the query around them as the joins that they are."""
    rest = uncorrelated(paths)
    return rest | frozenset((origin, replace(how, description="")) for origin, how in paths - rest)


def uncorrelated(paths: Paths) -> Paths:
    """The paths without those of comparisons with the query around them."""
    return frozenset(path for path in paths if path[1].description != CORRELATED.description)


def has_outer(trace: Trace) -> bool:
    """True when a correlated reference is among the sources."""
    return any(isinstance(origin, Placeholder) and origin.kind == "outer" for origin, _ in flat(trace))
