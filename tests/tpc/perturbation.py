"""Change the values of an input column, run the query again, and see which output columns change.

If the values of x can change y, there is an edge from x that covers y: on the column, or on the whole dataset. DuckDB
runs the queries, on generated rows. What an edge on the dataset covers needs no experiment, so only columns without
one are changed: there a wrong or missing edge on a column shows.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from tests.tpc.comparison import Source, source
from tests.tpc.queries import Query, database, tables

from headwater.model import ColumnLineage

SCALE = 0.01
CHANGES = {
    "STRING": ("reverse({0}) || '~'",),
    "DATE": ("{0} + 1",),
    "DOUBLE": ("{0} + 1 + rowid % 3",),
}
NUMBER = ("CAST({0} + 1 + rowid % 3 AS {1})",)
ALWAYS = ("CASE WHEN hash(rowid) % 2 = 0 THEN {0} END",)

Columns = tuple[tuple[str, ...], ...]
"""The values of each output column, as sorted texts: a result without the order of its rows."""


@dataclass(frozen=True, slots=True)
class Effect:
    """Changing ``source`` by ``change`` changed these output columns, counted from 0."""

    query: Query
    source: Source
    change: str
    outputs: frozenset[int]


@dataclass(frozen=True, slots=True)
class Experiment:
    """A query as it is run; ``text`` has fewer filters than the original where that has no rows to show."""

    query: Query
    text: str
    columns: Columns

    @property
    def empty(self) -> bool:
        """True when no change could be seen in it: no rows, or only NULLs."""
        return all(set(values) <= {"None"} for values in self.columns)


def experiment(query: Query) -> Experiment:
    """The query without its last LIMIT; without filters on constants too, where it would be empty with them."""
    tree = sqlglot.parse_one(query.original, read="duckdb")
    tree.set("limit", None)
    found = _tried(query, tree)
    return _tried(query, _relaxed(tree)) if found.empty else found


def uncovered(query: Query, lineage: ColumnLineage) -> tuple[Source, ...]:
    """The columns that a query names and no edge on the dataset covers."""
    covered = {source(edge.input) for edge in lineage.dataset}
    named = [(table, column) for table, columns in tables(query.suite).items() for column in columns]
    return tuple(each for each in named if each not in covered and all(_is_in(query, word) for word in each))


def effects(tried: Experiment, wanted: Source) -> Iterator[Effect]:
    """What changing a column does, each way in turn."""
    table, column = wanted
    kind = tables(tried.query.suite)[table][column]
    for change in (*CHANGES.get(kind, NUMBER), *ALWAYS):
        value = change.format(column, kind)
        found = _run(
            tried.query.suite, tried.text, f"{table} AS SELECT * REPLACE ({value} AS {column}) FROM main.{table}"
        )
        pairs = enumerate(zip(tried.columns, found, strict=True))
        yield Effect(
            tried.query, wanted, value, frozenset(place for place, (before, after) in pairs if before != after)
        )


def allowed(lineage: ColumnLineage, wanted: Source) -> frozenset[int]:
    """The output columns, counted from 0, that have an edge from a column."""
    edges = enumerate(lineage.fields.values())
    return frozenset(place for place, found in edges if any(source(edge.input) == wanted for edge in found))


def _tried(query: Query, tree: exp.Expr) -> Experiment:
    text = tree.sql("duckdb")
    return Experiment(query, text, _run(query.suite, text))


def _run(suite: str, text: str, changed: str = "") -> Columns:
    """The result of a query, with a view in the place of one table where ``changed`` says which."""
    connection = database(suite, SCALE)
    connection.execute("DROP SCHEMA IF EXISTS changed CASCADE; CREATE SCHEMA changed")
    connection.execute("SET search_path = 'changed,main'; SET threads = 1")
    if changed:
        connection.execute(f"CREATE VIEW changed.{changed}")
    cursor = connection.execute(text)
    rows = cursor.fetchall()
    width = len(cursor.description or ())
    return tuple(tuple(sorted(_shown(row[place]) for row in rows)) for place in range(width))


def _shown(value: object) -> str:
    """A value as text; of a double only the digits that do not depend on the order of adding up."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _is_in(query: Query, word: str) -> bool:
    return re.search(rf"\b{word}\b", query.original, re.IGNORECASE) is not None


def _relaxed(tree: exp.Expr) -> exp.Expr:
    """The query without HAVING and without the conjuncts that look at one column only."""
    for having in list(tree.find_all(exp.Having)):
        having.pop()
    for where in list(tree.find_all(exp.Where)):
        parts = where.this.flatten() if isinstance(where.this, exp.And) else (where.this,)
        kept = [part for part in parts if not _on_one_column(part)]
        where.replace(exp.Where(this=exp.and_(*kept))) if kept else where.pop()
    return tree


def _on_one_column(part: exp.Expr) -> bool:
    return len({column.sql() for column in part.find_all(exp.Column)}) < 2 and part.find(exp.Query) is None
