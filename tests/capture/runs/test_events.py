"""The events of one application: which executions are runs, their states, their parents."""

from tempfile import TemporaryDirectory
from typing import Any

import pytest
from tests.capture.conftest import SPARK, Ended, Jobs, gaps, statements

from headwater.store import open_store

pytestmark = pytest.mark.spark

PARENT = "airflow/daily.shop/0190e6f2-7b5f-7c4a-9d0e-2b6f1f0a4c11"
JOB = """
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
# Spark 3.5 hands on what a task threw as py4j gives it.
expected = PySparkException if spark.version >= "4" else (PySparkException, Py4JJavaError)
spark.sql("SELECT count(*) FROM range(3)").collect()
items.count()
items.toLocalIterator()
items.write.saveAsTable("kept")
spark.sql("CREATE TABLE made USING parquet AS SELECT id, price FROM kept WHERE price > 0")
spark.sql("INSERT INTO made SELECT price, id FROM kept")
spark.sql("INSERT INTO made SELECT id, price FROM kept")
spark.table("kept").select(sf.col("price").alias("v"), "id").write.mode("overwrite").parquet("night")
spark.table("kept").select(sf.col("id").alias("v")).write.mode("append").parquet("night/day=1")
spark.sql("INSERT OVERWRITE DIRECTORY 'night' USING parquet SELECT id AS v FROM kept")
spark.sql(
    "CREATE TABLE packed USING parquet AS SELECT array(named_struct('cost', price, 'who',"
    " named_struct('mark', sha2(CAST(id AS STRING), 256), 'id', id))) AS lines FROM kept"
)
spark.sql("CREATE TABLE taken USING parquet AS SELECT l.cost, l.who FROM packed LATERAL VIEW explode(lines) AS l")
spark.sql("SET spark.sql.shuffle.partitions = 2")
spark.sql("CACHE TABLE cached AS SELECT id FROM kept")
for wrong in (
    lambda: items.select(sf.raise_error(sf.lit("too much")).cast("int").alias("bad")).write.parquet("broken"),
    lambda: spark.sql("INSERT INTO nowhere SELECT 1"),
    lambda: spark.sql("SELEC 1"),
):
    try:
        wrong()
        print("no error")
    except Exception as error:
        print(isinstance(error, expected))
"""


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    return Jobs(tmp_path_factory.mktemp("events"))


@pytest.fixture(scope="module")
def ended(jobs: Jobs) -> Ended:
    jobs.write(SPARK + JOB)
    return jobs.watched("job.py", environment={"OPENLINEAGE_PARENT_ID": PARENT, "OPENLINEAGE_NAMESPACE": "shops"})


def test_the_job_is_as_without(ended: Ended) -> None:
    assert (ended.code, ended.out.split()) == (0, ["True"] * 3)
    assert "Traceback" not in ended.err


def test_a_write_is_one_run_whatever_spark_makes_of_it_and_a_read_is_none(ended: Ended, jobs: Jobs) -> None:
    assert statements(jobs.events()) == {
        "shop.default.kept": ["START", "COMPLETE"],
        "shop.default.made": ["START", "COMPLETE"] * 3,
        "shop.night": ["START", "COMPLETE"] * 3,
        "shop.default.packed": ["START", "COMPLETE"],
        "shop.default.taken": ["START", "COMPLETE"],
        "shop.broken": ["START", "FAIL"],
    }


def test_a_failed_write_has_its_error_and_the_lineage_it_would_have_had(ended: Ended, jobs: Jobs) -> None:
    failed = next(event for event in jobs.events() if event["eventType"] == "FAIL")
    assert "too much" in failed["run"]["facets"]["errorMessage"]["message"]
    assert failed["outputs"][0]["name"].endswith("/broken")
    assert list(failed["outputs"][0]["facets"]["columnLineage"]["fields"]) in ([], ["bad"])


def test_each_run_names_the_run_that_started_it(ended: Ended, jobs: Jobs) -> None:
    application, *rest = jobs.events()
    assert application["job"] == {**application["job"], "namespace": "shops", "name": "shop"}
    parent = application["run"]["facets"]["parent"]
    assert (parent["job"]["name"], parent["run"]["runId"]) == ("daily.shop", PARENT.rsplit("/", 1)[1])
    for event in rest[:-1]:
        assert event["run"]["facets"]["parent"]["run"]["runId"] == application["run"]["runId"]
        assert event["run"]["facets"]["processing_engine"]["name"] == "spark"
    assert rest[-1]["run"]["runId"] == application["run"]["runId"]


def test_nothing_is_missing_from_the_coverage(ended: Ended, jobs: Jobs) -> None:
    assert [gaps(event) for event in jobs.events() if gaps(event)] == []


def test_the_last_write_that_replaced_all_rows_is_current_whichever_api_wrote(ended: Ended, jobs: Jobs) -> None:
    events = [event for event in jobs.events() if any(one["name"].endswith("/night") for one in event["outputs"])]
    written = [one["outputs"][0]["outputFacets"]["headwater_write"]["replaces"] for one in events]
    assert written == ["ALL_ROWS"] * 2 + ["SOME_ROWS"] * 2 + ["ALL_ROWS"] * 2
    assert roots(jobs, events[:2], "night.v") == {"price"}
    assert roots(jobs, events[:4], "night.v") == {"price", "id"}
    assert roots(jobs, events, "night.v") == {"id"}
    assert roots(jobs, events[::-1], "night.v") == {"id"}


def test_fields_within_columns_are_followed_from_one_table_to_the_next(ended: Ended, jobs: Jobs) -> None:
    direct = ("--type", "DIRECT")
    assert roots(jobs, jobs.events(), "taken.cost", *direct) == {"price", "id"}
    assert roots(jobs, jobs.events(), "taken.cost", "--nested", *direct) == {"price"}
    assert roots(jobs, jobs.events(), "taken.who.mark", *direct) == {"id"}
    assert roots(jobs, jobs.events(), "packed.lines.cost", *direct) == {"price"}


def roots(jobs: Jobs, events: list[dict[str, Any]], column: str, *options: str) -> set[str]:
    """The columns that ``headwater roots`` names for a column in a store that has taken these events, one by one."""
    with TemporaryDirectory() as folder:
        with open_store(f"{folder}/lineage.db") as store:
            for event in events:
                store.ingest([event])
        answer = jobs.ask("roots", column, *options, "--store", f"{folder}/lineage.db")
    return {root["column"]["field"] for root in answer["roots"]}
