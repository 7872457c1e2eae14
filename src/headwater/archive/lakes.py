"""Where tables are written: Parquet files, Delta tables, Iceberg tables; each build becomes visible as a whole.

A build writes its tables first and says in one step which ones count: in the file ``headwater.json`` beside the tables,
or in the table ``headwater`` of an Iceberg namespace. One that is interrupted leaves what counted before.
"""

import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from headwater.archive.filesystem import Folder
from headwater.archive.tables import PROPERTY, VERSION, Table, require_version, version_of
from headwater.errors import ArchiveError, ArchiveTooNew

FORMATS = ("delta", "iceberg", "parquet")
_FILE = "headwater.json"
_BUILDS = "builds"
_EXTENSION = "DeltaSparkSessionExtension"
Marks = Mapping[str, Any]
"""By table what tells its state of one build from others: a path, or a version."""


class Lake(Protocol):
    """A place for tables in one format."""

    def write(self, name: str, rows: DataFrame, table: Table) -> Any:
        """Writes a table, which nobody sees by name yet; gives its mark."""

    def publish(self, marks: Marks) -> None:
        """Makes the tables of a build those that count."""

    def published(self) -> Marks:
        """The marks of the tables that count, empty when there are none.

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
    """
    if format is not None and format not in FORMATS:
        raise ArchiveError(f"The format {format!r} is not known: expected {', '.join(FORMATS)}.")
    if format == "iceberg":
        return Iceberg(spark, into)
    folder = Folder(spark, into)
    there = _manifest(folder).get("format")
    if there and format and there != format:
        raise ArchiveError(
            f"{into} has tables in {there}: expected {format}. Choose another folder, or --format {there}."
        )
    delta = (there or format or _usual(spark)) == "delta"
    return Delta(spark, folder) if delta else Parquet(spark, folder)


def _usual(spark: SparkSession) -> str:
    return "delta" if _EXTENSION in str(spark.conf.get("spark.sql.extensions", "")) else "parquet"


def arranged(rows: DataFrame, table: Table) -> DataFrame:
    """Rows in the order of the table, so that files and their parts hold few datasets, and readers skip the others."""
    order = (*table.parts, *table.order)
    return rows.repartitionByRange(*order).sortWithinPartitions(*order)


class Parquet:
    """Folders of Parquet files: each build has its own, those before the last two are removed."""

    def __init__(self, spark: SparkSession, folder: Folder) -> None:
        self._spark, self._folder = spark, folder
        self._build = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}"

    def write(self, name: str, rows: DataFrame, table: Table) -> dict[str, Any]:
        """Writes a table; its mark is its path below the folder, with its columns: an empty table has no file."""
        path = f"{_BUILDS}/{self._build}/{name}"
        writer = arranged(rows, table).write.option("compression", "zstd").partitionBy(*table.parts)
        writer.parquet(self._folder.path(path))
        return {"path": path, "schema": rows.schema.jsonValue()}

    def publish(self, marks: Marks) -> None:
        """Makes the tables of a build those that count; readers of those before may go on."""
        kept = {mark["path"].split("/")[1] for some in (self.published(), marks) for mark in some.values()}
        _publish(self._folder, "parquet", marks)
        for build in self._folder.names(_BUILDS):
            if build not in kept:
                self._folder.remove(f"{_BUILDS}/{build}")

    def published(self) -> Marks:
        """The paths of the tables that count."""
        return _marks(self._folder)

    def read(self, name: str, mark: Mapping[str, Any]) -> DataFrame:
        """A table of a build."""
        schema = StructType.fromJson(mark["schema"])
        return self._spark.read.schema(schema).parquet(self._folder.path(mark["path"]))


