"""Catalogs of Iceberg that are services under ``headwater plan``: asked for tables, never to change one."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.connectors import ICEBERG
from tests.dryrun.conftest import DryJobs
from tests.dryrun.test_databases import running_metastore

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not ICEBERG, reason="there is no build of Iceberg for this Spark"),
]

SESSION = f"""import sys
from pyspark.sql import SparkSession
kind, uri, warehouse = sys.argv[1:4]
shop = dict(type=kind, uri=uri, warehouse=warehouse)
builder = SparkSession.builder.master("local[1]").config("spark.jars.packages", "{ICEBERG}")
builder.config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
builder.config("spark.sql.catalog.shop", "org.apache.iceberg.spark.SparkCatalog")
builder.config("spark.sql.catalog.shop.cache-enabled", "false").config("spark.ui.enabled", "false")
builder.config("spark.hadoop.iceberg.engine.hive.lock-enabled", "false")  # the metastore of tests has no transactions
for name, value in shop.items():
    builder.config(f"spark.sql.catalog.shop.{{name}}", value)
spark = builder.getOrCreate()
"""

COMMANDS = (
    "INSERT INTO shop.db.old SELECT 2, 3",
    "INSERT OVERWRITE shop.db.old SELECT 3, 4",
    "DELETE FROM shop.db.old",
    "DELETE FROM shop.db.old WHERE n = 1",
    "UPDATE shop.db.old SET n = 2",
    "MERGE INTO shop.db.old t USING (SELECT 1 AS n, 2 AS m) s ON s.n = t.n"
    " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "TRUNCATE TABLE shop.db.old",
    "ALTER TABLE shop.db.old ADD COLUMN k INT",
    "ALTER TABLE shop.db.old SET TBLPROPERTIES ('a' = 'b')",
    "ALTER TABLE shop.db.old WRITE ORDERED BY n",
    "ALTER TABLE shop.db.old ADD PARTITION FIELD n",
    "ALTER TABLE shop.db.old CREATE BRANCH b",
    "CALL shop.system.expire_snapshots(table => 'db.old')",
    "CALL shop.system.register_table(table => 'db.registered', metadata_file => 'file:/lake/v1.json')",
    "ALTER TABLE shop.db.old RENAME TO shop.db.other",
    "CREATE TABLE shop.db.made (n INT) USING iceberg",
    "CREATE TABLE shop.db.copied USING iceberg AS SELECT n FROM shop.db.old",
    "CREATE OR REPLACE TABLE shop.db.old USING iceberg AS SELECT 1 AS n",
    "CREATE NAMESPACE shop.more",
    "CREATE VIEW shop.db.v AS SELECT n FROM shop.db.old",
    "CREATE OR REPLACE VIEW shop.db.v AS SELECT n FROM shop.db.old",
    "DROP TABLE shop.db.old",
    "DROP TABLE shop.db.old PURGE",
    "USE shop.db",
    "INSERT INTO old SELECT 5, 6",
    "CALL system.expire_snapshots('db.old')",
    "DROP TABLE IF EXISTS old",
)
PLANNED = f"""{SESSION}
for command in {COMMANDS!r}:
    spark.sql(command)
