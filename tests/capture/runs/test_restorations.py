"""Tables of Delta and Iceberg that are brought back to a former version, from end to end."""

import json

import pytest
from tests import connectors
from tests.capture.conftest import Jobs

RESTORED = """\
import json
import sys
from pyspark.sql import SparkSession

settings, *tables = map(json.loads, sys.argv[1:])
builder = (
    SparkSession.builder.master("local[1]")
    .appName("shop")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.sql.warehouse.dir", "warehouse")
)
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("OFF")
for source, column in (("people", "email"), ("app", "name")):
    spark.sql(f"SELECT '{source}' AS {column}").write.parquet(source)
for provider, table, versions, version_of, restore in tables:
    spark.sql("CREATE DATABASE IF NOT EXISTS " + table.rpartition(".")[0])
    spark.sql(f"CREATE TABLE {table} USING {provider} AS SELECT email AS v FROM parquet.`people`")
    version = spark.sql(versions).first()[version_of]
    spark.sql(f"INSERT OVERWRITE {table} SELECT name FROM parquet.`app`")
    assert spark.table(table).first().v == "app"
    spark.sql(restore.format(version=version))
    spark.catalog.refreshTable(table)
    assert spark.table(table).first().v == "people"
"""

DELTA = (
    "delta",
    "sales.orders",
    "DESCRIBE HISTORY sales.orders",
    "version",
    "RESTORE TABLE sales.orders TO VERSION AS OF {version}",
)
ICEBERG = (
    "iceberg",
    "ice.shop.returns",
    "SELECT * FROM ice.shop.returns.snapshots",
    "snapshot_id",
    "CALL ice.system.rollback_to_snapshot('shop.returns', {version})",
)
TABLES = {"orders": DELTA if connectors.DELTA else None, "returns": ICEBERG if connectors.ICEBERG else None}


@pytest.mark.spark
@pytest.mark.skipif(not any(TABLES.values()), reason="no build for this Spark")
def test_a_table_that_was_restored_is_made_of_what_it_was_made_of_before(jobs: Jobs) -> None:
    jobs.write(RESTORED)
    settings = {name: value.format(folder=jobs.folder) for name, value in connectors.LAKE.items()}
    present = {name: arguments for name, arguments in TABLES.items() if arguments}
    patient = {"HEADWATER_EVENTS": "", "HEADWATER_FLUSH_SECONDS": "120"}  # on a machine that does much else
    arguments = map(json.dumps, (settings, *present.values()))
    ended = jobs.headwater("run", "--store", "lineage.db", "job.py", *arguments, environment=patient)
    assert ended.code == 0, ended.err
    for name in present:
        answer = jobs.ask("roots", f"{name}.v", "--store", jobs.folder / "lineage.db")
        roots = {f"{one['column']['name']}.{one['column']['field']}" for one in answer["roots"]}
        assert roots == {f"{jobs.folder}/people.email"}, name
