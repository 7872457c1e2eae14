"""``headwater archive``: archives of events into tables of lineage, with Spark."""

from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.output import note, print_lines, table
from headwater.errors import ArchiveError

if TYPE_CHECKING:
    from headwater.archive import Archive

app = typer.Typer(no_args_is_help=True, help="Archives of events, too large for one machine, into tables; with Spark.")


class TableFormat(str, Enum):
    """What the tables are written as."""

    DELTA = "delta"
    ICEBERG = "iceberg"
    PARQUET = "parquet"


_Into = Annotated[
    str, typer.Option("--into", metavar="PATH|CATALOG.NAMESPACE", help="Where the tables are: a folder, or in Iceberg.")
]
_Format = Annotated[
    TableFormat | None,
    typer.Option("--format", help="What the tables are; otherwise as before, otherwise Delta where Spark has it."),
]
_Conf = Annotated[
    list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; may be given repeatedly.")
]


@app.command()
def build(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE|DIR|PATTERN|kafka://HOST:PORT/TOPIC",
            help="Lines of JSON, also .gz and .zst, or Parquet; on any file system of Hadoop.",
        ),
    ],
    into: _Into,
    format: _Format = None,
    conf: _Conf = None,
) -> None:
    """Make the tables of lineage of all events; what was built there before stays until that is done."""
    spark = _spark(conf)
    from headwater.archive import build as build_tables

    archive = build_tables(spark, source, into, format=format and format.value, tell=note)
    _summary(archive)


def _summary(archive: "Archive") -> None:
    counts = {name: frame.count() for name, frame in archive.items()}
    print_lines(table(("table", "rows"), [(name, f"{count:,}") for name, count in counts.items()]))
    if counts["quarantine"]:
        note(f"{counts['quarantine']:,} lines are no events: the table quarantine says which, and why.")


def _spark(conf: list[str] | None) -> Any:
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
