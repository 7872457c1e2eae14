"""From traces to column lineage."""

from collections.abc import Collection, Iterable, Set
from functools import cache
from typing import TypeGuard

from headwater.extract.trace import UNSEEN_ROWS, FunctionInput, Path, Paths, expanded
from headwater.model import ColumnLineage, Dependency, EdgesOfFunction, InputField, Transformation, parts


def lineage(names: Iterable[str], traces: Iterable[Paths], deciding: Paths) -> ColumnLineage:
    """Column lineage of columns with those names; sources that are no dataset's field are left out.

    A query may give several columns one name: that name then has the edges of all of them.
    """
    fields: dict[str, Set[Dependency]] = {}
    # Columns that one function fills share one set of paths, and so share one of edges.
    shared: dict[Paths, Set[Dependency]] = {}
    received: dict[Paths, frozenset[Dependency]] = {}
    known: dict[Path, Dependency] = {}
    for name, paths in zip(names, traces, strict=True):
        if paths not in shared:
            shared[paths] = _edges(paths, received, known)
        found = shared[paths]
        fields[name] = fields[name] | found if name in fields else found
    return ColumnLineage(fields, uncovered(_dependencies(expanded(deciding), known), fields.values()))


def _edges(
    paths: Paths, received: dict[Paths, frozenset[Dependency]], by_path: dict[Path, Dependency]
) -> Set[Dependency]:
    """The edges of a column; those of what functions receive are one set for all columns that have it."""
    functions = frozenset([path for path in paths if isinstance(path[0], FunctionInput)])
    if not functions:
        return _dependencies(paths, by_path)
    if functions not in received:
        received[functions] = _dependencies(expanded(functions), by_path)
    own = _dependencies(paths, by_path)
    return EdgesOfFunction(received[functions], own) if own else received[functions]


def uncovered(deciding: frozenset[Dependency], fields: Collection[Set[Dependency]]) -> frozenset[Dependency]:
    """Without the rows that an opaque function chose, where other edges from the same input cover every field."""
    unseen = frozenset(edge for edge in deciding if edge.transformation.description == UNSEEN_ROWS.description)
    if not unseen:
        return deciding
    bare = frozenset(edge.input for edge in unseen) - {edge.input for edge in deciding - unseen}

    @cache
    def left(edges: frozenset[Dependency]) -> frozenset[InputField]:
        return bare - {edge.input for edge in edges}

    each = [parts(edges) for edges in fields]
    uncovered = [left(first) - {edge.input for part in others for edge in part} for first, *others in each]
    needed = frozenset[InputField]().union(*uncovered) if each else bare
    return deciding - frozenset(edge for edge in unseen if edge.input not in needed)


def _dependencies(paths: Paths, by_path: dict[Path, Dependency]) -> frozenset[Dependency]:
    """The edges of paths; those of equal paths are one object, for wide functions have very many."""
    if len(paths) == 1:  # as most columns of a wide frame have
        return frozenset([Dependency(*path) for path in paths if _ends(path)])
    return frozenset(
        [by_path.get(path) or by_path.setdefault(path, Dependency(*path)) for path in paths if _ends(path)]
    )


def _ends(path: Path) -> TypeGuard[tuple[InputField, Transformation]]:
    return isinstance(path[0], InputField)
