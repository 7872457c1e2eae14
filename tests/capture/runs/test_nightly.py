"""An application that is called by its day, and overwrites what the one of the day before wrote, from end to end."""

import json

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
    keeping = ("--store", "lineage.db")
    patient = {"HEADWATER_EVENTS": "", "HEADWATER_FLUSH_SECONDS": "120"}  # on a machine that does much else

    def roots(*more: str) -> set[str]:
        answer = jobs.headwater("roots", "out.v", *keeping, "--format", "json", *more)
        assert answer.code == 0, answer.err
        return {f"{one['column']['name']}.{one['column']['field']}" for one in json.loads(answer.out)["roots"]}

    for day, source, column in (("23", "people", "email"), ("24", "shop", "name")):
        night = ("job.py", f"2026-11-{day}", source, column)
        ended = jobs.headwater("run", *keeping, *night, environment=patient)
        assert ended.code == 0, ended.err
        assert roots() == {f"{jobs.folder}/{source}.{column}"}
    named = jobs.headwater("jobs", *keeping, "--format", "json")
    names = {one["name"] for one in json.loads(named.out)}
    assert {f"nightly_2026-11-{day}.{jobs.folder}/out" for day in (23, 24)} <= names
    changes = jobs.headwater("impact", "people.email", *keeping, "--format", "json")
    assert json.loads(changes.out)["datasets"] == []
