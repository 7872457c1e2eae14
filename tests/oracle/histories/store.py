"""The lineage of what a history has written, as the store's roots have it."""

from collections.abc import Iterator
from pathlib import Path

from tests.oracle.rows import TABLES

from headwater.model import ColumnLineage, Dependency, InputField
from headwater.store import Store
from headwater.store.questions import ExactName, Root, roots_of


def lineage_in(store: Store, folder: Path, names: tuple[str, ...]) -> ColumnLineage:
    """All roots of the columns ``names`` of ``out``; what acts on the rows of each of them acts on the dataset.

    A literal has no roots, and changes with the rows alone: where there is one, a source of every other column counts
    as acting on the rows, since the way from it may begin with rows and go on with a value.

    Raises:
        LookupError: every column is a literal.
    """
    roots = {name: roots_of(store, ExactName("file", f"{folder}/out", name)).roots for name in names}
    fields = {name: frozenset(_dependencies(found, rows=False)) for name, found in roots.items()}
    of_rows = [frozenset(_dependencies(roots[name], rows=True)) for name, found in fields.items() if found]
    if not of_rows:
        raise LookupError("every column is a literal; roots are of columns, none of them says what decides on rows")
    on_all = frozenset.intersection(*of_rows)
    if len(of_rows) < len(fields):
        found = [edges for edges in fields.values() if edges]
        shared = frozenset.intersection(*(frozenset(edge.input for edge in edges) for edges in found))
        on_all |= {edge for edges in found for edge in edges if edge.input in shared}
    return ColumnLineage(fields, on_all)


def _dependencies(roots: tuple[Root, ...], rows: bool) -> Iterator[Dependency]:
    for root in roots:
        source = InputField(root.column.dataset.dataset, root.column.name)
        if source.dataset.name.rpartition("/")[2] in TABLES:
            found = (
                Dependency(source, each.transformation)
                for each in root.transformations
                if each.whole_dataset or not rows
            )
            yield from found
