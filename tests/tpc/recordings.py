"""The analyzed plans of the queries in the recorded form, so that their lineage is read without a JVM.

``python -m tests.tpc.recordings`` makes them anew from a running Spark.
"""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.tpc.queries import SUITES, Query, queries
from tests.tpc.spark_tables import create_tables, spark_session

from headwater.extract import column_lineage
from headwater.model import ColumnLineage, Gap
from headwater.plan import decode

FOLDER = Path(__file__).resolve().parents[1] / "plans" / "tpc"
WAREHOUSE = "/warehouse"

Found = tuple[ColumnLineage, tuple[Gap, ...]]


@cache
def recorded(suite: str) -> Mapping[int, Found]:
    """The lineage and the gaps of each query of a suite, worked out from its recorded plan."""
    lines = gzip.decompress(_file(suite).read_bytes()).decode().splitlines()
    documents = map(json.loads, lines)
    return {line["query"]: column_lineage(decode(json.dumps(line["plan"]))) for line in documents}


def plans(spark: Any, chosen: Iterable[Query]) -> Iterator[tuple[Query, str]]:
    """Each query with the recorded form of its plan; the tables of its suite exist in ``spark``."""
    from headwater.capture.jvm.tap import SparkTap
    from headwater.capture.rows import unpack
    from headwater.capture.settings import CaptureSettings

    tap = SparkTap(spark.sparkContext, CaptureSettings())
    for query in chosen:
        spark.catalog.setCurrentDatabase(query.suite)
        yield query, unpack(tap.read(spark.sql(query.text)))


def record(spark: Any, suite: str) -> None:
    """Write the file of a suite: the same bytes for the same plans, wherever the warehouse was."""
    create_tables(spark, suite)
    warehouse = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
    lines = (_line(query, plan.replace(warehouse, WAREHOUSE)) for query, plan in plans(spark, queries(suite)))
    FOLDER.mkdir(parents=True, exist_ok=True)
    _file(suite).write_bytes(gzip.compress("\n".join(lines).encode(), 9, mtime=0))


def _line(query: Query, plan: str) -> str:
    return json.dumps({"query": query.number, "plan": json.loads(plan)}, separators=(",", ":"))


def _file(suite: str) -> Path:
    return FOLDER / f"{suite}.jsonl.gz"


def main() -> None:
    """Record both suites."""
    with spark_session() as spark:
        for suite in SUITES:
            record(spark, suite)


if __name__ == "__main__":
    main()
