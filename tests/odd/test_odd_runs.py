"""Runs that fail, are cancelled, retried or cut off, and names that are awkward: in one application."""

from collections import Counter
from typing import Any

import pytest
from tests.capture.conftest import Ended, Jobs, states

pytestmark = pytest.mark.spark

JOB = """\
import threading, time
from pyspark import InheritableThread, TaskContext
from pyspark.sql import SparkSession, functions as sf

spark = (
    SparkSession.builder.master("local[2,3]").appName("shop").config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2").config("spark.sql.warehouse.dir", "warehouse").getOrCreate()
)
context = spark.sparkContext
context.setLogLevel("OFF")
items = spark.range(3).select(sf.col("id"), (sf.col("id") * 2).alias("price"))
items.write.parquet("items")
items = spark.read.parquet("items")

# Each session has its own current database, which it leaves at once.
for name in "ab":
    spark.sql(f"CREATE DATABASE {name}")
    session = spark.newSession()
    session.sql(f"USE {name}")
    session.read.parquet("items").write.saveAsTable("same")
    session.sql("USE default")

# The plan changes as it runs: one run all the same.
left, right = (spark.read.parquet("items").repartition(2, "id") for _ in "lr")
left.join(right, "id").groupBy("id").count().write.parquet("adapted")

# Each task fails once.
def flaky(number):
    if TaskContext.get().attemptNumber() == 0:
        raise ValueError("not yet")
    return number + 1
items.select(sf.udf(flaky, "long")("id").alias("next")).write.parquet("retried")

def attempt(write):
    try:
        write()
        print("no error")
    except Exception as error:
        print(type(error).__name__)

def broken(number):
    raise ValueError("no good " + "x" * 20000)
attempt(lambda: items.select("price", sf.udf(broken, "long")("id").alias("bad")).write.parquet("broken"))
attempt(lambda: items.select(sf.col("missing")).write.parquet("nowhere"))
attempt(lambda: spark.sql("INSERT INTO nowhere SELECT * FROM parquet.items"))

# Connectors whose classes are not there.
spark.conf.set("spark.sql.catalog.lost", "org.nowhere.Catalog")
attempt(lambda: spark.sql("CREATE TABLE lost.db.t AS SELECT * FROM parquet.items"))
attempt(lambda: items.write.format("org.nowhere.lake").save("lake"))

def slow(number):
    time.sleep(60)
    return number
sleeping = items.select(sf.udf(slow, "long")("price").alias("slept"))

def cancelled():
    context.setJobGroup("slow", "to be cancelled")
    attempt(lambda: sleeping.write.parquet("cancelled"))
thread = InheritableThread(target=cancelled)
thread.start()
while not context.statusTracker().getJobIdsForGroup("slow"):
    time.sleep(0.1)
context.cancelJobGroup("slow")
thread.join()

# Tables that are gone when their event is handled.
for number in range(5):
    items.write.saveAsTable(f"gone{number}")
    spark.sql(f"DROP TABLE gone{number}")

# What the pandas API and the fitting of a model do behind the back of the program.
import pyspark.pandas as ps
from pyspark.ml.feature import StringIndexer
if spark.version.startswith("4.0"):
    ps.set_option("compute.fail_on_ansi_mode", False)  # that version alone wants to be told
frame = ps.read_parquet("items")
len(frame), frame.head(1), frame.price.max(), str(frame)
StringIndexer(inputCol="price", outputCol="n").fit(items).transform(items).count()

odd = ["a.b", "with `tick`", "two\\nlines", "größe", "日本", "x" * 10000, " "]
named = items.select(*(sf.col("id").alias(name) for name in odd))
named.write.json("odd/ö `x` y")
named.drop(*odd[2:]).write.saveAsTable("odd_name")

# A checkpoint and an RDD on the way.
kept = items.where("price > 0").localCheckpoint()
kept.rdd.map(lambda row: (row.price,)).toDF(["p"]).write.parquet("by_rdd")
kept.write.parquet("kept")
import headwater
print(headwater.lineage(kept.select("price")).roots("price")[0].name)

thread = threading.Thread(target=lambda: attempt(lambda: sleeping.write.parquet("cut_off")))
thread.start()
while not context.statusTracker().getActiveJobsIds():
    time.sleep(0.1)
time.sleep(1)
spark.stop()
thread.join()
"""

Event = dict[str, Any]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    return Jobs(tmp_path_factory.mktemp("odd"))


@pytest.fixture(scope="module")
def ended(jobs: Jobs) -> Ended:
    jobs.write(JOB)
    return jobs.watched("job.py")


@pytest.fixture
def runs(ended: Ended, jobs: Jobs) -> dict[str, list[Event]]:
    """The events of each output by the last part of its name, or by its name in the catalog."""
    found: dict[str, list[Event]] = {}
    for event in jobs.events():
        for output in event["outputs"]:
            symlinks = output["facets"].get("symlinks", {"identifiers": []})["identifiers"]
            name = symlinks[0]["name"] if symlinks else output["name"].rpartition("/")[2]
            found.setdefault(name, []).append(event)
    return found


def kinds(events: list[Event]) -> list[str]:
    return [event["eventType"] for event in events]


