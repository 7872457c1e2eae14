"""Projects of dbt and of Spark's pipelines under ``headwater plan``."""

import os
import shutil
import subprocess
from pathlib import Path

import pyspark
import pytest
from tests.capture.conftest import SPARK
from tests.dryrun.conftest import DryJobs, edges

pytestmark = pytest.mark.spark

ROOT = Path(__file__).resolve().parents[2]
DBT = ROOT / ".venv-dbt" / "bin" / "dbt"
SPECIFICATION = """\
name: tolls
storage: storage
database: tolls
configuration: {spark.sql.warehouse.dir: warehouse, spark.master: local, spark.ui.enabled: "false"}
libraries:
  - glob: {include: transformations/**}
"""
PYTHON_PART = """\
from pyspark import pipelines as dp
from pyspark.sql import SparkSession, functions as sf

spark = SparkSession.active()

@dp.materialized_view(partition_cols=["country"])
def totals():
    return spark.table("big").groupBy("country").agg(sf.sum("amount").alias("total"))

@dp.table
def quantities():
    return spark.readStream.schema("id INT, qty INT").json("lake/quantities")

dp.create_streaming_table("collected")

@dp.append_flow(target="collected")
def of_quantities():
    return spark.readStream.table("quantities").select("qty")
"""
SQL_PART = """\
CREATE MATERIALIZED VIEW shares AS
SELECT country, total / (SELECT sum(total) FROM totals) AS share FROM totals;

CREATE TEMPORARY VIEW big AS SELECT country, amount FROM parquet.`lake/orders` WHERE qty > 1;
"""


@pytest.mark.skipif(pyspark.__version__ < "4.1", reason="pipelines came with Spark 4.1")
def test_a_project_of_pipelines_is_made_by_its_graph(lake: DryJobs) -> None:
    lake.write(SPECIFICATION, "tolls/spark-pipeline.yml")
    lake.write(PYTHON_PART.replace("lake/", f"{lake.folder}/lake/"), "tolls/transformations/tables.py")
    lake.write(SQL_PART.replace("lake/", f"{lake.folder}/lake/"), "tolls/transformations/deep/a_view.sql")
    before = lake.state()
    plan = lake.planned("tolls")
    assert lake.state() == before
    assert (plan["report"]["failure"], plan["report"]["unexecuted"], plan["complete"]) == (None, [], True), plan["err"]
    found = {name.rpartition("/")[2]: value for name, value in edges(plan["events"]).items()}
    orders = f"{lake.folder}/lake/orders"
    assert set(found) == {"totals", "shares", "quantities", "collected"}
    assert found["totals"] == {
        ("country", f"{orders}.country", "IDENTITY"),
        ("total", f"{orders}.amount", "AGGREGATION"),
        ("*", f"{orders}.qty", "FILTER"),
        ("*", f"{orders}.country", "GROUP_BY"),
    }
    assert {source.rpartition("/")[2] for column, source, _ in found["shares"] if column == "share"} == {"totals.total"}
    assert {source.rpartition("/")[2] for _, source, _ in found["collected"]} == {"quantities.qty"}