class Delta:
    """Delta tables, one folder for each: a build is a version of each."""

    def __init__(self, spark: SparkSession, folder: Folder) -> None:
        self._spark, self._folder = spark, folder

    def write(self, name: str, rows: DataFrame, table: Table) -> int:
        """Replaces a table; its mark is its version."""
        path = self._folder.path(name)
        writer = arranged(rows, table).write.format("delta").mode("overwrite").option("overwriteSchema", "true")
        writer.partitionBy(*table.parts).save(path)
        quoted = path.replace("`", "``")
        return int(self._spark.sql(f"DESCRIBE HISTORY delta.`{quoted}` LIMIT 1").first()["version"])

    def publish(self, marks: Marks) -> None:
        """Makes the versions of a build those that count."""
        _publish(self._folder, "delta", marks)

    def published(self) -> Marks:
        """The versions of the tables that count."""
        return _marks(self._folder)

    def read(self, name: str, mark: int) -> DataFrame:
        """A table of a build."""
        return self._spark.read.format("delta").option("versionAsOf", mark).load(self._folder.path(name))


class Iceberg:
    """Tables of a namespace of an Iceberg catalog: a build is a snapshot of each."""

    def __init__(self, spark: SparkSession, namespace: str) -> None:
        self._spark, self._namespace = spark, namespace

    def write(self, name: str, rows: DataFrame, table: Table) -> int:
        """Replaces a table; its mark is its snapshot."""
        whole = f"{self._namespace}.{name}"
        writer = arranged(rows, table).writeTo(whole).using("iceberg")
        writer = writer.tableProperty(PROPERTY, str(version_of(rows.schema)))
        writer = writer.tableProperty("write.distribution-mode", "none")  # else it gathers them by partition alone
        (writer.partitionedBy(*table.parts) if table.parts else writer).createOrReplace()
        last = self._spark.sql(f"SELECT snapshot_id FROM {whole}.snapshots ORDER BY committed_at DESC LIMIT 1")
        return int(last.first()["snapshot_id"])

    def publish(self, marks: Marks) -> None:
        """Makes the snapshots of a build those that count."""
        text = json.dumps({"version": VERSION, "format": "iceberg", "tables": dict(marks)})
        row = self._spark.createDataFrame([(text,)], StructType([StructField("manifest", StringType())]))
        row.coalesce(1).writeTo(f"{self._namespace}.headwater").using("iceberg").createOrReplace()

    def published(self) -> Marks:
        """The snapshots of the tables that count."""
        if not self._spark.catalog.tableExists(f"{self._namespace}.headwater"):
            return {}
        manifest = json.loads(self._spark.table(f"{self._namespace}.headwater").first()["manifest"])
        return _known(manifest, self._namespace)

    def read(self, name: str, mark: int) -> DataFrame:
        """A table of a build."""
        whole = f"{self._namespace}.{name}"
        told = self._spark.sql(f"SHOW TBLPROPERTIES {whole}").where(f"key = '{PROPERTY}'").first()
        require_version(whole, int(told["value"]) if told else 0)
        return self._spark.sql(f"SELECT * FROM {whole} VERSION AS OF {mark}")


def _publish(folder: Folder, format: str, marks: Marks) -> None:
    folder.replace(_FILE, json.dumps({"version": VERSION, "format": format, "tables": dict(marks)}, indent=1))


def _marks(folder: Folder) -> Marks:
    return _known(_manifest(folder), folder.root)


def _manifest(folder: Folder) -> dict[str, Any]:
    text = folder.text(_FILE)
    try:
        return dict(json.loads(text)) if text else {}
    except ValueError as fault:
        raise ArchiveError(
            f"{folder.path(_FILE)} is no JSON ({fault}): expected what `headwater archive build` wrote. Choose another "
            "folder, or remove the file and build again."
        ) from None


def _known(manifest: Mapping[str, Any], place: str) -> Marks:
    version = manifest.get("version", VERSION)
    if version > VERSION:
        raise ArchiveTooNew(
            f"The tables in {place} have version {version}: expected {VERSION} at most. A newer headwater wrote them: "
            "upgrade this one, or build elsewhere."
        )
    return dict(manifest.get("tables", {}))
