"""The statements that are measured, and the data they read: small, for it is the watching that is measured."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

WIDE = 900
STEPS = 150
TASKS = 2_000


@dataclass(frozen=True, slots=True)
class Workload:
    """A statement to repeat: ``prepare`` makes what it needs, each time; ``act`` is what is measured."""

    name: str
    title: str
    warm_up: int
    rounds: int
    prepare: Callable[[Any], Any]
    act: Callable[[Any, Any], None]


def make_inputs(spark: Any, folder: Path) -> None:
    """The tables that the workloads and the ordinary statements read: of 3, 60 and 900 columns."""
    tables = {
        "narrow": spark.range(1_000).selectExpr("id", "id * 2 AS b", "id % 7 AS c"),
        "broad": spark.range(10).selectExpr(*(f"id + {i} AS c{i}" for i in range(60))),
        "wide": spark.range(10).selectExpr(*(f"id + {i} AS c{i}" for i in range(WIDE))),
    }
    for name, frame in tables.items():
        frame.write.mode("overwrite").parquet(f"{folder}/{name}")
        spark.read.parquet(f"{folder}/{name}").createOrReplaceTempView(name)


def workloads(folder: Path) -> tuple[Workload, ...]:
    """The four of them; what they write goes to ``folder``."""

    def write(name: str) -> Callable[[Any, Any], None]:
        return lambda spark, frame: frame.write.mode("overwrite").parquet(f"{folder}/{name}")

    return (
        Workload("small", "small query (CTAS of 3 columns)", 20, 30, _without_table, _create_table),
        Workload("wide", f"projection of {WIDE} columns", 4, 8, _projected, write("wide_out")),
        Workload("chain", f"chain of {STEPS} withColumn", 4, 8, _chained, write("chain_out")),
        Workload("tasks", f"job of {TASKS:,} tasks", 1, 3, _in_many_tasks, write("tasks_out")),
    )


def _without_table(spark: Any) -> None:
    spark.sql("DROP TABLE IF EXISTS small_out")


def _create_table(spark: Any, _: None) -> None:
    spark.sql("CREATE TABLE small_out USING parquet AS SELECT id, b AS x, b + c AS y FROM narrow")


def _projected(spark: Any) -> Any:
    return spark.table("wide").selectExpr(*(f"c{i} + {i} AS d{i}" for i in range(WIDE)))


def _chained(spark: Any) -> Any:
    """Each column from the table's own: a chain in which each needs the one before costs Spark's optimizer seconds."""
    from pyspark.sql import functions as sf

    def step(frame: Any, number: int) -> Any:
        return frame.withColumn(f"s{number}", sf.col("b") + number)

    return reduce(step, range(STEPS), spark.table("narrow"))


def _in_many_tasks(spark: Any) -> Any:
    return spark.table("narrow").repartition(TASKS - 1).groupBy().agg({"b": "sum", "c": "max", "id": "count"})
