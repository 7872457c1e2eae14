"""An application that is called by its day, and overwrites what the one of the day before wrote, from end to end."""

import pytest
from tests.capture.conftest import Jobs

NIGHTLY = """\
import sys
from pyspark.sql import SparkSession

day, source, column = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]").appName(f"nightly_{day}").config("spark.ui.enabled", "false").getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
spark.range(3).selectExpr(f"id AS {column}").write.parquet(source)
spark.read.parquet(source).selectExpr(f"{column} AS v").write.mode("overwrite").parquet("out")
"""


@pytest.mark.spark
def test_the_night_after_is_what_a_dataset_is_made_of(jobs: Jobs) -> None:
    jobs.write(NIGHTLY)
    store = jobs.folder / "lineage.db"
    patient = {  # on a machine that does much else
        "HEADWATER_EVENTS": "",
        "HEADWATER_FLUSH_SECONDS": "120",
        "HEADWATER_STORE": str(store),
    }
    for day, source, column in (("23", "people", "email"), ("24", "shop", "name")):
        ended = jobs.watched("job.py", f"2026-11-{day}", source, column, environment=patient)
        assert ended.code == 0, ended.err
        roots = jobs.ask("roots", "out.v", "--store", store)["roots"]
        assert {f"{one['column']['name']}.{one['column']['field']}" for one in roots} == {
            f"{jobs.folder}/{source}.{column}"
        }
    names = {one["name"] for one in jobs.ask("jobs", "--store", store)}
    assert {f"nightly_2026-11-{day}.{jobs.folder}/out" for day in (23, 24)} <= names
    assert jobs.ask("impact", "people.email", "--store", store)["datasets"] == []