@pytest.mark.skipif(not DBT.exists(), reason="needs the environment that make .venv-dbt/.ready makes")
def test_the_compiled_models_of_dbt_are_planned_in_their_order(lake: DryJobs) -> None:
    shop = lake.folder / "shop"
    shutil.copytree(ROOT / "tests" / "senders" / "shop", shop)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "DBT_SEND_ANONYMOUS_USAGE_STATS": "false",
        "DO_NOT_TRACK": "1",
        "HOME": str(lake.folder),
    }
    missing = lake.plan("shop")
    assert (missing.code, "run dbt compile" in missing.err) == (1, True), missing.err
    done = subprocess.run(
        [DBT, "compile", "--profiles-dir", "."], cwd=shop, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    plan = lake.planned("shop")
    assert (plan["report"]["failure"], plan["complete"]) == (None, True), plan["err"]
    found = {name.rpartition("/")[2]: value for name, value in edges(plan["events"]).items()}
    assert {(column, source.rpartition("/")[2], kind) for column, source, kind in found["cities"]} == {
        ("city", "people.csv.city", "IDENTITY"),
        ("total", "sales.gross", "AGGREGATION"),
        ("*", "people.csv.city", "GROUP_BY"),
        ("*", "people.csv.customer", "JOIN"),
        ("*", "sales.customer", "JOIN"),
    }
    assert {source.rpartition("/")[2] for column, source, _ in found["sales"] if column == "gross"} == {
        "orders.csv.amount"
    }


PERCENT = f"""\
# %% [markdown]
# Orders by country
# %%
{SPARK}
orders = spark.read.parquet("lake/orders")
orders.createOrReplaceTempView("orders")
# %pip install something
# %% [sql]
# CREATE TABLE percent AS
# SELECT country FROM orders
# %%
import sys, threading, urllib.request

def one():
    if spark.table("orders").toPandas().empty:
        orders.select("qty").write.orc("lake/from_a_thread")

worker = threading.Thread(target=one)
worker.start()
worker.join()
n = spark.sql("SELECT (SELECT count(*) FROM orders) AS n").first().n
tables = spark.sql("SHOW TABLES").where("tableName LIKE 'percent%'").collect()
middle = orders.approxQuantile("amount", [0.5], 0.0)
wide = orders.groupBy("country").pivot("qty").sum("amount")
for row in orders.select("id").toLocalIterator():
    print(row)
for call in (
    lambda: urllib.request.urlopen("http://127.0.0.1:9/x"),
    lambda: orders.rdd.isEmpty(),
):
    try:
        call()
    except Exception as error:
        print(error)
if not tables:
    sys.exit("no table")
wide.write.orc("lake/wide")
sys.exit(4)
print("never")
"""


def test_cells_of_a_percent_script_name_what_data_and_the_world_decide(lake: DryJobs) -> None:
    lake.write(PERCENT, "cells.py")
    before = lake.state()
    plan = lake.planned("cells.py")
    assert lake.state() == before
    report, cell = plan["report"], PERCENT.partition("import sys")[0].count("# %%")

    def at(text: str) -> str:
        lines = PERCENT[PERCENT.index("import sys") :].splitlines()
        return f"cells.py#{cell + 1}:{2 + next(at for at, line in enumerate(lines) if text in line)}"

    assert {one["place"]: (one["action"], one["result"]) for one in report["answers"]} == {
        at("toPandas"): ("toPandas", "no rows"),
        at("SELECT (SELECT"): ("first", "None"),
        at("SHOW TABLES"): ("collect", "as of a command"),
        at("approxQuantile"): ("approxQuantile", "no value"),
        at(".pivot("): ("pivot", "no values"),
        at("toLocalIterator"): ("toLocalIterator", "no rows"),
    }
    assert [(one["place"], one["call"]) for one in report["refusals"]] == [
        (f"cells.py#{cell - 1}:{SPARK.count(chr(10)) + 5}", "%pip install something"),
        (at("urlopen"), "socket.connect"),
        (at("isEmpty"), "RDD.isEmpty"),
    ]
    assert [(f"{one['file']}:{one['first']}", one["last"] - one["first"]) for one in report["unexecuted"]] == [
        (at("print(row)"), 0),
        (at('"no table"'), 0),
        (at("never"), 0),
    ]
    assert (report["failure"], plan["code"]) == ({"place": at("sys.exit(4)"), "error": "SystemExit: 4"}, 1)
    found = edges(plan["events"])
    assert found[f"{lake.folder}/warehouse/percent"] == {("country", f"{lake.folder}/lake/orders.country", "IDENTITY")}
    assert set(found) == {f"{lake.folder}/{name}" for name in ("warehouse/percent", "lake/from_a_thread", "lake/wide")}
