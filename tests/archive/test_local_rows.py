"""Rows of Python in Spark's plans."""

from typing import Any

import pyspark
import pytest
from pyspark.sql.types import ArrayType, LongType, StringType, StructField, StructType

from headwater.archive.local_rows import local_rows

_SCHEMA = StructType(
    [
        StructField("name", StringType()),
        StructField("count", LongType()),
        StructField("cuts", ArrayType(LongType())),
    ]
)
_ROWS = [("größe\n'\"\\", 2**63 - 1, [1, 2]), ("", -(2**63), []), (None, None, None)]


@pytest.mark.spark
@pytest.mark.parametrize("rows", [_ROWS, []])
def test_the_rows_are_those_of_python_with_the_types_of_the_schema(spark: Any, rows: list[tuple[Any, ...]]) -> None:
    frame = local_rows(spark, rows, _SCHEMA)
    assert [tuple(row) for row in frame.collect()] == rows
    assert frame.schema == _SCHEMA


@pytest.mark.spark
@pytest.mark.skipif(pyspark.__version__.startswith("3."), reason="Spark 3.5 takes values of Python only")
def test_a_join_with_none_is_left_out(spark: Any) -> None:
    joined = spark.range(10).selectExpr("string(id) AS name").join(local_rows(spark, [], _SCHEMA), "name", "left")
    assert "Join" not in joined._jdf.queryExecution().optimizedPlan().toString()
    assert joined.count() == 10
