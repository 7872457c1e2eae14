"""headwater's DIRECT edges beside what sqlglot finds, column by column.

sqlglot's lineage says from which columns of tables a column is made, and not how: a tested column of a CASE
and a partition key of a window are sources like any other.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from sqlglot import exp
from sqlglot.lineage import Node, lineage
from tests.tpc.queries import SUITES, Query, queries, tables
from tests.tpc.recordings import recorded

from headwater.model import ColumnLineage, Dependency, InputField

Source = tuple[str, str]
"""A table and a column of it."""


@dataclass(frozen=True, slots=True)
class Difference:
    """An input column that only one of the two calls a source of ``column``, and what headwater says of it."""

    query: Query
    column: str
    source: Source
    ours: str
    theirs: str

    @property
    def kind(self) -> str:
        """Differences of one kind have one explanation: headwater's subtypes, or ``dataset`` with any of them."""
        return "dataset" if self.ours.startswith("dataset") else self.ours


@dataclass(frozen=True, slots=True)
class Comparison:
    """One output column: its sources by either side."""

    query: Query
    column: str
    ours: frozenset[Source]
    theirs: frozenset[Source]


@cache
def comparisons() -> tuple[Comparison, ...]:
    """Every output column of every query of both suites."""
    return tuple(found for suite in SUITES for query in queries(suite) for found in _compared(query))


@cache
def differences() -> tuple[Difference, ...]:
    """Every source that only one side names."""
    return tuple(found for comparison in comparisons() for found in _differences(comparison))


def source(field: InputField) -> Source:
    """The table and the column of an input field, in lower case; the database and its folder left out."""
    return field.dataset.name.rpartition("/")[2].lower(), field.name.lower()


def sqlglot_sources(query: Query) -> dict[str, frozenset[Source]]:
    """The columns of tables that sqlglot finds for each output column of a query, in order."""
    # Trimming the unused columns of each step takes two thirds of the time and does not change the leaves.
    found = lineage(None, query.text, dict(tables(query.suite)), dialect="spark", trim_selects=False)
    return {column: frozenset(_leaves(node)) for column, node in found.items()}


def _compared(query: Query) -> Iterator[Comparison]:
    fields = recorded(query.suite)[query.number][0].fields
    pairs = zip(fields.items(), sqlglot_sources(query).values(), strict=True)
    for (column, edges), theirs in pairs:
        ours = frozenset(source(edge.input) for edge in edges if edge.transformation.direct)
        yield Comparison(query, column, ours, theirs)


def _differences(comparison: Comparison) -> Iterator[Difference]:
    query, column = comparison.query, comparison.column
    found = recorded(query.suite)[query.number][0]
    for extra in sorted(comparison.theirs - comparison.ours):
        yield Difference(query, column, extra, _subtypes_of(found, column, extra), "source")
    for extra in sorted(comparison.ours - comparison.theirs):
        yield Difference(query, column, extra, "DIRECT", "nothing")


def _subtypes_of(found: ColumnLineage, column: str, wanted: Source) -> str:
    """The subtypes of headwater's edges from a source: those on the column, else those on the dataset."""
    on_column = _subtypes(found.fields[column], wanted)
    on_dataset = _subtypes(found.dataset, wanted)
    return ", ".join(on_column) or (f"dataset {', '.join(on_dataset)}" if on_dataset else "nothing")


def _subtypes(edges: Iterable[Dependency], wanted: Source) -> list[str]:
    return sorted({edge.transformation.subtype.value for edge in edges if source(edge.input) == wanted})


def _leaves(root: Node) -> Iterator[Source]:
    """The tables' columns below a node; steps are shared, so each is visited once."""
    stack, seen = [root], {id(root)}
    while stack:
        node = stack.pop()
        if isinstance(node.source, exp.Table):
            yield node.source.name.lower(), node.name.rpartition(".")[2].lower()
        fresh = [below for below in node.downstream if id(below) not in seen]
        seen.update(map(id, fresh))
        stack.extend(fresh)
