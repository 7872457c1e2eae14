"""Tables as folders of Parquet files."""

import secrets
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from headwater.archive.formats.differences import changed, in_table_order
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.manifest import Manifest, Marks, UpdateState, manifest_of, replace_manifest
from headwater.archive.tables import Table

_BUILDS = "builds"
_NO_UPDATES = UpdateState()


class Parquet:
    """Folders of Parquet files: each build has its own, and those of the last two builds stay."""

    def __init__(self, spark: SparkSession, folder: Folder) -> None:
        self._spark, self._folder = spark, folder

    def write(self, name: str, rows: DataFrame, table: Table, *, few: bool = False) -> dict[str, Any]:
        """Write a table; its mark is its path below the folder, with its columns: an empty table has no file."""
        path = f"{_BUILDS}/{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}/{name}"
        writer = in_table_order(rows, table, few=few).write.option("compression", "zstd").partitionBy(*table.partitions)
        writer.parquet(self._folder.path(path))
        return {"path": path, "schema": rows.schema.jsonValue()}

    def add(self, name: str, mark: dict[str, Any], rows: DataFrame, table: Table) -> dict[str, Any]:
        """Write a table anew, with more rows."""
        return self.write(name, self.read(name, mark).unionByName(rows), table)

    def change(self, name: str, mark: dict[str, Any], changes: DataFrame, table: Table) -> dict[str, Any]:
        """Write a table anew, with other rows."""
        return self.write(name, changed(self.read(name, mark), changes, table), table)

    def restore(self, name: str, mark: dict[str, Any]) -> dict[str, Any]:
        """The mark as it is: nothing changes its files."""
        return mark

    def publish(self, before: Manifest, marks: Marks, updates: UpdateState = _NO_UPDATES) -> None:
        """Make the tables of a build the current ones; readers of those before may go on."""
        after = Manifest("parquet", marks, updates)
        replace_manifest(self._folder, after, before)
        tables = (one.values() for build in (before, after) for one in (build.tables, build.updates.staged))
        in_use = {mark["path"].split("/")[1] for marks in tables for mark in marks}
        for build in self._folder.names(_BUILDS):
            if build not in in_use:
                self._folder.remove(f"{_BUILDS}/{build}")

    def manifest(self) -> Manifest:
        """The current paths of the tables, and the state of updates."""
        return manifest_of(self._folder)

    def read(self, name: str, mark: dict[str, Any]) -> DataFrame:
        """A table of a build."""
        schema = StructType.fromJson(mark["schema"])
        rows = self._spark.read.schema(schema).parquet(self._folder.path(mark["path"]))
        return rows.select(*schema.names)  # Spark puts the columns of partitions last
