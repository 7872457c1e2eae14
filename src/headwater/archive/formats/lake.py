"""Where tables are written: Parquet files, Delta tables, Iceberg tables; each build becomes visible as a whole.

A build writes its tables first and publishes all of them in one step (`headwater.archive.formats.manifest`). An
interrupted build leaves the tables that were published before.
"""

from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession

from headwater.archive.formats.delta import Delta
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.iceberg import Iceberg
from headwater.archive.formats.manifest import Manifest, Marks, Taken, manifest_of
from headwater.archive.formats.parquet import Parquet
from headwater.archive.tables import Table
from headwater.errors import ArchiveError

FORMATS = ("delta", "iceberg", "parquet")
_EXTENSION = "DeltaSparkSessionExtension"


class Lake(Protocol):
    """A place for tables in one format."""

    def write(self, name: str, rows: DataFrame, table: Table) -> Any:
        """Writes a table, which nobody sees by name yet; gives its mark."""

    def add(self, name: str, mark: Any, rows: DataFrame, table: Table) -> Any:
        """Adds rows to a table as its mark says it is; gives its new mark."""

    def change(self, name: str, mark: Any, changes: DataFrame, table: Table) -> Any:
        """Applies `headwater.archive.formats.differences` to a table as its mark says it is; gives its new mark."""

    def restore(self, name: str, mark: Any) -> Any:
        """Takes back what was written after a mark by who was interrupted; gives the mark of what is then there."""

    def publish(self, marks: Marks, taken: Taken = ...) -> None:
        """Makes the tables of a build those that count; updates know then what is ``taken``."""

    def manifest(self) -> Manifest:
        """The marks of the tables that count, none when there are none, and what updates know.

        Raises:
            ArchiveTooNew: a newer headwater wrote them.
        """

    def read(self, name: str, mark: Any) -> DataFrame:
        """A table of a build."""


def lake(spark: SparkSession, into: str, format: str | None = None) -> Lake:
    """The place ``into`` in a format; without one that of the tables there, else Delta where Spark has its connector.

    Args:
        spark: with the connector of the format.
        into: a folder on any file system of Hadoop; for Iceberg ``CATALOG.NAMESPACE``.
        format: one of `FORMATS`.

    Raises:
        ArchiveError: there is no such format, or the tables there have another.
        ArchiveTooNew: a newer headwater wrote them.
    """
    if format is not None and format not in FORMATS:
        raise ArchiveError(f"The format {format!r} is not known: expected {', '.join(FORMATS)}.")
    if format == "iceberg":
        return Iceberg(spark, into)
    folder = Folder(spark, into)
    there = manifest_of(folder).format
    if there and format and there != format:
        raise ArchiveError(
            f"{into} has tables in {there}: expected {format}. Choose another folder, or --format {there}."
        )
    delta = (there or format or _usual(spark)) == "delta"
    return Delta(spark, folder) if delta else Parquet(spark, folder)


def _usual(spark: SparkSession) -> str:
    return "delta" if _EXTENSION in str(spark.conf.get("spark.sql.extensions", "")) else "parquet"
