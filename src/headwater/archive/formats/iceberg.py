"""Tables of a namespace of an Iceberg catalog."""

from collections.abc import Callable
from secrets import token_hex
from threading import Lock

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType, StructField, StructType

from headwater.archive.cache import session_setting
from headwater.archive.formats.differences import in_table_order, merge
from headwater.archive.formats.manifest import Manifest, Marks, UpdateState, read_manifest, written_meanwhile
from headwater.archive.local_rows import local_rows
from headwater.archive.tables import PROPERTY, Table, require_version, version_of

_NO_UPDATES = UpdateState()
_MANIFEST = "headwater"
_TOKEN = "headwater-commit"  # a property of snapshots
_CONFLICTS = ("TABLE_OR_VIEW_ALREADY_EXISTS", "ValidationException", "CommitFailedException")
_NONE = "none"  # by default Iceberg shuffles rows by partition, and their order is lost


class Iceberg:
    """Iceberg tables: a build is a snapshot of each."""

    def __init__(self, spark: SparkSession, namespace: str) -> None:
        self._spark, self._namespace = spark, namespace
        self._committing = Lock()  # by a setting of the session

    def write(self, name: str, rows: DataFrame, table: Table, *, few: bool = False, ordered: bool = False) -> int:
        """Replace a table; its mark is its snapshot. The namespace is made where it is missing.

        Rows of a table with the same columns are overwritten: ``createOrReplace`` replaces also the metadata that
        another builder has committed meanwhile, and with it its snapshot.
        """
        token = token_hex(8)
        self._spark.sql(f"CREATE NAMESPACE IF NOT EXISTS {self._namespace}")
        arranged = in_table_order(rows, table, few=few, ordered=ordered)
        writer = arranged.writeTo(self._whole(name)).using("iceberg")
        writer = writer.tableProperty(PROPERTY, str(version_of(rows.schema)))
        writer = writer.tableProperty("write.distribution-mode", _NONE)
        writer = writer.tableProperty("write.merge.distribution-mode", "hash")
        # By its option, since a session may write several tables at once.
        writer = writer.option(f"snapshot-property.{_TOKEN}", token)
        writer = writer.partitionedBy(*table.partitions) if table.partitions else writer
        if not self._spark.catalog.tableExists(self._whole(name)):
            try:
                writer.create()
                return self._snapshot(name, token)
            except Exception as fault:  # an error of a Spark job is no exception of PySpark's
                if not any(one in str(fault) for one in _CONFLICTS):
                    raise
        self._refresh(name)
        present = self._spark.table(self._whole(name)).schema.simpleString(), self._version(name)
        if present != (rows.schema.simpleString(), version_of(rows.schema)):
            writer.createOrReplace()
        else:
            writer.overwrite(sf.lit(True))
        return self._snapshot(name, token)

    def add(self, name: str, mark: int, rows: DataFrame, table: Table, *, few: bool = False) -> int:
        """Append rows."""
        token = token_hex(8)
        writer = in_table_order(rows, table, few=few).writeTo(self._whole(name))
        writer.option(f"snapshot-property.{_TOKEN}", token).append()
        return self._snapshot(name, token)

    def change(self, name: str, mark: int, changes: DataFrame, table: Table, *, few: bool = False) -> int:
        """Merge the rows that differ."""
        return self._committed(name, lambda: merge(self._whole(name), changes, table))

    def restore(self, name: str, mark: int) -> int:
        """Make a snapshot that is not the last one the current one again."""
        self._refresh(name)
        if self._last(name) != mark:
            catalog, _, namespace = self._namespace.partition(".")
            self._spark.sql(f"CALL {catalog}.system.set_current_snapshot('{namespace}.{name}', {mark})").collect()
        return mark

    def publish(self, before: Manifest, marks: Marks, updates: UpdateState = _NO_UPDATES) -> None:
        """Make the snapshots of a build the current ones, by a commit that fails after another one."""
        text = Manifest("iceberg", marks, updates).text()
        row = local_rows(self._spark, [(text,)], StructType([StructField("manifest", StringType())]))
        writer = row.coalesce(1).writeTo(self._whole(_MANIFEST))
        try:
            if before == Manifest():
                writer.using("iceberg").create()
                return
            self._refresh(_MANIFEST)
            snapshot = self._last(_MANIFEST)
            if self._manifest_of(snapshot) != before:
                raise written_meanwhile(self._namespace)
            writer = writer.option("validate-from-snapshot-id", str(snapshot)).option("isolation-level", "serializable")
            writer.overwrite(sf.lit(True))
        except Exception as fault:  # an error of a Spark job is no exception of PySpark's
            if any(one in str(fault) for one in _CONFLICTS):
                raise written_meanwhile(self._namespace) from None
            raise

    def manifest(self) -> Manifest:
        """The current snapshots of the tables, and the state of updates."""
        if not self._spark.catalog.tableExists(self._whole(_MANIFEST)):
            return Manifest()
        self._refresh(_MANIFEST)
        return self._manifest_of(self._last(_MANIFEST))

    def _manifest_of(self, snapshot: int) -> Manifest:
        row = self._spark.sql(f"SELECT manifest FROM {self._whole(_MANIFEST)} VERSION AS OF {snapshot}").first()
        return read_manifest(row["manifest"], self._namespace)

    def read(self, name: str, mark: int) -> DataFrame:
        """A table of a build."""
        self._refresh(name)
        require_version(self._whole(name), self._version(name))
        return self._spark.sql(f"SELECT * FROM {self._whole(name)} VERSION AS OF {mark}")

    def _version(self, name: str) -> int:
        properties = self._spark.sql(f"SHOW TBLPROPERTIES {self._whole(name)}")
        version = properties.where(f"key = '{PROPERTY}'").first()
        return int(version["value"]) if version else 0

    def _refresh(self, name: str) -> None:
        """Look at a table as it is now: Iceberg's catalogs cache it as a session last saw it (`CachingCatalog`)."""
        self._spark.sql(f"REFRESH TABLE {self._whole(name)}")

    def _committed(self, name: str, commit: Callable[[], object]) -> int:
        token = token_hex(8)
        with self._committing, session_setting(self._spark, f"spark.sql.iceberg.snapshot-property.{_TOKEN}", token):
            commit()
        return self._snapshot(name, token)

    def _snapshot(self, name: str, token: str) -> int:
        """The snapshot of one's own commit: another process may have committed one since."""
        snapshots = f"{self._whole(name)}.snapshots"
        found = self._spark.sql(f"SELECT snapshot_id FROM {snapshots} WHERE summary['{_TOKEN}'] = '{token}'").first()
        if found is None:
            raise written_meanwhile(self._namespace)
        return int(found["snapshot_id"])

    def _last(self, name: str) -> int:
        """The current snapshot, which after a rollback is not the latest one."""
        row = self._spark.sql(f"SELECT snapshot_id FROM {self._whole(name)}.refs WHERE name = 'main'").first()
        return int(row["snapshot_id"])

    def _whole(self, name: str) -> str:
        return f"{self._namespace}.{name}"
