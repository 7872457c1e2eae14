"""Tables of Delta Lake, one folder for each."""

from collections.abc import Callable
from secrets import token_hex
from threading import Lock

from pyspark.sql import DataFrame, DataFrameWriter, Row, SparkSession

from headwater.archive.cache import session_setting
from headwater.archive.formats.differences import in_table_order, merge
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.manifest import (
    Manifest,
    Marks,
    UpdateState,
    manifest_of,
    replace_manifest,
    written_meanwhile,
)
from headwater.archive.tables import Table

_NO_UPDATES = UpdateState()
_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_COMMITS = 50  # that are looked through for one's own


class Delta:
    """Delta tables: a build is a version of each."""

    def __init__(self, spark: SparkSession, folder: Folder) -> None:
        self._spark, self._folder = spark, folder
        self._committing = Lock()  # by a setting of the session

    def write(self, name: str, rows: DataFrame, table: Table, *, few: bool = False, ordered: bool = False) -> int:
        """Replace a table; its mark is its version."""
        writer = (
            in_table_order(rows, table, few=few, ordered=ordered)
            .write.format("delta")
            .mode("overwrite")
            .option("overwriteSchema", "true")
        )
        writer = writer.partitionBy(*table.partitions)
        return self._saved(name, writer)

    def add(self, name: str, mark: int, rows: DataFrame, table: Table, *, few: bool = False) -> int:
        """Append rows."""
        writer = in_table_order(rows, table, few=few).write.format("delta").mode("append")
        return self._saved(name, writer)

    def change(self, name: str, mark: int, changes: DataFrame, table: Table, *, few: bool = False) -> int:
        """Merge the rows that differ."""
        return self._committed(name, lambda: merge(self._quoted(name), changes, table))

    def restore(self, name: str, mark: int) -> int:
        """Restore a version that is not the last one, which makes one more."""
        if self._history(name, 1)[0]["version"] == mark:
            return mark
        command = f"RESTORE TABLE {self._quoted(name)} TO VERSION AS OF {mark}"
        return self._committed(name, lambda: self._spark.sql(command).collect())

    def publish(self, before: Manifest, marks: Marks, updates: UpdateState = _NO_UPDATES) -> None:
        """Make the versions of a build the current ones."""
        replace_manifest(self._folder, Manifest("delta", marks, updates), before)

    def manifest(self) -> Manifest:
        """The current versions of the tables, and the state of updates."""
        return manifest_of(self._folder)

    def read(self, name: str, mark: int) -> DataFrame:
        """A table of a build."""
        return self._spark.read.format("delta").option("versionAsOf", mark).load(self._folder.path(name))

    def _saved(self, name: str, writer: DataFrameWriter) -> int:
        """Commit the rows of a writer; by its option, since a session may write several tables at once."""
        token = token_hex(8)
        writer.option("userMetadata", token).save(self._folder.path(name))
        return self._version(name, token)

    def _committed(self, name: str, commit: Callable[[], object]) -> int:
        token = token_hex(8)
        with self._committing, session_setting(self._spark, _METADATA, token):
            commit()
        return self._version(name, token)

    def _version(self, name: str, token: str) -> int:
        """The version of one's own commit: another process may have committed one since."""
        found = [row["version"] for row in self._history(name, _COMMITS) if row["userMetadata"] == token]
        if not found:
            raise written_meanwhile(self._folder.root)
        return int(found[0])

    def _history(self, name: str, commits: int) -> list[Row]:
        rows: list[Row] = self._spark.sql(f"DESCRIBE HISTORY {self._quoted(name)} LIMIT {commits}").collect()
        return rows

    def _quoted(self, name: str) -> str:
        return f"delta.`{self._folder.path(name).replace('`', '``')}`"