def edges(events: list[Event]) -> dict[str, list[str]]:
    """The edges of each column of the output, ``?`` marks those that are opaque."""
    fields = events[-1]["outputs"][0]["facets"]["columnLineage"]["fields"]
    return {
        name: [
            f"{step['subtype']}{'?' * step.get('opaque', False)} {one['field']}"
            for one in field["inputFields"]
            for step in one["transformations"]
        ]
        for name, field in fields.items()
    }


def test_the_job_is_not_disturbed(ended: Ended) -> None:
    assert ended.code == 0, ended.err
    raised = ended.out.split()
    assert raised[:3] == ["PythonException", "AnalysisException", "AnalysisException"]
    assert raised[6] == "price"
    assert len(raised) == 8
    assert "no error" not in ended.out
    assert "headwater gave up" not in ended.err


def test_every_session_has_its_own_current_database(runs: dict[str, list[Event]]) -> None:
    for name in ("a", "b"):
        events = runs[f"{name}.same"]
        assert kinds(events) == ["START", "COMPLETE"]
        assert events[0]["outputs"][0]["name"].endswith(f"/{name}.db/same")


@pytest.mark.parametrize("name", ["adapted", "retried"])
def test_a_write_is_one_run_however_often_it_is_planned_or_tried(runs: dict[str, list[Event]], name: str) -> None:
    assert kinds(runs[name]) == ["START", "COMPLETE"]


def test_a_write_of_tasks_that_failed_first_has_its_lineage(runs: dict[str, list[Event]]) -> None:
    assert edges(runs["retried"]) == {"next": ["TRANSFORMATION id"]}


def test_a_write_that_fails_has_its_error_and_the_lineage_it_would_have_had(runs: dict[str, list[Event]]) -> None:
    assert kinds(runs["broken"]) == ["START", "FAIL"]
    error = runs["broken"][-1]["run"]["facets"]["errorMessage"]
    assert error["programmingLanguage"] == "PYTHON"
    assert "no good" in error["message"]
    assert len(error["stackTrace"]) <= 8000
    assert edges(runs["broken"]) == {"price": ["IDENTITY price"], "bad": ["TRANSFORMATION id"]}


def test_a_write_that_cannot_be_analyzed_is_never_begun(runs: dict[str, list[Event]]) -> None:
    assert "nowhere" not in runs


def test_a_cancelled_write_fails(runs: dict[str, list[Event]]) -> None:
    assert kinds(runs["cancelled"]) == ["START", "FAIL"]
    assert "cancelled" in runs["cancelled"][-1]["run"]["facets"]["errorMessage"]["message"]
    assert edges(runs["cancelled"]) == {"slept": ["TRANSFORMATION price"]}


def test_a_write_that_the_end_of_spark_cuts_off_is_aborted(runs: dict[str, list[Event]], jobs: Jobs) -> None:
    assert kinds(runs["cut_off"]) == ["START", "ABORT"]
    assert states(jobs.events())[-1] == ("shop", "COMPLETE")


def test_a_table_that_is_gone_was_written_all_the_same(runs: dict[str, list[Event]]) -> None:
    for number in range(5):
        written, dropped = (runs[f"default.gone{number}"][at : at + 2] for at in (0, 2))
        assert kinds(written) == kinds(dropped) == ["START", "COMPLETE"]
        assert edges(written) == {"id": ["IDENTITY id"], "price": ["IDENTITY price"]}
        assert dropped[-1]["outputs"][0]["facets"]["lifecycleStateChange"]["lifecycleStateChange"] == "DROP"


def test_what_happens_behind_the_programs_back_writes_nothing(runs: dict[str, list[Event]], jobs: Jobs) -> None:
    expected = {"items", "a.same", "b.same", "adapted", "retried", "broken", "cancelled", "cut_off", "by_rdd", "kept"}
    expected |= {"default.odd_name", "ö `x` y", *(f"default.gone{number}" for number in range(5))}
    assert runs.keys() == expected
    drops, application = 5, 1
    assert len(Counter(event["run"]["runId"] for event in jobs.events())) == len(expected) + drops + application


def test_awkward_names_stay_as_they_are(runs: dict[str, list[Event]]) -> None:
    names = ["a.b", "with `tick`", "two\nlines", "größe", "日本", "x" * 10000, " "]
    assert edges(runs["ö `x` y"]) == {name: ["IDENTITY id"] for name in names}
    assert edges(runs["default.odd_name"]) == {name: ["IDENTITY id"] for name in names[:2]}


def test_lineage_goes_through_checkpoints_and_rdds(runs: dict[str, list[Event]]) -> None:
    assert edges(runs["kept"]) == {"id": ["IDENTITY id"], "price": ["IDENTITY price"]}
    assert edges(runs["by_rdd"]) == {"p": ["TRANSFORMATION? id", "TRANSFORMATION? price"]}
    for name in ("kept", "by_rdd"):
        (decides,) = runs[name][-1]["outputs"][0]["facets"]["columnLineage"]["dataset"]
        assert (decides["field"], decides["transformations"][0]["subtype"]) == ("price", "FILTER")
