"""A remote Spark Connect server, its jobs watched from the client."""

import importlib.util
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from tests.capture.conftest import Jobs, gaps, short_name, statements, states
from tests.connectors import CONNECT, DELTA, ICEBERG, LAKE, packages
from tests.ports import free_port

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(importlib.util.find_spec("grpc") is None, reason="needs pyspark[connect]"),
]

BIN = Path(pyspark.__file__).parent / "bin"
SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"

JOB = """\
import sys
from pyspark.sql import SparkSession, functions as sf

spark = SparkSession.builder.appName("shop").getOrCreate()
folder = sys.argv[1]
spark.range(3).selectExpr("id", "id * 2 AS price", "'x' AS note").write.parquet(folder + "/items")
items = spark.read.parquet(folder + "/items")
items.groupBy("note").agg(sf.sum("price").alias("total")).write.saveAsTable("totals")
items.createOrReplaceTempView("seen")
spark.sql("CREATE TABLE dear USING parquet AS SELECT id, md5(note) AS h FROM seen WHERE price > 1")
spark.sql("INSERT INTO dear SELECT total, note FROM totals ORDER BY note")
spark.sql("SELECT count(*) FROM dear").collect()
try:
    spark.sql("INSERT INTO dear SELECT raise_error(note), note FROM totals")
except Exception as error:
    print(type(error).__name__)
import headwater
found = headwater.lineage(items.selectExpr("price + id AS total"))
print([root.name for root in found.roots("total")], len(found.gaps))
spark.stop()
"""
ATTACHED = """\
import sys
from pyspark.sql import SparkSession
import headwater

spark = SparkSession.builder.remote(sys.argv[1]).appName("late").getOrCreate()
spark.range(2).write.parquet(sys.argv[2] + "/before")
headwater.attach(spark)
spark.range(2).selectExpr("id AS n").write.parquet(sys.argv[2] + "/after")
headwater.detach(spark)
headwater.detach()
spark.range(2).write.parquet(sys.argv[2] + "/unseen")
spark.stop()
"""


PARAMETERS = """\
import sys
from pyspark.sql import SparkSession, functions as sf

spark = SparkSession.builder.appName("bound").getOrCreate()
folder = sys.argv[1]
spark.range(4).selectExpr("id", "id * 2 AS price", "'x' AS note").write.parquet(folder + "/items")
items = spark.read.parquet(folder + "/items")
items.createOrReplaceTempView("seen")
spark.sql("CREATE TABLE bound USING parquet AS SELECT price AS Total, note AS Note FROM seen")
with_names = "INSERT INTO bound SELECT price + :more, ':more' FROM seen WHERE id > :more LIMIT :n"
spark.sql(with_names, args={"more": 1, "n": 3})
spark.sql("INSERT INTO bound SELECT id, concat(note, ?) FROM seen WHERE note < ?", args=["?", "y"])
items.select(sf.upper("note").alias("NOTE"), sf.col("id").alias("TOTAL")).write.mode("append").saveAsTable("bound")
items.select("id", "note").write.insertInto("bound")
spark.stop()
"""
BOUND = [
    "Note<-IDENTITY note, Total<-IDENTITY price",
    "*<-FILTER id, Total<-TRANSFORMATION price",
    "*<-FILTER note, Note<-TRANSFORMATION note, Total<-IDENTITY id",
    "Note<-TRANSFORMATION note, Total<-IDENTITY id",
    "Note<-IDENTITY note, Total<-IDENTITY id",
]

