"""Places for tables as Parquet files, Delta tables or Iceberg tables; each build becomes visible as a whole.

A build writes its tables first and publishes all of them in one step (`headwater.archive.formats.manifest`). An
interrupted build leaves the tables that were published before.
"""

from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession

from headwater.archive.formats.delta import Delta
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.iceberg import Iceberg
from headwater.archive.formats.manifest import Manifest, Marks, UpdateState, manifest_of
from headwater.archive.formats.parquet import Parquet
from headwater.archive.tables import Table
from headwater.errors import ArchiveError

FORMATS = ("delta", "iceberg", "parquet")
_EXTENSION = "DeltaSparkSessionExtension"


class Lake(Protocol):
    """A place for tables in one format."""

    def write(self, name: str, rows: DataFrame, table: Table, *, few: bool = False, ordered: bool = False) -> Any:
        """Write a table, which readers do not see before `publish`; returns its mark.

        ``few`` rows are written by one task, ``ordered`` ones by the tasks that have them.
        """

    def add(self, name: str, mark: Any, rows: DataFrame, table: Table, *, few: bool = False) -> Any:
        """Add rows, ``few`` of them by one task, to the table of a mark; returns its new mark."""

    def change(self, name: str, mark: Any, changes: DataFrame, table: Table, *, few: bool = False) -> Any:
        """Apply `headwater.archive.formats.differences` to the table of a mark; returns its new mark.

        ``few`` changes beside many rows are sent to all tasks of a join (`headwater.archive.cache.CachedFrames.sent`).
        """

    def restore(self, name: str, mark: Any) -> Any:
        """Revert what an interrupted build or update wrote after a mark; returns the mark of the table then."""

    def publish(self, before: Manifest, marks: Marks, updates: UpdateState = ...) -> None:
        """Make the tables of a build the current ones, and ``updates`` the state of updates.

        Args:
            before: the manifest that the build began with.
            marks: of the tables.
            updates: the state for the next update.

        Raises:
            ArchiveError: another build or update has published since.
        """

    def manifest(self) -> Manifest:
        """The marks of the current tables, none when there are none, and the state of updates.

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
    present = manifest_of(folder).format
    if present and format and present != format:
        raise ArchiveError(
            f"{into} has tables in {present}: expected {format}. Choose another folder, or --format {present}."
        )
    default = "delta" if _EXTENSION in str(spark.conf.get("spark.sql.extensions", "")) else "parquet"
    chosen = present or format or default
    return Delta(spark, folder) if chosen == "delta" else Parquet(spark, folder)