print("there is", [row.tableName for row in spark.sql("SHOW TABLES IN shop.db").collect()])
rows = spark.range(1).selectExpr("int(id) AS n", "1 AS m")
rows.writeTo("shop.db.old").append()
rows.write.format("iceberg").mode("append").save("shop.db.old")
rows.write.format("iceberg").mode("overwrite").saveAsTable("shop.db.made")
ticks = spark.readStream.format("rate").load().selectExpr("int(value) AS n", "1 AS m").writeStream
ticks.option("checkpointLocation", "first").toTable("shop.db.old").awaitTermination()
ticks.option("checkpointLocation", "second").format("iceberg").start("shop.db.old").awaitTermination()
spark.table("shop.db.old").write.parquet("copied")
"""

COLUMNS = [{"id": number, "name": name, "required": False, "type": "int"} for number, name in enumerate("nm", 1)]
METADATA: dict[str, Any] = {
    "format-version": 2,
    "table-uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1",
    "location": "file:/lake/old",
    "last-sequence-number": 0,
    "last-updated-ms": 1_602_638_573_590,
    "last-column-id": 2,
    "current-schema-id": 0,
    "schemas": [{"type": "struct", "schema-id": 0, "fields": COLUMNS}],
    "default-spec-id": 0,
    "partition-specs": [{"spec-id": 0, "fields": []}],
    "last-partition-id": 999,
    "default-sort-order-id": 0,
    "sort-orders": [{"order-id": 0, "fields": []}],
}
NAMESPACE = "/v1/{prefix}/namespaces/{namespace}"
ENDPOINTS = [
    f"{method} {path}"
    for path in (NAMESPACE, f"{NAMESPACE}/tables", f"{NAMESPACE}/tables/{{table}}", f"{NAMESPACE}/register")
    for method in ("GET", "HEAD", "POST", "DELETE")
]
ENDPOINTS += [one.replace("tables/{table}", "views/{view}").replace("tables", "views") for one in ENDPOINTS]
DOCUMENTS: dict[str, dict[str, Any]] = {
    "/v1/config": {"defaults": {}, "overrides": {}, "endpoints": sorted(set(ENDPOINTS))},
    "/v1/namespaces/db": {"namespace": ["db"], "properties": {}},
    "/v1/namespaces/db/tables": {"identifiers": [{"namespace": ["db"], "name": "old"}]},
    "/v1/namespaces/db/tables/old": {"metadata-location": "file:/lake/v1.json", "metadata": METADATA, "config": {}},
}
"""Answers of the REST catalog of Iceberg (open-api/rest-catalog-open-api.yaml) with one table, ``db.old``."""


@contextmanager
def running_rest_catalog(requests: list[tuple[str, str]]) -> Iterator[str]:
    """A REST catalog that notes each request and answers those that read; its address."""

    class Catalog(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            requests.append((self.command, path))
            kind = "NoSuchViewException" if "/views" in path else "NoSuchTableException"
            missing = {"error": {"message": "there is none", "type": kind, "code": 404}}
            self.reply(200 if path in DOCUMENTS else 404, DOCUMENTS.get(path, missing))

        do_HEAD = do_GET  # noqa: N815 - as http.server calls it

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            requests.append((self.command, self.path))
            self.reply(503, {"error": {"message": "no", "type": "ServiceUnavailableException", "code": 503}})

        do_PUT = do_DELETE = do_POST  # noqa: N815

        def reply(self, code: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Write nothing on standard error."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Catalog) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def planned(jobs: DryJobs, *arguments: object) -> dict[str, Any]:
    jobs.write(PLANNED, "planned.py")
    # Not sealed: the catalog is out of reach there, and Ivy writes a file even where it has all jars.
    ended = jobs.headwater("plan", "--format", "json", "planned.py", *arguments, jobs.folder / "ice")
    plan: dict[str, Any] = json.loads(ended.out)
    assert plan["report"]["failure"] is None, ended.err[-3000:]
    assert "there is ['old']" in ended.err
    return plan


@pytest.fixture
def jobs(tmp_path: Path) -> DryJobs:
    found = DryJobs(tmp_path / "jobs")
    found.folder.mkdir()
    found.environment["HOME"] = os.environ.get("HOME", "/root")
    return found


def test_a_rest_catalog_is_only_read(jobs: DryJobs) -> None:
    """By commands, procedures, which run while they are analyzed, and streams, whose batches are no commands."""
    requests: list[tuple[str, str]] = []
    with running_rest_catalog(requests) as address:
        plan = planned(jobs, "rest", address)
    assert [one for one in requests if one[0] not in ("GET", "HEAD")] == []
    assert ("GET", "/v1/namespaces/db/tables/old") in requests
    refused = [one["reason"].split()[-2] for one in plan["report"]["refusals"]]
    assert {"AppendData", "Call", "CreateIcebergView", "WriteToDataSourceV2"} <= set(refused)
    copied = [one["outputs"][0]["facets"]["columnLineage"] for one in plan["events"] if "copied" in str(one["outputs"])]
    assert any({"n", "m"} <= one["fields"].keys() for one in copied)


MADE = f"""{SESSION}
spark.sql("CREATE NAMESPACE shop.db")
spark.sql("CREATE TABLE shop.db.old (n INT, m INT) USING iceberg")
spark.sql("INSERT INTO shop.db.old VALUES (1, 2)")
"""
LOOKED = f"""{SESSION}
rows = [spark.sql(f"SHOW {{kind}}").collect() for kind in ("NAMESPACES IN shop", "TABLES IN shop.db")]
print("state", rows, spark.table("shop.db.old.metadata_log_entries").collect(), spark.table("shop.db.old").collect())
"""


@pytest.mark.skipif("EVERY_CASE" not in os.environ, reason="a metastore, and runs beside a plan: a minute")
def test_a_metastore_of_hives_with_tables_of_iceberg_is_only_read(jobs: DryJobs, tmp_path: Path) -> None:
    jobs.write(MADE, "made.py")
    jobs.write(LOOKED, "looked.py")
    with running_metastore(tmp_path / "service", jobs.folder / "warehouse") as address:
        place = ("hive", address, jobs.folder / "ice")
        made = jobs.plain("made.py", *place)
        assert made.code == 0, made.err
        before = jobs.state(), jobs.plain("looked.py", *place).out
        planned(jobs, *place[:2])
        (jobs.folder / "planned.py").unlink()
        assert (jobs.state(), jobs.plain("looked.py", *place).out) == before
    assert "state" in before[1]
