"""A Spark application that runs the pairs of a kind; the tests start it under ``headwater run``.

Usage: ``application.py PLAN``, a JSON file with ``conf``, ``folder``, ``setup``, ``jdbc``, ``jobs`` and ``writers``,
each with its ``readers``. What a writer or a reader raised goes into ``folder/ran.json``, by the number of the pair.

In the scope of both: ``spark``, ``sql``, ``F``, ``ps``, ``os``, ``glob``, ``url`` and ``connection`` of JDBC,
``database``, which runs SQL in it; ``path``, ``table``, ``ice``, ``ice_path``: where ``mid`` is, as its kind
has it; ``done``, which starts a streaming writer and waits until it has read all there is, ``checkpointed``,
which gives it a checkpoint. A writer has ``new`` and the same as ``stream`` and as a temporary ``view``, the
``source_table`` and a ``name`` of its own; a reader ``format``, ``options``, ``columns``, ``partitioned``, a
``name`` of its own and that of the writer, ``of``.
"""

import itertools
import json
import os
import shutil
import sys
import traceback
from glob import glob
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

SCHEMA = "id int, name string, country string"
NEW = ["id AS Key", "upper(name) AS Title", "country AS Land"]
CHECKPOINTS = itertools.count()


def start(plan):
    builder = SparkSession.builder
    for key, value in plan["conf"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    for statement in plan["setup"]:
        spark.sql(statement)
    return spark


def in_database(spark, url, connection):
    def run(statement):
        manager = spark._jvm.java.sql.DriverManager
        connected = manager.getConnection(url, connection["user"], connection["password"])
        connected.createStatement().execute(statement)
        connected.close()

    return run


def common_scope(spark, plan):
    import pyspark.pandas as ps

    def checkpointed(writer):
        place = f"{plan['folder']}/checkpoint_{next(CHECKPOINTS)}"
        return writer.option("checkpointLocation", place).trigger(availableNow=True)

    jdbc = plan["jdbc"]
    return {
        "spark": spark,
        "sql": spark.sql,
        "F": F,
        "ps": ps,
        "os": os,
        "glob": glob,
        "checkpointed": checkpointed,
        "done": lambda writer: checkpointed(writer).start().awaitTermination(),
        "url": jdbc.get("url"),
        "connection": jdbc,
        "database": in_database(spark, jdbc.get("url"), jdbc),
    }


def source_of(spark, plan, number, streamed=False):
    """A frame over a source of the writer's own: csv for every other one."""
    folder, kind = f"{plan['folder']}/source_{number}", "csv" if number % 2 else "parquet"
    if not os.path.exists(folder):
        shutil.copytree(f"{plan['folder']}/unwatched_{kind}", folder)
    reader = spark.readStream if streamed else spark.read
    return reader.format(kind).schema(SCHEMA).option("header", True).load(folder), folder, kind


def places(plan, writer):
    name = f"mid_{writer['number']}"
    managed = f"{plan['folder']}/warehouse/chains.db/{name}"
    return {
        "table": f"chains.{name}",
        "path": managed if writer["managed"] else f"{plan['folder']}/data/{name}",
        "ice": f"ice.d.{name}",
        "ice_path": f"{plan['folder']}/ice/d/{name}",
    }


def write(spark, plan, common, writer):
    # Where a data source is registered; sessions of readers before may be the active one.
    spark._jvm.org.apache.spark.sql.SparkSession.setActiveSession(spark._jsparkSession)
    number = writer["number"]
    source, folder, kind = source_of(spark, plan, number)
    new = source.selectExpr(*NEW)
    new.createOrReplaceTempView(f"new_{number}")
    names = {**common, **places(plan, writer), "new": new, "view": f"new_{number}", "name": f"mid_{number}"}
    if "stream" in writer["code"]:
        names["stream"] = source_of(spark, plan, number, streamed=True)[0].selectExpr(*NEW)
    if "source_table" in writer["code"]:
        names["source_table"] = f"chains.source_{number}"
        spark.sql(f"CREATE TABLE chains.source_{number} USING {kind} OPTIONS (header 'true') LOCATION '{folder}'")
    execute(writer["code"], names, "writer: " + writer["title"])


def read(spark, plan, common, writer, reader):
    names = {**common, **places(plan, writer)}
    options = {key: writer[key] for key in ("format", "options", "partitioned")}
    named = {"columns": reader["columns"], "name": f"read_{reader['number']}", "of": f"mid_{writer['number']}"}
    names |= {**options, **named}
    execute(reader["code"], names, "reader: " + reader["title"])
    out = f"{plan['folder']}/out_{reader['number']}"
    if "stream_of_mid" in names:
        stream = names["stream_of_mid"].selectExpr(*reader["select"])
        common["done"](stream.writeStream.format("parquet").option("path", out))
    else:
        names["mid"].selectExpr(*reader["select"]).write.parquet(out)


def work(spark, plan, common, job):
    """Run a job of a long chain in a session of its own."""
    own, folder = spark.newSession(), f"{plan['long']}/{job['chain']}"
    names = {"spark": own, "sql": own.sql, "folder": folder, "out": f"{folder}/out", "shared": plan["folder"]}
    execute(job["code"], {**common, **names}, "job: " + job["title"])


def execute(code, names, title):
    exec(compile(code, title, "exec"), names)


def attempt(what, *arguments):
    """The error that something raises, as text."""
    try:
        what(*arguments)
    except Exception:
        return traceback.format_exc()
    return ""


def main():
    plan = json.loads(Path(sys.argv[1]).read_text())
    spark = start(plan)
    common = common_scope(spark, plan)
    ran = {}
    for writer in plan["writers"]:
        failed = attempt(write, spark, plan, common, writer)
        for reader in writer["readers"]:
            ran[reader["number"]] = failed or attempt(read, spark, plan, common, writer, reader)
            spark.sql("USE default")
    for job in plan["jobs"]:
        ran[job["title"]] = attempt(work, spark, plan, common, job)
    Path(plan["folder"], "ran.json").write_text(json.dumps(ran))
    spark.stop()


main()
