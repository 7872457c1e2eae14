"""Lineage between fields within columns: a second extraction of a plan, in which nested columns are packed values.

The first takes a column as a whole, as the ``columnLineage`` facet does. In the second a column of a table that
is a struct, or holds some, begins as a packed value of its fields (`headwater.extract.trace`), so that the rules for
values that a query packs itself lead each field to where it goes. Elements of arrays have no name of their own; a map
has the parts ``key`` and ``value``.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache

from headwater.extract.edges import uncovered
from headwater.extract.scope import Attribute
from headwater.extract.trace import (
    NOTHING,
    Elements,
    Paths,
    Struct,
    Trace,
    elements,
    expanded,
    flat,
    source,
    struct,
    union,
)
from headwater.model import (
    ColumnLineage,
    Dataset,
    Dependency,
    InputField,
    NestedDependency,
    NestedField,
    Output,
    Statement,
    Transformation,
    names_nested,
)
from headwater.model.nested_fields import nested_fields

_MOST_FIELDS = 2_000
_MOST_EDGES = 20_000
_Names = tuple[str, ...]


def has_nested(statement: Statement) -> bool:
    """Whether a statement reads or writes a column with fields within."""
    seen = (*statement.inputs, *(output.description for output in statement.outputs))
    return any(_is_nested(field.type) for one in dict.fromkeys(seen) for field in one.schema)


def with_nested(statement: Statement, second: Statement) -> Statement:
    """A statement with the edges between fields that a second look at its plan found, where any name such a field."""
    outputs = tuple(map(_with_nested, statement.outputs, second.outputs))
    return replace(statement, outputs=outputs)


def _with_nested(output: Output, second: Output) -> Output:
    edges = (*second.lineage.fields.values(), second.lineage.dataset)
    same = output.description.dataset == second.description.dataset
    if not same or sum(map(len, edges)) > _MOST_EDGES or not any(map(names_nested, edges)):
        return output
    return replace(output, nested=second.lineage)


@lru_cache(maxsize=4096)
def packed_column(dataset: Dataset, name: str, kind: str) -> Trace:
    """The trace of a column of a table as what it is made of; ``kind`` is its type as Spark's catalog writes it."""
    fields = fields_within(kind)
    if not fields or len(fields) > _MOST_FIELDS:
        return source(InputField(dataset, name))
    return _packed(InputField(dataset, name), kind, ())


def _packed(column: InputField, kind: str, path: _Names) -> Trace:
    here, parts = source(NestedField(column.dataset, column.name, path)), _parts(kind)
    if not parts:
        return here
    if kind.startswith("array"):
        return elements(None, (_packed(column, parts[0][1], path),), extent=here)
    values = tuple(_packed(column, of, (*path, name)) for name, of in parts)
    if kind.startswith("map"):
        return elements(None, values[1:], extent=here, labels=flat(values[0]))
    return struct(tuple(name for name, _ in parts), values)


@lru_cache(maxsize=4096)
def fields_within(kind: str) -> frozenset[_Names]:
    """The paths of the innermost fields within a type; none of a type without structs."""
    return frozenset(_innermost(kind, ())) if _is_nested(kind) else frozenset()


def _innermost(kind: str, path: _Names) -> Iterator[_Names]:
    parts = _parts(kind)
    if not parts:
        yield path
    for name, of in parts:
        yield from _innermost(of, path if kind.startswith("array") else (*path, name))


def _is_nested(kind: str) -> bool:
    return "struct<" in kind


def _parts(kind: str) -> list[tuple[str, str]]:
    """The names and types within a struct, or an array or map that holds structs."""
    return [(one.name, one.type) for one in nested_fields(kind) or ()] if _is_nested(kind) else []


def nested_lineage(columns: Iterable[tuple[str, Attribute, Trace]], deciding: Paths) -> ColumnLineage:
    """The lineage of output columns, each with its name, what it is and its trace: an edge leads to a field within."""
    fields: dict[str, frozenset[Dependency]] = {}
    for name, column, trace in columns:
        parts = _unpacked(trace, column.type, ())
        edges = frozenset(NestedDependency(*edge, path) for path, paths in parts for edge in _ends(paths))
        fields[name] = fields.get(name, frozenset()) | edges
    rows = frozenset(Dependency(*edge) for edge in _ends(deciding))
    return ColumnLineage(fields, uncovered(rows, fields.values()))


def _unpacked(trace: Trace, kind: str, path: _Names, around: Paths = NOTHING) -> Iterator[tuple[_Names, Paths]]:
    """The paths to each field within a value; ``around`` counts for all of them. What has no fields is one."""
    parts = _parts(kind)
    if isinstance(trace, Struct) and len(parts) == len(trace.fields):
        around = union((around, trace.whole))
        for (name, of), one in zip(parts, trace.fields, strict=True):
            yield from _unpacked(one, of, (*path, name), around)
    elif isinstance(trace, Elements) and parts:
        around = union((around, trace.whole, trace.extent, flat(trace.order)))
        if trace.labels is not None:
            yield (*path, "key"), union((around, trace.labels))
        within = path if trace.labels is None else (*path, "value")
        for value in trace.values:
            yield from _unpacked(value, parts[-1][1], within, around)
    else:
        yield path, union((flat(trace), around))


def _ends(paths: Paths) -> Iterator[tuple[InputField, Transformation]]:
    """The paths from fields of datasets, without arrays and maps whose elements are there too.

    Which elements there are says nothing of a field of each; what decides on rows by all of them does so as a whole.
    """
    plain: set[tuple[InputField, Transformation]] = set()
    nested: dict[tuple[Dataset, str], list[tuple[NestedField, Transformation]]] = defaultdict(list)
    for origin, how in expanded(paths):
        if isinstance(origin, NestedField):
            nested[origin.dataset, origin.name].append((origin, how))
        elif isinstance(origin, InputField):
            plain.add((origin, how))
    yield from plain
    for found in nested.values():
        inner = {one.path[:length] for one, how in found if how.direct for length in range(len(one.path))}
        outer = {(one.path, how) for one, how in found if not how.direct}
        for one, how in found:
            around = ((one.path[:length], how) for length in range(len(one.path)))
            if one.path not in inner if how.direct else outer.isdisjoint(around):
                yield one, how
