"""The options of ``headwater archive``, and its Spark session."""

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.errors import ArchiveError

if TYPE_CHECKING:
    from headwater.archive import Archive


class TableFormat(str, Enum):
    """A format of tables."""

    DELTA = "delta"
    ICEBERG = "iceberg"
    PARQUET = "parquet"


Into = Annotated[
    str,
    typer.Option("--into", metavar="PATH|CATALOG.NAMESPACE", help="The tables: a folder, or a namespace of Iceberg."),
]
Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|DIR|PATTERN|kafka://HOST:PORT/TOPIC",
        help="Lines of JSON, also .gz and .zst, or Parquet; on any file system of Hadoop.",
    ),
]
Format = Annotated[
    TableFormat | None,
    typer.Option("--format", help="The format of the tables; else the present one, else Delta where Spark has it."),
]
Conf = Annotated[
    list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; repeat for more.")
]


def read_tables(into: str, format: TableFormat | None, conf: list[str] | None) -> "Archive":
    """Return the tables of an archive."""
    spark = session(conf)
    from headwater.archive import read

    return read(spark, into, format=format and format.value)


def session(conf: list[str] | None) -> Any:
    """Return the Spark session of this process: that of spark-submit, or a new one."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ArchiveError(
            "PySpark is not installed: expected Spark 3.5 or later. pip install 'pyspark' 'headwater[archive]'."
        ) from None
    builder = SparkSession.builder.appName("headwater archive")
    for setting in conf or ():
        key, separator, value = setting.partition("=")
        if not separator:
            raise typer.BadParameter(f"The setting is {setting!r}: expected KEY=VALUE.")
        builder = builder.config(key, value)
    return builder.getOrCreate()
