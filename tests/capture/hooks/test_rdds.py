"""RDDs that are saved or handed to a function, for which Spark posts no SQL execution."""

from typing import Any

import pytest
from tests.capture.conftest import SPARK, Ended, Jobs, gaps, short_name, statements

pytestmark = pytest.mark.spark

JOB = (
    SPARK
    + """
sc = spark.sparkContext
items.write.parquet("items")
read = spark.read.parquet("items")
with open("lines.txt", "w") as file:
    file.write("a\\nb\\n")

def shown():
    jobs = sc._jsc.sc().statusStore()
    return sorted(jobs.job(one).name().rsplit("/")[-1] for one in sc.statusTracker().getJobIdsForGroup(None))

read.where("id > 0").rdd.map(str).saveAsTextFile("texts")
read.where("id > 9").limit(0).rdd.saveAsTextFile("nothing")
sc.textFile("lines.txt").foreach(lambda line: None)
read.foreachPartition(lambda rows: None)
read.toJSON().foreach(lambda line: None)
sc.parallelize([1]).foreach(print)
sc._jsc.textFile("lines.txt").saveAsTextFile("by_the_jvm")
sc.textFile("lines.txt").keyBy(str).sortByKey().map(str).saveAsTextFile("sorted")
sc.setCheckpointDir("checkpoints")
kept = sc.textFile("lines.txt").map(str.strip)
kept.checkpoint()
kept.count()
kept.saveAsTextFile("kept")
calls = [
    lambda: sc._jsc.textFile("nowhere.txt").saveAsTextFile("unmade_by_the_jvm"),
    lambda: sc.textFile("lines.txt").map(lambda line: 1 / 0)._jrdd.saveAsObjectFile("broken_by_the_jvm"),
    lambda: sc.textFile("lines.txt").map(lambda line: 1 / 0).saveAsTextFile("broken"),
    lambda: sc.textFile("nowhere.txt").saveAsTextFile("unmade"),
    lambda: read.rdd.saveAsTextFile("texts"),
    lambda: read.rdd.foreach(lambda row: 1 / 0),
    lambda: read.rdd.saveAsTextFile(),
    lambda: read.rdd.saveAsHadoopFile("wrong", "no.such.Format"),
]
for call in calls:
    try:
        call()
    except Exception as error:
        print(type(error).__name__)

def inside():
    read.rdd.foreach(lambda row: None)
inside()
print(sc.textFile("texts").count(), shown())
"""
)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    return Jobs(tmp_path_factory.mktemp("rdds"))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    alone = Jobs(tmp_path_factory.mktemp("plain"))
    alone.write(JOB)
    return alone.plain("job.py")


@pytest.fixture(scope="module")
def ended(jobs: Jobs) -> Ended:
    jobs.write(JOB)
    return jobs.watched("job.py")


@pytest.fixture(scope="module")
def events(ended: Ended, jobs: Jobs) -> dict[str, dict[str, Any]]:
    """The last event of each job."""
    return {short_name(event): event for event in jobs.events()}


def files(datasets: list[dict[str, Any]]) -> list[str]:
    return [dataset["name"].rsplit("/")[-1] for dataset in datasets]


def columns(event: dict[str, Any]) -> dict[str, set[str]]:
    """The columns that each column of the only output depends on."""
    (output,) = event["outputs"]
    return {
        name: {f"{edge['name'].rsplit('/')[-1]}.{edge['field']}" for edge in field["inputFields"]}
        for name, field in output["facets"]["columnLineage"]["fields"].items()
    }


def test_the_job_is_as_without_and_shows_the_same_names(ended: Ended, plain: Ended) -> None:
    assert (ended.code, ended.out) == (0, plain.out)
    assert "'job.py:23'" in plain.out  # where foreach was called
    assert "Traceback" not in ended.err


def test_each_is_a_run_that_ends_as_it_did(ended: Ended, jobs: Jobs) -> None:
    done, failed = ["START", "COMPLETE"], ["START", "FAIL"]
    assert statements(jobs.events()) == {
        "shop.items": done,
        "shop.texts": [*done, *failed],
        "shop.nothing": done,
        "shop.foreach.lines.txt": done,
        "shop.foreach.items": [*done, *failed, *done],
        "shop.foreach_partition.items": done,
        "shop.foreach": done,
        "shop.broken": failed,
        "shop.unmade": failed,
        "shop.wrong": failed,
        "shop.sorted": done,
        "shop.kept": done,
        "shop.by_the_jvm": done,
        "shop.broken_by_the_jvm": failed,
    }


def test_what_is_saved_depends_on_what_the_rdd_is_made_of(jobs: Jobs, events: dict[str, dict[str, Any]]) -> None:
    saved = next(
        event for event in jobs.events() if short_name(event) == "shop.texts" and event["eventType"] == "COMPLETE"
    )
    assert (files(saved["inputs"]), columns(saved)) == (["items"], {"value": {"items.id", "items.price"}})
    assert gaps(saved) == [("opaque", "RDD")]
    empty = events["shop.nothing"]
    assert columns(empty) == {"value": {"items.id", "items.price"}}


def test_a_save_that_fails_has_its_error_and_the_lineage_it_would_have_had(events: dict[str, dict[str, Any]]) -> None:
    failed = events["shop.broken"]
    error = failed["run"]["facets"]["errorMessage"]
    assert "ZeroDivisionError" in error["stackTrace"]
    assert columns(failed) == {"value": {"lines.txt.value"}}
    there = events["shop.texts"]["run"]["facets"]["errorMessage"]
    assert there["message"].endswith("already exists")


def test_what_code_in_the_jvm_saves_has_the_lineage_of_its_job(events: dict[str, dict[str, Any]]) -> None:
    saved = events["shop.by_the_jvm"]
    assert (files(saved["inputs"]), columns(saved)) == (["lines.txt"], {"value": {"lines.txt.value"}})
    failed = events["shop.broken_by_the_jvm"]
    assert columns(failed) == {"key": {"lines.txt.value"}, "value": {"lines.txt.value"}}
    assert "ZeroDivisionError" in failed["run"]["facets"]["errorMessage"]["message"]


def test_rows_that_a_function_takes_have_inputs_and_a_gap_and_no_output(events: dict[str, dict[str, Any]]) -> None:
    taken = events["shop.foreach_partition.items"]
    assert (files(taken["inputs"]), taken["outputs"]) == (["items"], [])
    assert gaps(taken) == [("opaque", "RDD"), ("opaque", "foreachPartition")]
    own = events["shop.foreach"]
    assert gaps(own) == [("opaque", "foreach"), ("relation", "rows of the program")]