CHANGES = """\
import sys
from pyspark.sql import SparkSession, functions as sf

spark = SparkSession.builder.appName("lake").getOrCreate()
folder = sys.argv[1]
spark.range(4).selectExpr("id", "id * 2 AS price", "'x' AS note").write.parquet(folder + "/items")
items = spark.read.parquet(folder + "/items")
items.createOrReplaceTempView("items")
spark.sql("CREATE TABLE goods USING delta AS SELECT id, price, note FROM items")
spark.sql("INSERT INTO goods SELECT price, id, upper(note) FROM items WHERE id > 1")
spark.sql("UPDATE goods SET note = concat(note, price) WHERE id > 2")
spark.sql("DELETE FROM goods WHERE price > 5")
spark.sql("MERGE INTO goods g USING items i ON g.id = i.id WHEN MATCHED AND i.note = 'x'"
          " THEN UPDATE SET price = i.price WHEN NOT MATCHED THEN INSERT *")
items.alias("i").mergeInto("goods", sf.col("goods.id") == sf.col("i.price")).whenMatched().update(
    {"note": sf.upper(sf.col("i.note"))}
).merge()
spark.sql("CREATE TABLE ice.d.parts USING iceberg AS SELECT id FROM goods")
spark.sql("DECLARE VARIABLE top BIGINT")
spark.sql("SET VAR top = (SELECT max(price) FROM items WHERE id < 9)")
spark.sql("CREATE TABLE counted (id BIGINT, top BIGINT) USING parquet")
spark.sql("EXECUTE IMMEDIATE 'INSERT INTO counted SELECT id, top FROM items'")
items.select("price", "note").write.csv(folder + "/list", header=True)
spark.read.schema("n INT, s STRING").csv(folder + "/list", header=True).createOrReplaceTempView("listed")
spark.sql("CREATE TABLE renamed USING parquet AS SELECT s, n FROM listed")
stream = spark.readStream.schema(items.schema).parquet(folder + "/items").selectExpr("price AS p", "note")
query = stream.writeStream.queryName("copy").option("checkpointLocation", folder + "/c").trigger(availableNow=True)
query.start(folder + "/copied").awaitTermination()
stream = spark.readStream.table("goods").writeStream.option("checkpointLocation", folder + "/d")
running = stream.trigger(availableNow=True).toTable("streamed")
while running.isActive:
    pass
spark.stop()
"""
EDGES = {
    "goods:create": "id<-IDENTITY id, note<-IDENTITY note, price<-IDENTITY price",
    "goods:insert": "*<-FILTER id, id<-IDENTITY price, note<-TRANSFORMATION note, price<-IDENTITY id",
    "goods:update": "*<-FILTER id, note<-TRANSFORMATION note, note<-TRANSFORMATION price",
    "goods:delete": "*<-FILTER price",
    "goods:merge": "*<-FILTER note, *<-JOIN id, id<-IDENTITY id, note<-IDENTITY note, price<-IDENTITY price",
    "goods:mergeInto": "*<-JOIN id, *<-JOIN price, note<-TRANSFORMATION note",
    "parts": "id<-IDENTITY id",
    "counted:create": "",
    "counted:insert": "id<-IDENTITY id, top<-AGGREGATION price, top<-FILTER id",
    "list": "note<-IDENTITY note, price<-IDENTITY price",
    "renamed": "n<-IDENTITY price, s<-IDENTITY note",
    "copied": "note<-IDENTITY note, p<-IDENTITY price",
    "streamed": "id<-IDENTITY id, note<-IDENTITY note, price<-IDENTITY price",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server of this test's own."""
    folder = tmp_path_factory.mktemp("server")
    port = free_port()
    conf = {"spark.connect.grpc.binding.port": port, "spark.sql.warehouse.dir": folder / "warehouse"}
    # The text of physical plans is read, and is as it is without settings: compiled
    conf |= {"spark.sql.codegen.wholeStage": "true", "spark.sql.shuffle.partitions": 1}
    conf |= {"spark.sql.hive.metastore.uris": "thrift://ms:9083"}
    conf |= {key: value.format(folder=folder) for key, value in LAKE.items()} if DELTA and ICEBERG else {}
    conf["spark.jars.packages"] = packages(CONNECT, DELTA, ICEBERG)
    words = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [BIN / "spark-submit", "--master", "local[1]", *words, "--class", SERVER, "spark-internal"],
            cwd=folder,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _wait(port, process)
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def _wait(port: int, process: "subprocess.Popen[bytes]") -> None:
    while process.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise RuntimeError(f"The Spark Connect server ended with {process.returncode} before it listened.")


def test_a_job_on_a_remote_server_is_watched_from_its_client(jobs: Jobs, server: str) -> None:
    jobs.write(JOB)
    ended = jobs.watched("job.py", jobs.folder, environment={"SPARK_REMOTE": server})
    assert ended.code == 0, ended.err
    error = "SparkRuntimeException" if pyspark.__version__ >= "4" else "SparkConnectGrpcException"
    assert ended.out.splitlines() == [error, "['id', 'price'] 0"]
    events = jobs.events()
    ends = {name.partition(".")[2]: seen[-1] for name, seen in statements(events).items()}
    assert ends == {
        "items": "COMPLETE",
        "default.totals": "COMPLETE",
        "default.dear": "FAIL",
    }
    dear = ["START", "COMPLETE", "START", "COMPLETE", "START", "FAIL"]
    assert statements(events)["shop.default.dear"] == dear
    assert states(events)[-1] == ("shop", "COMPLETE")
    assert gaps(events[-1]) == [("error", "Spark Connect")]
    made = next(one for one in events if short_name(one) == "shop.default.dear" and one["eventType"] == "COMPLETE")
    assert [dataset["name"] for dataset in made["inputs"]] == [f"{jobs.folder}/items"]
    (output,) = made["outputs"]
    assert output["name"].endswith("/warehouse/dear")
    (link,) = output["facets"]["symlinks"]["identifiers"]
    assert (link["namespace"], link["name"]) == ("hive://ms:9083", "default.dear")
    fields = output["facets"]["columnLineage"]["fields"]
    (edge,) = fields["h"]["inputFields"]
    assert (edge["field"], edge["transformations"][0]["masking"]) == ("note", True)
    assert [edge["field"] for edge in output["facets"]["columnLineage"]["dataset"]] == ["price"]


def test_a_session_of_a_remote_server_can_be_attached_to(jobs: Jobs, server: str) -> None:
    jobs.write(ATTACHED)
    ended = jobs.plain("job.py", server, jobs.folder)
    assert ended.code == 0, ended.err
    assert list(statements(jobs.events())) == ["late.after"]


def edges(output: dict[str, Any]) -> str:
    """The edges of an output, by the names of columns alone."""
    facet = output["facets"].get("columnLineage", {"fields": {}})
    found = [(name, one) for name, field in facet["fields"].items() for one in field["inputFields"]]
    found += [("*", one) for one in facet.get("dataset", [])]
    texts = {f"{name}<-{step['subtype']} {one['field']}" for name, one in found for step in one["transformations"]}
    return ", ".join(sorted(texts))


@pytest.mark.skipif(
    pyspark.__version__ >= "4", reason="below the SQL extensions of Delta and Iceberg Spark 4 binds none"
)
def test_statements_with_parameters_and_writes_by_name_have_their_lineage(jobs: Jobs, server: str) -> None:
    jobs.write(PARAMETERS)
    ended = jobs.watched("job.py", jobs.folder, environment={"SPARK_REMOTE": server})
    assert ended.code == 0, ended.err
    outputs = [event["outputs"][0] for event in jobs.events() if event["eventType"] == "COMPLETE" and event["outputs"]]
    assert [edges(output) for output in outputs if output["name"].endswith("/bound")] == BOUND


@pytest.mark.skipif(pyspark.__version__ < "4", reason="Spark has mergeInto from 4.0 on")
@pytest.mark.skipif(not (DELTA and ICEBERG), reason="there is no build of Delta and Iceberg for this Spark")
def test_changes_of_rows_and_streams_have_their_lineage_from_the_client(jobs: Jobs, server: str) -> None:
    jobs.write(CHANGES)
    ended = jobs.watched("job.py", jobs.folder, environment={"SPARK_REMOTE": server})
    assert ended.code == 0, ended.err
    completed = [event for event in jobs.events() if event["eventType"] == "COMPLETE" and event["outputs"]]
    assert [(event["outputs"], gap) for event in completed for gap in gaps(event)] == []
    found = [(event["outputs"][0]["name"].rpartition("/")[2], edges(event["outputs"][0])) for event in completed]
    expected = [(name.partition(":")[0], text) for name, text in EDGES.items()]
    assert sorted(one for one in found if one[0] != "items") == sorted(expected)
    names = [event["outputs"][0]["name"] for event in completed]
    counted = next(Path(name) for name in names if name.endswith("/counted"))
    assert len(list(counted.glob("part-*"))) == 1, "to explain a statement must not run it"
    runs = [
        short_name(event) for event in completed if event["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
    ]
    assert runs == ["lake.copy", "lake.stream.default.streamed"]
