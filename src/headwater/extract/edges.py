"""From traces to column lineage."""

from collections.abc import Iterable

from headwater.extract.trace import Paths
from headwater.model import ColumnLineage, Dependency, InputField


def lineage(names: Iterable[str], traces: Iterable[Paths], deciding: Paths) -> ColumnLineage:
    """Column lineage of columns with those names; sources that are no dataset's field are left out.

    A query may give several columns one name: that name then has the edges of all of them.
    """
    fields: dict[str, frozenset[Dependency]] = {}
    for name, paths in zip(names, traces, strict=True):
        found = _dependencies(paths)
        fields[name] = fields[name] | found if name in fields else found
    return ColumnLineage(fields, _dependencies(deciding))


def _dependencies(paths: Paths) -> frozenset[Dependency]:
    return frozenset([Dependency(origin, how) for origin, how in paths if isinstance(origin, InputField)])
