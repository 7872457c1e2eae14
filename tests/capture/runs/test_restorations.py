"""Tables of Delta and Iceberg that are brought back to a former version, from end to end."""

import json

import pytest
from tests import connectors
from tests.capture.conftest import Jobs

RESTORED = """\
import sys
from pyspark.sql import SparkSession

package, catalog, extensions, restore = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .appName("shop")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.databricks.delta.snapshotPartitions", "1")
    .config("spark.jars.packages", package)
    .config("spark.sql.extensions", extensions)
    .config("spark.sql.catalog.spark_catalog", catalog)
    .config("spark.sql.catalog.spark_catalog.type", "hadoop")
    .config("spark.sql.catalog.spark_catalog.warehouse", "warehouse")
    .config("spark.sql.warehouse.dir", "warehouse")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
provider = "delta" if "delta" in package else "iceberg"
spark.sql("CREATE DATABASE IF NOT EXISTS sales")
for source, column in (("people", "email"), ("app", "name")):
    spark.sql(f"SELECT '{source}' AS {column}").write.parquet(source)
spark.sql(f"CREATE TABLE sales.orders USING {provider} AS SELECT email AS v FROM parquet.`people`")
first = spark.sql("DESCRIBE HISTORY sales.orders" if provider == "delta" else "SELECT * FROM sales.orders.snapshots")
version = first.first()["version" if provider == "delta" else "snapshot_id"]
spark.sql("INSERT OVERWRITE sales.orders SELECT name FROM parquet.`app`")
assert spark.table("sales.orders").first().v == "app"
spark.sql(restore.format(version=version))
spark.catalog.refreshTable("sales.orders")
assert spark.table("sales.orders").first().v == "people"
"""

DELTA = (
    connectors.DELTA,
    "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "io.delta.sql.DeltaSparkSessionExtension",
    "RESTORE TABLE sales.orders TO VERSION AS OF {version}",
)
ICEBERG = (
    connectors.ICEBERG,
    "org.apache.iceberg.spark.SparkCatalog",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "CALL spark_catalog.system.rollback_to_snapshot('sales.orders', {version})",
)


@pytest.mark.spark
@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(arguments, id=name, marks=pytest.mark.skipif(not arguments[0], reason="no build for this Spark"))
        for name, arguments in {"delta": DELTA, "iceberg": ICEBERG}.items()
    ],
)
def test_a_table_that_was_restored_is_made_of_what_it_was_made_of_before(
    jobs: Jobs, arguments: tuple[str, ...]
) -> None:
    jobs.write(RESTORED)
    patient = {"HEADWATER_EVENTS": "", "HEADWATER_FLUSH_SECONDS": "120"}  # on a machine that does much else
    ended = jobs.headwater("run", "--store", "lineage.db", "job.py", *arguments, environment=patient)
    assert ended.code == 0, ended.err
    answer = jobs.headwater("roots", "orders.v", "--store", "lineage.db", "--format", "json")
    assert answer.code == 0, answer.err
    roots = {f"{one['column']['name']}.{one['column']['field']}" for one in json.loads(answer.out)["roots"]}
    assert roots == {f"{jobs.folder}/people.email"}
