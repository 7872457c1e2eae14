"""Databases and metastores of a job under ``headwater plan``: read for schemas, never changed."""

import json
import os
from pathlib import Path

import psycopg
import pytest
from tests.capture.conftest import SPARK
from tests.connectors import POSTGRESQL
from tests.dryrun.conftest import DryJobs, edges
from tests.sources.postgres import PASSWORD, running_postgres

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif("EVERY_CASE" not in os.environ, reason="a metastore, a database, runs beside plans: a minute"),
]

OF_HIVE = SPARK.replace(".getOrCreate", ".enableHiveSupport().getOrCreate")
MADE = f"""{OF_HIVE}
items.selectExpr("id", "price", "id % 2 AS day").write.partitionBy("day").saveAsTable("sold")
spark.sql("CREATE TABLE texts (id BIGINT, note STRING) STORED AS TEXTFILE")
spark.sql("INSERT INTO texts SELECT id, 'a' FROM sold")
"""
USED = f"""{OF_HIVE}
spark.sql("INSERT INTO texts SELECT id, upper(note) FROM texts WHERE note <> ''")
joined = "SELECT s.id, price, note FROM sold s JOIN texts t USING (id) WHERE day = 1"
spark.sql(f"CREATE TABLE joined STORED AS ORC AS {{joined}}")
spark.table("sold").where("price > 1").write.insertInto("sold")
spark.table("joined").groupBy("note").agg(sf.sum("price").alias("price")).write.saveAsTable("notes")
spark.sql("DROP TABLE sold")
"""

SHOP = f"""{SPARK.replace(".getOrCreate()", f'.config("spark.jars.packages", "{POSTGRESQL}").getOrCreate()')}
import sys
shop = {{"url": sys.argv[1], "user": "postgres", "password": "{PASSWORD}", "driver": "org.postgresql.Driver"}}
stock = spark.read.format("jdbc").options(dbtable="stock", **shop).load()
stock.where("n > 0").select("item").write.mode("overwrite").parquet("items")
spark.read.parquet("items").selectExpr("item", "1 AS n").write.mode("append").format("jdbc").options(
    dbtable="stock", **shop
).save()
spark.read.jdbc(shop["url"], "public.stock", properties=shop).write.mode("overwrite").parquet("copied")
"""
TABLE = "CREATE TABLE stock (item TEXT, n INT); INSERT INTO stock VALUES ('pen', 3);"


def test_a_metastore_of_derby_is_read_and_nothing_of_it_changes(tmp_path: Path) -> None:
    jobs = DryJobs(tmp_path / "jobs")
    jobs.folder.mkdir()
    jobs.write(MADE, "made.py")
    made = jobs.plain("made.py")
    assert made.code == 0, made.err
    jobs.write(USED, "used.py")
    before = jobs.state()
    plan = jobs.planned("used.py")
    assert jobs.state() == before
    assert plan["report"]["failure"] is None, plan["err"]
    found = edges(plan["events"])
    assert len(found) == 4
    assert found == jobs.run_edges("used.py")


def test_a_database_is_read_for_schemas_and_known_ones_do_when_it_is_gone(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    jobs = DryJobs(tmp_path / "jobs")
    jobs.folder.mkdir()
    jobs.environment["HOME"] = os.environ.get("HOME", "/root")
    jobs.write(SHOP, "shop.py")
    planning = ("plan", "--format", "json", "--store", "shop.db", "shop.py")
    with running_postgres(tmp_path / "postgres", TABLE) as server:
        reached = jobs.headwater(*planning, server.url)
        with psycopg.connect(f"postgresql://postgres:{PASSWORD}@{server.address}/postgres") as connection:
            assert connection.execute("SELECT count(*) FROM stock").fetchone() == (1,)
        assert not (jobs.folder / "items").exists()
        run = jobs.run_edges("shop.py", server.url)
    for ended in (reached, jobs.headwater(*planning, server.url)):
        plan = json.loads(ended.out)
        assert plan["report"]["failure"] is None, ended.err[-3000:]
        assert edges(plan["events"]) == run
