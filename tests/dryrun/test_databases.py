"""Databases and metastores of a job under ``headwater plan``: read for schemas, never changed."""

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import create_connection

import psycopg
import pyspark
import pytest
from tests.capture.conftest import SPARK
from tests.connectors import POSTGRESQL
from tests.dryrun.conftest import DryJobs, edges
from tests.ports import free_port
from tests.sources.postgres import PASSWORD, running_postgres

from headwater.capture.java import java_home

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
APPENDED = 'spark.table("sold").where("price > 1").write.insertInto("sold")'
USED = f"""{OF_HIVE}
spark.sql("INSERT INTO texts SELECT id, upper(note) FROM texts WHERE note <> ''")
joined = "SELECT s.id, price, note FROM sold s JOIN texts t USING (id) WHERE day = 1"
spark.sql(f"CREATE TABLE joined STORED AS ORC AS {{joined}}")
{APPENDED}
spark.table("joined").groupBy("note").agg(sf.sum("price").alias("price")).write.saveAsTable("notes")
spark.sql("DROP TABLE sold")
"""

# Hive's logs are in a library that Spark does not have; its own way to make tables needs no script of them.
METASTORE = {
    "hive.async.log.enabled": "false",
    "hive.metastore.schema.verification": "false",
    "datanucleus.schema.autoCreateAll": "true",
    "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
}

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


def site(folder: Path, settings: Mapping[str, str]) -> None:
    """Write ``hive-site.xml``."""
    lines = (f"<property><name>{name}</name><value>{value}</value></property>" for name, value in settings.items())
    folder.mkdir(exist_ok=True)
    (folder / "hive-site.xml").write_text(f"<configuration>{''.join(lines)}</configuration>")


@contextmanager
def running_metastore(folder: Path, warehouse: Path) -> Iterator[str]:
    """A metastore of Hive's that is a service, from the jars that PySpark brings; its address."""
    site(folder, METASTORE | {"hive.metastore.warehouse.dir": str(warehouse)})
    java = Path(java_home() or os.environ["JAVA_HOME"]) / "bin" / "java"
    jars, port = Path(pyspark.__file__).parent / "jars" / "*", free_port()
    service = [java, "-cp", f"{folder}:{jars}", "org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", port]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(list(map(str, service)), cwd=folder, stdout=log, stderr=log)
    try:
        for _ in range(1200):
            assert process.poll() is None, (folder / "log").read_text()
            with suppress(OSError), create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield f"thrift://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("place", ["hive-site.xml", "option"])
def test_a_metastore_that_is_a_service_is_known_from_the_store_and_not_used(tmp_path: Path, place: str) -> None:
    jobs = DryJobs(tmp_path / "jobs")
    jobs.folder.mkdir()
    jobs.environment["SPARK_CONF_DIR"] = str(tmp_path / "conf")
    with running_metastore(tmp_path / "service", jobs.folder / "warehouse") as address:
        option = f'.config("hive.metastore.uris", "{address}").getOrCreate'
        site(tmp_path / "conf", {"hive.metastore.uris": address} if place == "hive-site.xml" else {})
        for name, text in {"made.py": MADE, "used.py": USED.replace(APPENDED, "")}.items():
            jobs.write(text if place == "hive-site.xml" else text.replace(".getOrCreate", option), name)
        made = jobs.headwater("run", "--store", "shop.db", "made.py")
        assert made.code == 0, made.err
        (jobs.folder / "events.ndjson").unlink()
        before = jobs.state().keys()
        assert jobs.planned("used.py")["report"]["failure"] is not None
        plan = jobs.planned("--store", "shop.db", "used.py")
        assert jobs.state().keys() == before
        run = jobs.run_edges("used.py")  # which fails where the plan has made or dropped a table
    assert plan["report"]["failure"] is None, plan["err"]
    assert edges(plan["events"]) == run
