"""Frames of the few rows that Python has, which no Python worker makes."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

_TAKES_ARROW = not pyspark.__version__.startswith("3.")


def local_rows(spark: SparkSession, rows: Sequence[tuple[Any, ...]], schema: StructType) -> DataFrame:
    """The rows as a frame that has its values in its plan: Spark leaves out joins with one that has none.

    Spark 3.5 takes values of Python only, which a Python worker gives it each time that the frame is read: to start one
    takes as long as to fold some thousand events.
    """
    if not _TAKES_ARROW:
        return spark.createDataFrame(rows, schema)
    named = [dict(zip(schema.names, row, strict=True)) for row in rows]
    return spark.createDataFrame(pa.Table.from_pylist(named, schema=to_arrow_schema(schema)), schema)
