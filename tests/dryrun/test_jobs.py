"""Jobs under ``headwater plan``: their lineage is that of a run, nothing changes, and what data decides is named."""

import shutil

import pytest
from tests.capture.conftest import SPARK
from tests.dryrun.conftest import DryJobs, edges

pytestmark = pytest.mark.spark

WHOLE = f"""{SPARK}
orders = spark.read.parquet("lake/orders")
countries = spark.read.csv("lake/countries", header=True, inferSchema=True)

@sf.udf("string")
def shout(text):
    return text.upper()

def main():
    big = orders.where("qty > 1").join(countries, "id").groupBy(orders.country)
    big.agg(sf.sum("amount").alias("total")).write.mode("overwrite").saveAsTable("totals")
    spark.table("totals").select(shout("country").alias("c"), "total").createOrReplaceTempView("shouted")
    spark.sql("CREATE TABLE daily USING json AS SELECT c, total, 1 AS n FROM shouted ORDER BY total")
    spark.table("daily").select("c", "n").write.csv("lake/daily", header=True)
    spark.read.csv("lake/daily", header=True).write.partitionBy("c").parquet("lake/by_c")
    spark.sql("INSERT INTO totals SELECT c, total FROM daily")
    spark.read.json("lake/quantities").select("qty").write.insertInto("quantities")

spark.sql("CREATE TABLE quantities (q BIGINT) USING parquet")
if __name__ == "__main__":
    main()
"""

DECIDED = f"""{SPARK}
import os, socket, subprocess
from pyspark.streaming import StreamingContext
orders = spark.read.parquet("lake/orders")
if orders.count() > 1:
    orders.write.parquet("lake/several")
for row in orders.select("country").distinct().collect():
    orders.where(sf.col("country") == row.country).write.parquet(f"lake/{{row.country}}")
if orders.isEmpty():
    orders.select("id").write.parquet("lake/none")
print(items.count(), "rows of the program's own")
orders.foreach(print)
for call in (
    lambda: open("left.txt", "w"),
    lambda: os.remove("lake.py"),
    lambda: subprocess.run(["touch", "left.txt"]),
    lambda: socket.create_connection(("192.0.2.1", 80), timeout=1),
    lambda: StreamingContext(spark.sparkContext, 1).start(),
):
    try:
        call()
    except Exception as error:
        print(error)
orders.rdd.map(lambda row: row.id).collect()
"""


def test_edges_are_those_of_the_run_and_nothing_changes(lake: DryJobs) -> None:
    lake.write(WHOLE)
    before = lake.state()
    plan = lake.planned("job.py")
    assert lake.state() == before
    assert (plan["code"], plan["report"]["unexecuted"], plan["complete"]) == (0, [], True), plan["err"]
    found = edges(plan["events"])
    assert len(found) == 5
    assert found == lake.run_edges("job.py")
    for name in ("warehouse", "lake/daily", "lake/by_c"):
        shutil.rmtree(lake.folder / name)


def test_what_data_or_the_world_decides_is_named_with_its_line(lake: DryJobs) -> None:
    lake.write(DECIDED, "decided.py")
    before = lake.state()
    plan = lake.planned("decided.py")
    assert lake.state() == before
    report, lines = plan["report"], DECIDED.splitlines()

    def at(text: str) -> str:
        return f"decided.py:{next(number for number, line in enumerate(lines, 1) if text in line)}"

    assert [(one["place"], one["action"]) for one in report["answers"]] == [
        (at("orders.count()"), "count"),
        (at("distinct().collect()"), "collect"),
        (at("orders.isEmpty()"), "isEmpty"),
    ]
    assert [(one["place"], one["call"]) for one in report["refusals"]] == [
        (at("orders.foreach"), "foreach"),
        (at('open("left.txt"'), "open"),
        (at("os.remove"), "os.remove"),
        (at("subprocess.run"), "subprocess.Popen"),
        (at("socket.create_connection"), "socket.connect"),
        (at("StreamingContext(spark"), "StreamingContext.start"),
        (at("orders.rdd.map"), "RDD.collect"),
    ]
    never_ran = [(f"{one['file']}:{one['first']}", one["last"] - one["first"]) for one in report["unexecuted"]]
    assert never_ran == [(at("lake/several"), 0), (at("row.country).write"), 0)]
    assert report["failure"]["place"] == at("orders.rdd.map")
    assert plan["code"] == 1
    assert "3 rows of the program's own" in plan["err"]
    assert set(edges(plan["events"])) == {f"{lake.folder}/lake/none"}


def test_answers_of_a_file_are_used_and_the_lineage_is_stored(lake: DryJobs) -> None:
    job = DECIDED.splitlines()[: DECIDED.splitlines().index("orders.foreach(print)")]
    lake.write("\n".join(job), "answered.py")
    count = next(number for number, line in enumerate(job, 1) if "orders.count()" in line)
    lake.write(f"answered.py:{count}: 7\nanswered.py:{count + 2}: [country: DE, country: FR]\n", "answers.yml")
    ended = lake.plan("--answers", "answers.yml", "--store", "lineage.db", "answered.py")
    assert ended.code == 3, ended.err
    assert f"answered.py:{count}  count depends on data    7" in ended.out, ended.out
    roots = lake.headwater("roots", "--store", "lineage.db", "several.amount")
    assert "orders.amount" in roots.out, roots.err
    assert lake.headwater("roots", "--store", "lineage.db", "FR.country").code == 0
