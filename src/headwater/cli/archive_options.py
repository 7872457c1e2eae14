"""What the commands of ``headwater archive`` have in common: their options, and the session of Spark."""

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.errors import ArchiveError

if TYPE_CHECKING:
    from headwater.archive import Archive


class TableFormat(str, Enum):
    """What the tables are written as."""

    DELTA = "delta"
    ICEBERG = "iceberg"
    PARQUET = "parquet"


Into = Annotated[
    str, typer.Option("--into", metavar="PATH|CATALOG.NAMESPACE", help="Where the tables are: a folder, or in Iceberg.")
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
    typer.Option("--format", help="What the tables are; otherwise as before, otherwise Delta where Spark has it."),
]
Conf = Annotated[
    list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; may be given repeatedly.")
]


def read_tables(into: str, format: TableFormat | None, conf: list[str] | None) -> "Archive":
    """The tables that are asked."""
    spark = session(conf)
    from headwater.archive import read

    return read(spark, into, format=format and format.value)


def session(conf: list[str] | None) -> Any:
    """The session of this process: that of spark-submit, or one of its own."""
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
            raise typer.BadParameter(f"{setting!r} is no setting: expected KEY=VALUE.")
        builder = builder.config(key, value)
    return builder.getOrCreate()
