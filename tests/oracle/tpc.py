"""The TPC-DS and TPC-H queries as experiments: DuckDB runs them on generated rows.

A column that an edge on the dataset covers needs no experiment and the rows are many, so only the others are changed.
"""

import re
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from tests.oracle.judging import ORDER, Result, source_of
from tests.oracle.rows import Source
from tests.tpc.queries import Query, database, tables

from headwater.model import ColumnLineage

SCALE = 0.01
OTHER = {"STRING": "reverse({0}) || '~'", "DATE": "{0} + 1", "DOUBLE": "{0} + 1 + rowid % 3"}
NUMBER = "CAST({0} + 1 + rowid % 3 AS {1})"
NULLS = "CASE WHEN hash(rowid) % 2 = 0 THEN {0} END"


@dataclass(frozen=True, slots=True)
class TpcExperiment:
    """A query as it is run; ``text`` has fewer filters than the original where that has no rows to show."""

    query: Query
    text: str
    lineage: ColumnLineage
    changes: tuple[str, ...] = ("other values", "every other value NULL")
    databases: int = 0

    @property
    def sources(self) -> tuple[Source, ...]:
        """The columns that the query names and no edge on the dataset covers."""
        covered = {source_of(edge.input) for edge in self.lineage.dataset}
        named = ((table, column) for table, columns in tables(self.query.suite).items() for column in columns)
        return tuple(each for each in named if each not in covered and all(map(self._names, each)))

    def result(self, changed: Collection[Source] = (), change: str = "") -> Result:
        """The result when ``change`` is made to these columns; the order of rows is left as it is."""
        views = (
            () if change == ORDER else (self._view(table, changed, change) for table in {table for table, _ in changed})
        )
        return _run(self.query.suite, self.text, tuple(views))

    def scattered(self, number: int) -> AbstractContextManager[None]:
        """The one database."""
        return nullcontext()

    def _view(self, table: str, changed: Collection[Source], change: str) -> str:
        kinds = tables(self.query.suite)[table]
        values = []
        for column in (column for own, column in changed if own == table):
            form = NULLS if change == "every other value NULL" else OTHER.get(kinds[column], NUMBER)
            values.append(f"{form.format(column, kinds[column])} AS {column}")
        return f"{table} AS SELECT * REPLACE ({', '.join(values)}) FROM main.{table}"

    def _names(self, word: str) -> bool:
        return re.search(rf"\b{word}\b", self.query.original, re.IGNORECASE) is not None


def experiment(query: Query, lineage: ColumnLineage) -> TpcExperiment:
    """The query without its last LIMIT; without filters on constants too, where it would be empty with them."""
    tree = sqlglot.parse_one(query.original, read="duckdb")
    tree.set("limit", None)
    found = TpcExperiment(query, tree.sql("duckdb"), lineage)
    if all(set(row) <= {"None"} for row in found.result().rows):
        return TpcExperiment(query, _relaxed(tree).sql("duckdb"), lineage)
    return found


def _run(suite: str, text: str, views: tuple[str, ...]) -> Result:
    """The result of a query, with these views in the place of tables."""
    connection = database(suite, SCALE)
    connection.execute("DROP SCHEMA IF EXISTS changed CASCADE; CREATE SCHEMA changed")
    connection.execute("SET search_path = 'changed,main'; SET threads = 1")
    for view in views:
        connection.execute(f"CREATE VIEW changed.{view}")
    cursor = connection.execute(text)
    names = tuple(column[0] for column in cursor.description or ())
    return Result(names, tuple(tuple(map(_shown, row)) for row in cursor.fetchall()))


def _shown(value: object) -> str:
    """A value as text; of a double only the digits that do not depend on the order of adding up."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _relaxed(tree: exp.Expr) -> exp.Expr:
    """The query without HAVING and without the conjuncts that look at one column only."""
    for having in list(tree.find_all(exp.Having)):
        having.pop()
    for where in list(tree.find_all(exp.Where)):
        parts = where.this.flatten() if isinstance(where.this, exp.And) else (where.this,)
        others = [part for part in parts if not _on_one_column(part)]
        where.replace(exp.Where(this=exp.and_(*others))) if others else where.pop()
    return tree


def _on_one_column(part: exp.Expr) -> bool:
    return len({column.sql() for column in part.find_all(exp.Column)}) < 2 and part.find(exp.Query) is None
