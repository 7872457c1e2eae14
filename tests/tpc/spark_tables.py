"""The tables of both suites in a Spark catalog: a database each, external tables at a stable location."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.tpc.queries import tables


@contextmanager
def spark_session() -> Iterator[Any]:
    """A local Spark with a warehouse that is gone afterwards; one that already runs is used and left running."""
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running:
        yield running
        return
    with tempfile.TemporaryDirectory() as folder:
        spark = _builder(SparkSession.builder, folder).getOrCreate()
        try:
            yield spark
        finally:
            spark.stop()


def _builder(builder: Any, folder: str) -> Any:
    builder = builder.master("local[2]").appName("tpc").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.warehouse.dir", f"{folder}/warehouse")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    # Hundreds of plans are analyzed once: the optimizing compiler would cost more than it saves.
    return builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")


def create_tables(spark: Any, suite: str, files: str = "") -> None:
    """Create the database of a suite and its tables: empty, or on Parquet files; ``files`` has ``{}`` for the table."""
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {suite}")
    for name, columns in tables(suite).items():
        described = ", ".join(f"{column} {kind}" for column, kind in columns.items())
        where = f"LOCATION '{files.format(name)}'" if files else ""
        spark.sql(f"CREATE TABLE IF NOT EXISTS {suite}.{name} ({described}) USING parquet {where}")
