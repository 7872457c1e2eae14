"""Tables of Delta Lake, one folder for each."""

from pyspark.sql import DataFrame, SparkSession

from headwater.archive.formats.differences import in_table_order, merge
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.manifest import Manifest, Marks, UpdateState, manifest_of, replace_manifest
from headwater.archive.tables import Table

_NO_UPDATES = UpdateState()


class Delta:
    """Delta tables: a build is a version of each."""

    def __init__(self, spark: SparkSession, folder: Folder) -> None:
        self._spark, self._folder = spark, folder

    def write(self, name: str, rows: DataFrame, table: Table, *, few: bool = False) -> int:
        """Replace a table; its mark is its version."""
        writer = (
            in_table_order(rows, table, few=few)
            .write.format("delta")
            .mode("overwrite")
            .option("overwriteSchema", "true")
        )
        writer.partitionBy(*table.partitions).save(self._folder.path(name))
        return self._last(name)

    def add(self, name: str, mark: int, rows: DataFrame, table: Table) -> int:
        """Append rows."""
        in_table_order(rows, table).write.format("delta").mode("append").save(self._folder.path(name))
        return self._last(name)

    def change(self, name: str, mark: int, changes: DataFrame, table: Table) -> int:
        """Merge the rows that differ."""
        merge(self._quoted(name), changes, table)
        return self._last(name)

    def restore(self, name: str, mark: int) -> int:
        """Restore a version that is not the last one, which makes one more."""
        if self._last(name) == mark:
            return mark
        self._spark.sql(f"RESTORE TABLE {self._quoted(name)} TO VERSION AS OF {mark}").collect()
        return self._last(name)

    def publish(self, marks: Marks, updates: UpdateState = _NO_UPDATES) -> None:
        """Make the versions of a build the current ones."""
        replace_manifest(self._folder, Manifest("delta", marks, updates))

    def manifest(self) -> Manifest:
        """The current versions of the tables, and the state of updates."""
        return manifest_of(self._folder)

    def read(self, name: str, mark: int) -> DataFrame:
        """A table of a build."""
        return self._spark.read.format("delta").option("versionAsOf", mark).load(self._folder.path(name))

    def _last(self, name: str) -> int:
        return int(self._spark.sql(f"DESCRIBE HISTORY {self._quoted(name)} LIMIT 1").first()["version"])

    def _quoted(self, name: str) -> str:
        return f"delta.`{self._folder.path(name).replace('`', '``')}`"
