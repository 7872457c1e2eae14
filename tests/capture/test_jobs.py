"""Spark jobs under ``headwater run``: they end as without, and what they wrote is known however they end."""

import signal
import subprocess
import time
from collections import Counter

import pytest
from tests.capture.conftest import SPARK, WATCHED, Jobs, statements, states

pytestmark = pytest.mark.spark


def test_an_exception_ends_a_job_as_without_and_its_lineage_stays(jobs: Jobs) -> None:
    """The exception comes out of SparkContext itself, through headwater's hook."""
    jobs.write(f"{SPARK}\nitems.write.mode('overwrite').parquet('out')\ntype(spark.sparkContext)()\n")
    plain, watched = jobs.plain("job.py"), jobs.watched("job.py")
    assert (watched.code, watched.out) == (plain.code, plain.out)
    line = "headwater: captured the lineage of 2 columns in 1 dataset, sent to events.ndjson\n"
    assert watched.traceback == plain.traceback + line
    events = jobs.events()
    assert [state for _, state in states(events)] == ["START", "START", "COMPLETE", "FAIL"]
    assert (
        "ValueError: Cannot run multiple SparkContexts at once"
        in events[-1]["run"]["facets"]["errorMessage"]["message"]
    )


def test_workers_know_nothing_of_it_and_the_exit_code_is_the_jobs(jobs: Jobs) -> None:
    jobs.write(
        f"{SPARK}\n"
        "def seen(x):\n"
        "    import os, sys\n"
        "    return repr([name for name in sys.modules if 'headwater' in name])"
        " + str('capture/site' in os.environ.get('PYTHONPATH', '') + ''.join(sys.path))\n"
        "items.select(sf.udf(seen)('id').alias('seen')).write.parquet('out')\n"
        "print(spark.read.parquet('out').distinct().collect())\n"
        "import sys; sys.exit(3)\n"
    )
    ended = jobs.watched("job.py")
    assert (ended.code, ended.out) == (3, "[Row(seen='[]False')]\n")
    assert Counter(state for _, state in states(jobs.events())) == {"START": 2, "COMPLETE": 1, "FAIL": 1}


WRITTEN = """
import time
while "COMPLETE" not in open("events.ndjson").read():
    time.sleep(0.1)
time.sleep(1)
"""


def killed_when_ready(jobs: Jobs, number: signal.Signals) -> str:
    """Kill the watched job once it prints ``ready``; its standard error, once the application's end is reported."""
    with subprocess.Popen(
        [*WATCHED, "job.py"],
        cwd=jobs.folder,
        env=jobs.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        _, err = process.communicate(timeout=120)
    assert process.returncode == -number
    deadline = time.monotonic() + 120
    # The end of the application is written by a process of its own, which may be a moment behind.
    while ("shop", "FAIL") not in states(jobs.events()) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(2)  # runs that were open are reported after the application
    return err


def test_a_killed_job_keeps_what_it_had_written(jobs: Jobs) -> None:
    jobs.write(f"{SPARK}\nitems.write.parquet('out')\n{WRITTEN}\nprint('ready', flush=True)\ntime.sleep(60)\n")
    assert "Traceback" not in killed_when_ready(jobs, signal.SIGTERM)
    assert [state for _, state in states(jobs.events())] == ["START", "START", "COMPLETE", "FAIL"]
    assert "without a word" in jobs.events()[-1]["run"]["facets"]["errorMessage"]["message"]


SLOW_THEN_QUICK = (
    SPARK
    + """
import time
slow = sf.udf(lambda value: time.sleep(3) or value, "long")
spark.range(1, numPartitions=1).select(slow("id").alias("id")).write.parquet("slow")
for _ in range(4):
    items.write.mode("overwrite").parquet("quick")
print("ready", flush=True)
time.sleep(60)
"""
)


def test_a_run_that_has_ended_does_not_fail_when_the_job_is_killed_while_it_is_busy(jobs: Jobs) -> None:
    """The JVM knows which runs were open when the job last rested: here while ``slow`` was written."""
    jobs.write(SLOW_THEN_QUICK)
    killed_when_ready(jobs, signal.SIGKILL)
    assert statements(jobs.events())["shop.slow"] == ["START", "COMPLETE"]


LIVES = """
from concurrent.futures import ThreadPoolExecutor
from pyspark import SparkContext

items.write.parquet("first")
spark.newSession().range(2).selectExpr("id AS own").write.parquet("second")
first = spark.read.parquet("first")
with ThreadPoolExecutor(50) as pool:
    one = lambda n: first.select(sf.col(first.columns[n % 2]).alias(f"c{n}"))
    list(pool.map(lambda n: one(n).write.parquet(f"many/t{n}"), range(50)))
spark.stop()
spark.stop()

other = SparkContext("local[1]", "warehouse")
other.setLogLevel("OFF")
session = SparkSession(other)
session.range(2).write.parquet("third")
other.stop()
other.stop()

third = SparkSession.builder.master("local[1]").appName("again").config("spark.ui.enabled", "false").getOrCreate()
third.sparkContext.setLogLevel("OFF")
third.range(2).write.parquet("fourth")
"""


def test_contexts_sessions_and_threads_are_all_seen(jobs: Jobs) -> None:
    jobs.write(SPARK + LIVES)
    ended = jobs.watched("job.py")
    assert (ended.code, ended.out) == (0, "")
    events = jobs.events()
    assert [pair for pair in states(events) if "." not in pair[0]] == [
        (name, state) for name in ("shop", "warehouse", "again") for state in ("START", "COMPLETE")
    ]
    found = statements(events)
    names = ["shop.first", "shop.second", "warehouse.third", "again.fourth", *(f"shop.t{n}" for n in range(50))]
    assert found == {name: ["START", "COMPLETE"] for name in names}
    written = [output for event in events if event["eventType"] == "COMPLETE" for output in event["outputs"]]
    fields = {output["name"].rpartition("/")[2]: output["facets"]["columnLineage"]["fields"] for output in written}
    for n in range(50):
        ((column, edges),) = fields[f"t{n}"].items()
        assert (column, [edge["field"] for edge in edges["inputFields"]]) == (f"c{n}", [("id", "price")[n % 2]])
    assert [line for line in ended.err.splitlines() if line.startswith("headwater")] == [
        "headwater: captured the lineage of 53 columns in 52 datasets, sent to events.ndjson",
        *["headwater: captured the lineage of 1 column in 1 dataset, sent to events.ndjson"] * 2,
    ]
