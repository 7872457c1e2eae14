"""Run the translated queries on generated rows in Spark, and compare with what DuckDB answers to its own text.

``python -m tests.tpc.results`` prints one line per query and takes some minutes; no test needs it.
"""

import math
import sys
import tempfile
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from tests.tpc.queries import SUITES, Query, database, queries, tables
from tests.tpc.spark_tables import create_tables, spark_session

SCALE = 0.01
CLOSE = 1e-4  # Spark divides and averages decimals as decimals, DuckDB as doubles

# On so few rows, to compile a query costs more than to run it.
FAST = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
}

Row = tuple[object, ...]


def compare(spark: Any, suite: str, folder: str) -> Iterator[tuple[Query, str]]:
    """Each query of a suite and what came of it: ``same``, ``same order aside``, ``differs`` or an error."""
    for name in tables(suite):
        database(suite, SCALE).execute(f"COPY {name} TO '{folder}/{suite}_{name}.parquet' (FORMAT parquet)")
    create_tables(spark, suite, f"{folder}/{suite}_{{}}.parquet")
    spark.catalog.setCurrentDatabase(suite)
    for query in queries(suite):
        try:
            yield query, _verdict(query, [tuple(row) for row in spark.sql(query.text).collect()])
        except Exception as error:
            yield query, f"error: {str(error).splitlines()[0][:200]}"


def _verdict(query: Query, ours: Sequence[Row]) -> str:
    theirs = database(query.suite, SCALE).execute(query.original).fetchall()
    if _same(ours, theirs):
        return f"same, {len(theirs)} rows"
    if _same(sorted(ours, key=_sortable), sorted(theirs, key=_sortable)):
        return f"same order aside, {len(theirs)} rows"
    return f"differs, {len(ours)} and {len(theirs)} rows"


def _same(ours: Sequence[Row], theirs: Sequence[Row]) -> bool:
    if len(ours) != len(theirs):
        return False
    return all(_equal(*pair) for rows in zip(ours, theirs, strict=True) for pair in zip(*rows, strict=True))


def _equal(one: object, other: object) -> bool:
    if isinstance(one, int | float | Decimal) and isinstance(other, int | float | Decimal):
        return math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
    return one == other


def _sortable(row: Row) -> tuple[str, ...]:
    return tuple(f"{value:.3g}" if isinstance(value, int | float | Decimal) else str(value) for value in row)


def main() -> int:
    """Print a line per query; 1 when one of them failed or differs."""
    bad = 0
    with spark_session() as spark, tempfile.TemporaryDirectory() as folder:
        for name, value in FAST.items():
            spark.conf.set(name, value)
        for suite in SUITES:
            for query, verdict in compare(spark, suite, folder):
                bad += not verdict.startswith("same")
                print(f"{query}: {verdict}", flush=True)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
