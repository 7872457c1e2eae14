"""DataFrames from rows that the driver has in Python, without a Python worker where Spark can do without."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

_TAKES_ARROW = not pyspark.__version__.startswith("3.")


def local_rows(spark: SparkSession, rows: Sequence[tuple[Any, ...]], schema: StructType) -> DataFrame:
    """Return rows as a DataFrame with these columns.

    From Spark 4 on its plan is a ``LocalRelation``, and Spark's optimizer drops joins with one without rows. Spark 3.5
    starts a Python worker each time that the DataFrame is read, which takes as long as to fold some thousand events.
    """
    if not _TAKES_ARROW:
        return spark.createDataFrame(rows, schema)
    named = [dict(zip(schema.names, row, strict=True)) for row in rows]
    return spark.createDataFrame(pa.Table.from_pylist(named, schema=to_arrow_schema(schema)), schema)
