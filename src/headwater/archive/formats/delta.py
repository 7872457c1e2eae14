"""Tables of Delta Lake, one folder for each."""

from pyspark.sql import DataFrame, SparkSession

from headwater.archive.formats.differences import arranged, merge
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.manifest import Manifest, Marks, Taken, manifest_of, replace_manifest
from headwater.archive.tables import Table

_NOTHING = Taken()


class Delta:
    """Delta tables: a build is a version of each."""

    def __init__(self, spark: SparkSession, folder: Folder) -> None:
        self._spark, self._folder = spark, folder

    def write(self, name: str, rows: DataFrame, table: Table) -> int:
        """Replaces a table; its mark is its version."""
        writer = arranged(rows, table).write.format("delta").mode("overwrite").option("overwriteSchema", "true")
        writer.partitionBy(*table.parts).save(self._folder.path(name))
        return self._last(name)

    def add(self, name: str, mark: int, rows: DataFrame, table: Table) -> int:
        """Appends rows."""
        arranged(rows, table).write.format("delta").mode("append").save(self._folder.path(name))
        return self._last(name)

    def change(self, name: str, mark: int, changes: DataFrame, table: Table) -> int:
        """Merges what differs."""
        merge(self._quoted(name), changes, table)
        return self._last(name)

    def restore(self, name: str, mark: int) -> int:
        """Restores a version that is not the last one; which makes one more."""
        if self._last(name) == mark:
            return mark
        self._spark.sql(f"RESTORE TABLE {self._quoted(name)} TO VERSION AS OF {mark}").collect()
        return self._last(name)

    def publish(self, marks: Marks, taken: Taken = _NOTHING) -> None:
        """Makes the versions of a build those that count."""
        replace_manifest(self._folder, Manifest("delta", marks, taken))

    def manifest(self) -> Manifest:
        """The versions of the tables that count, and what updates know."""
        return manifest_of(self._folder)

    def read(self, name: str, mark: int) -> DataFrame:
        """A table of a build."""
        return self._spark.read.format("delta").option("versionAsOf", mark).load(self._folder.path(name))

    def _last(self, name: str) -> int:
        return int(self._spark.sql(f"DESCRIBE HISTORY {self._quoted(name)} LIMIT 1").first()["version"])

    def _quoted(self, name: str) -> str:
        return f"delta.`{self._folder.path(name).replace('`', '``')}`"
