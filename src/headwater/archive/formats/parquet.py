"""Tables as folders of Parquet files."""

import secrets
from datetime import UTC, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from headwater.archive.formats.differences import DELETED, NEW, changed, in_table_order, without
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.manifest import Manifest, Marks, UpdateState, manifest_of, replace_manifest
from headwater.archive.tables import Table

_BUILDS = "builds"
_MOST_ADDED = 50  # folders beside that of a table, or changes of few rows, before it is written in order
_NO_UPDATES = UpdateState()


class Parquet:
    """Folders of Parquet files: each build has its own, and those of the last two builds stay."""

    def __init__(self, spark: SparkSession, folder: Folder) -> None:
        self._spark, self._folder = spark, folder

    def write(
        self, name: str, rows: DataFrame, table: Table, *, few: bool = False, ordered: bool = False
    ) -> dict[str, Any]:
        """Write a table; its mark is its path below the folder, with its columns: an empty table has no file."""
        arranged = in_table_order(rows, table, few=few, ordered=ordered)
        path = self._written(name, arranged, *table.partitions)
        return {"path": path, "schema": rows.schema.jsonValue()}

    def add(
        self, name: str, mark: dict[str, Any], rows: DataFrame, table: Table, *, few: bool = False
    ) -> dict[str, Any]:
        """Write rows into a folder beside that of the table; after many of these the whole table anew."""
        added = mark.get("added", [])
        if len(added) == _MOST_ADDED:
            return self.write(name, self.read(name, mark).unionByName(rows), table)
        path = self._written(name, in_table_order(rows.select(*table.columns), table, few=few))
        return {**mark, "added": [*added, path]}

    def change(
        self, name: str, mark: dict[str, Any], changes: DataFrame, table: Table, *, few: bool = False
    ) -> dict[str, Any]:
        """Add new rows; where others change, or rows are deleted, write the table anew.

        Beside ``few`` changes the rows that stay are written as they are read, file by file, and so in their order.
        """
        if changes.where(f"NOT {NEW}").isEmpty():
            return self.add(name, mark, changes, table)
        before, times = self.read(name, mark), mark.get("unsorted", 0)
        if not few or times == _MOST_ADDED:
            return self.write(name, changed(before, changes, table), table)
        path = self._written(name, without(before, changes, table.key), *table.partitions)
        staying = {"path": path, "schema": mark["schema"], "unsorted": times + 1}
        return self.add(name, staying, changes.where(f"NOT {DELETED}"), table, few=True)

    def restore(self, name: str, mark: dict[str, Any]) -> dict[str, Any]:
        """The mark as it is: nothing changes its files."""
        return mark

    def publish(self, before: Manifest, marks: Marks, updates: UpdateState = _NO_UPDATES) -> None:
        """Make the tables of a build the current ones; readers of those before may go on."""
        after = Manifest("parquet", marks, updates)
        replace_manifest(self._folder, after, before)
        tables = (one.values() for build in (before, after) for one in (build.tables, build.updates.staged))
        in_use = {path.split("/")[1] for marks in tables for mark in marks for path in _paths(mark)}
        for build in self._folder.names(_BUILDS):
            if build not in in_use:
                self._folder.remove(f"{_BUILDS}/{build}")

    def manifest(self) -> Manifest:
        """The current paths of the tables, and the state of updates."""
        return manifest_of(self._folder)

    def read(self, name: str, mark: dict[str, Any]) -> DataFrame:
        """A table of a build."""
        schema = StructType.fromJson(mark["schema"])
        path, *added = map(self._folder.path, _paths(mark))
        rows = self._spark.read.schema(schema).parquet(path).select(*schema.names)  # Spark puts partitions last
        return rows.unionByName(self._spark.read.schema(schema).parquet(*added)) if added else rows

    def _written(self, name: str, rows: DataFrame, *partitions: str) -> str:
        path = f"{_BUILDS}/{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(4)}/{name}"
        rows.write.option("compression", "zstd").partitionBy(*partitions).parquet(self._folder.path(path))
        return path


def _paths(mark: dict[str, Any]) -> list[str]:
    return [mark["path"], *mark.get("added", ())]
