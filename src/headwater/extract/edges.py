"""From traces to column lineage."""

from collections.abc import Iterable
from typing import TypeGuard

from headwater.extract.trace import UNSEEN_ROWS, Path, Paths
from headwater.model import ColumnLineage, Dependency, InputField, Transformation


def lineage(names: Iterable[str], traces: Iterable[Paths], deciding: Paths) -> ColumnLineage:
    """Column lineage of columns with those names; sources that are no dataset's field are left out.

    A query may give several columns one name: that name then has the edges of all of them.
    """
    fields: dict[str, frozenset[Dependency]] = {}
    # Columns that one function fills share one set of paths, and so share one of edges.
    shared: dict[Paths, frozenset[Dependency]] = {}
    known: dict[Path, Dependency] = {}
    for name, paths in zip(names, traces, strict=True):
        if paths not in shared:
            shared[paths] = _dependencies(paths, known)
        found = shared[paths]
        fields[name] = fields[name] | found if name in fields else found
    return ColumnLineage(fields, _uncovered(_dependencies(deciding, known), fields.values()))


def _uncovered(deciding: frozenset[Dependency], fields: Iterable[frozenset[Dependency]]) -> frozenset[Dependency]:
    """Without the rows that an opaque function chose, where other edges from the same input cover every field."""
    unseen = frozenset(edge for edge in deciding if edge.transformation.description == UNSEEN_ROWS.description)
    if not unseen:
        return deciding
    told = frozenset(edge.input for edge in deciding - unseen)
    on_fields = [frozenset(edge.input for edge in edges) for edges in dict.fromkeys(fields)]
    told = told.union(frozenset.intersection(*on_fields)) if on_fields else told
    return deciding - frozenset(edge for edge in unseen if edge.input in told)


def _dependencies(paths: Paths, known: dict[Path, Dependency]) -> frozenset[Dependency]:
    """The edges of paths; those of equal paths are one object, for wide functions have very many."""
    return frozenset([known.get(path) or known.setdefault(path, Dependency(*path)) for path in paths if _ends(path)])


def _ends(path: Path) -> TypeGuard[tuple[InputField, Transformation]]:
    return isinstance(path[0], InputField)
