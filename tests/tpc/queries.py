"""The queries and tables of TPC-DS and TPC-H, from DuckDB's extensions, in Spark's words.

The texts are not kept here: DuckDB has them, sqlglot translates them, ``PATCHES`` mends what it leaves wrong.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import duckdb
import sqlglot

EXTENSIONS = {"tpcds": "CALL dsdgen(sf={scale})", "tpch": "CALL dbgen(sf={scale})"}
SUITES = tuple(EXTENSIONS)
NUMBERED = [(suite, number) for suite, last in (("tpcds", 99), ("tpch", 22)) for number in range(1, last + 1)]
TYPES = {"VARCHAR": "STRING", "INTEGER": "INT"}
PATCHES: Mapping[tuple[str, int], tuple[tuple[str, str], ...]] = {}


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a suite: its number there, DuckDB's text and Spark's."""

    suite: str
    number: int
    original: str
    text: str

    def __str__(self) -> str:
        return f"{self.suite} q{self.number}"


@cache
def queries(suite: str) -> tuple[Query, ...]:
    """The queries of ``tpcds`` (99) or ``tpch`` (22), in order."""
    found = database(suite).execute(f"SELECT query_nr, query FROM {suite}_queries() ORDER BY 1").fetchall()
    return tuple(Query(suite, number, text, _translated(suite, number, text)) for number, text in found)


def query(suite: str, number: int) -> Query:
    """One query of a suite by its number there, which counts from 1."""
    return queries(suite)[number - 1]


@cache
def tables(suite: str) -> Mapping[str, Mapping[str, str]]:
    """The tables of a suite: the columns of each, in order, with Spark's names of their types."""
    names = [name for (name,) in database(suite).execute("SHOW TABLES").fetchall()]
    return {name: dict(_columns(suite, name)) for name in names}


@cache
def database(suite: str, scale: float = 0) -> duckdb.DuckDBPyConnection:
    """A database in memory with the tables of a suite; without rows at scale 0."""
    connection = duckdb.connect()
    connection.execute(f"LOAD {suite}")
    connection.execute(EXTENSIONS[suite].format(scale=scale))
    return connection


def _columns(suite: str, table: str) -> Iterator[tuple[str, str]]:
    for name, kind, *_ in database(suite).execute(f"DESCRIBE {table}").fetchall():
        yield name, TYPES.get(kind, kind)


def _translated(suite: str, number: int, text: str) -> str:
    (found,) = sqlglot.transpile(text, read="duckdb", write="spark", pretty=True)
    for wrong, right in PATCHES.get((suite, number), ()):
        if wrong not in found:
            raise ValueError(f"The patch of {suite} q{number} looks for {wrong!r}, which is not in the query: drop it.")
        found = found.replace(wrong, right)
    return found
