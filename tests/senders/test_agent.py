"""Spark jobs that headwater watches send to a server over HTTP; while it is away, they keep what they have to say."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.capture.conftest import SPARK, Jobs
from tests.senders.conftest import Place, documented, steps, variables
from tests.server.processes import wait_for

from headwater.store import open_store

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore::DeprecationWarning")]

JOB = (
    SPARK
    + """
import sys

orders = items.select((sf.col("id") % 2).alias("customer"), sf.col("price").alias("amount"))
orders.write.parquet("orders")
print("written", flush=True)
sys.stdin.readline()
totals = spark.read.parquet("orders").where("amount > 0").groupBy("customer").agg(sf.sum("amount").alias("total"))
totals.write.parquet("totals")
print(spark.read.parquet("totals").count())
"""
)
NEXT = (
    SPARK
    + """
spark.read.parquet("totals").select(sf.col("total").alias("sum")).write.parquet("sums")
print(spark.read.parquet("sums").count())
"""
)
TOTALS = {
    "totals.total <- orders.amount AGGREGATION",
    "totals.* <- orders.customer GROUP_BY",
    "totals.* <- orders.amount FILTER",
}
GRAPH = {"totals.total <- orders.amount", "totals.total <- orders.customer"}
OF_CUSTOMERS = {"totals.customer <- orders.customer", "totals.customer <- orders.amount"}


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    made = Jobs(tmp_path)
    made.write(JOB)
    made.write(NEXT, "next.py")
    return made


@contextmanager
def started(jobs: Jobs, place: Place, command: Sequence[str]) -> "Iterator[subprocess.Popen[str]]":
    """A job that may wait for a line; it is over at the end of the block, and has written its two rows."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = variables(place, **{**jobs.environment, "HEADWATER_EVENTS": "", "PATH": path})
    with (jobs.folder / "err").open("w") as errors:
        job = subprocess.Popen(command, cwd=jobs.folder, env=environment, stdin=-1, stdout=-1, stderr=errors, text=True)
        with job:
            yield job
            out, _ = job.communicate("\n", timeout=500)
    assert (job.returncode, out) == (0, "2\n"), printed(jobs)


def printed(jobs: Jobs) -> str:
    return (jobs.folder / "err").read_text()


def stored(place: Place, name: str) -> bool:
    """Whether the server knows a dataset."""
    return any(found["name"].endswith(f"/{name}") for found in place.get("/api/v2/datasets")["datasets"])


def line_of(job: "subprocess.Popen[str]") -> str:
    assert job.stdout is not None
    return job.stdout.readline()


def test_a_job_sends_a_server_its_lineage(jobs: Jobs, place: Place, server: Any) -> None:
    with started(jobs, place, ["bash", "-c", documented("Spark, watched by headwater")]) as job:
        assert line_of(job) == "written\n"
    assert place.upstream("totals.total") == TOTALS
    assert place.column_lineage("file", f"{jobs.folder}/totals") == GRAPH | OF_CUSTOMERS
    client = place.marquez()
    assert steps(client.get_column_lineage_by_dataset("file", f"{jobs.folder}/totals")) == GRAPH | OF_CUSTOMERS
    assert steps(client.get_column_lineage_by_dataset_field("file", f"{jobs.folder}/totals", "total")) == GRAPH
    states = {job["name"]: job["latestRun"]["state"] for job in client.list_jobs("default")["jobs"]}
    assert (len(states), set(states.values())) == (3, {"COMPLETED"})
    assert not list(jobs.folder.rglob("spool/*"))


def test_a_server_that_is_killed_and_comes_back_gets_all_of_it(jobs: Jobs, place: Place) -> None:
    with place.up() as server, started(jobs, place, ["headwater", "run", "job.py"]) as job:
        assert line_of(job) == "written\n"
        wait_for(lambda: stored(place, "orders"), lambda: printed(jobs))
        server.stop(signal.SIGKILL)
    assert "Lineage events cannot go to http now" in printed(jobs)
    assert "events wait in" in printed(jobs)
    with place.up():
        assert not stored(place, "totals")
        with started(jobs, place, ["headwater", "run", "next.py"]):
            pass
        assert place.upstream("sums.sum") == TOTALS | {"sums.sum <- totals.total IDENTITY"}
    with open_store(place.store, create=False) as store, store.read() as connection:
        found = connection.exec_driver_sql("SELECT j.name, r.state FROM run r JOIN job j ON j.id = r.job_id").all()
    assert {state for _, state in found} == {"COMPLETE"}
    assert len(found) == 5
    assert not list(jobs.folder.rglob("http*.ndjson"))
