"""From traces to column lineage."""

from collections.abc import Iterable

from headwater.extract.trace import UNSEEN_ROWS, Paths
from headwater.model import ColumnLineage, Dependency, InputField


def lineage(names: Iterable[str], traces: Iterable[Paths], deciding: Paths) -> ColumnLineage:
    """Column lineage of columns with those names; sources that are no dataset's field are left out.

    A query may give several columns one name: that name then has the edges of all of them.
    """
    fields: dict[str, frozenset[Dependency]] = {}
    # Columns that one function fills share one set of paths, and so share one of edges.
    shared: dict[Paths, frozenset[Dependency]] = {}
    for name, paths in zip(names, traces, strict=True):
        if paths not in shared:
            shared[paths] = _dependencies(paths)
        found = shared[paths]
        fields[name] = fields[name] | found if name in fields else found
    return ColumnLineage(fields, _untold(_dependencies(deciding), fields.values()))


def _untold(deciding: frozenset[Dependency], fields: Iterable[frozenset[Dependency]]) -> frozenset[Dependency]:
    """Without the rows that an opaque function chose, where other edges from the same input cover every field."""
    unseen = frozenset(edge for edge in deciding if edge.transformation.description == UNSEEN_ROWS.description)
    if not unseen:
        return deciding
    told = frozenset(edge.input for edge in deciding - unseen)
    on_fields = [frozenset(edge.input for edge in edges) for edges in dict.fromkeys(fields)]
    told = told.union(frozenset.intersection(*on_fields)) if on_fields else told
    return deciding - frozenset(edge for edge in unseen if edge.input in told)


def _dependencies(paths: Paths) -> frozenset[Dependency]:
    return frozenset([Dependency(origin, how) for origin, how in paths if isinstance(origin, InputField)])
