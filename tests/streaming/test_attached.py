"""Queries that run already when headwater is attached: their events begin then."""

import pytest
from tests.capture.conftest import SPARK, Jobs

pytestmark = pytest.mark.spark

JOB = (
    SPARK.replace("local[1]", "local[2]")
    + """
import os, time
import headwater

items.write.parquet("in")
stream = spark.readStream.schema("id BIGINT, price BIGINT").parquet(os.path.abspath("in"))
rate = spark.readStream.format("rate").options(numPartitions=1, rowsPerSecond=100).load()


def start(name, writer):
    writer = writer.queryName(name).option("checkpointLocation", os.path.abspath(f"c_{name}"))
    return writer.start()


def wait(true):
    deadline = time.time() + 60
    while time.time() < deadline and not true():
        time.sleep(0.2)


queries = [
    start("idle", stream.writeStream.option("path", os.path.abspath("out"))),
    start("batches", rate.writeStream.foreachBatch(lambda batch, n: batch.write.mode("append").parquet("batched"))),
    start("continuous", rate.writeStream.format("console").trigger(continuous="1 second")),
]
queries[0].processAllAvailable()
wait(lambda: all(query.lastProgress for query in queries[:2]))  # a continuous one tells of no progress
headwater.attach(spark, events="events.ndjson", quiet=True)
seen = queries[1].lastProgress["batchId"]
wait(lambda: queries[1].lastProgress["batchId"] > seen + 1)
for query in queries:
    query.stop()
spark.stop()
"""
)


def states_of_queries(
    tmp_path_factory: pytest.TempPathFactory, **environment: str
) -> dict[str, list[tuple[str, list[str]]]]:
    """The states of each query that has events, and what it had written by then."""
    jobs = Jobs(tmp_path_factory.mktemp("attached"))
    jobs.write(JOB)
    ended = jobs.plain("job.py", environment=environment)
    assert ended.code == 0, ended.err
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for event in jobs.events():
        if event["job"]["facets"]["jobType"]["processingType"] == "STREAMING":
            written = [output["name"].rpartition("/")[2] for output in event["outputs"]]
            found.setdefault(event["job"]["name"], []).append((event["eventType"], written))
    return found


def test_running_queries_get_events_at_once_and_their_later_batches_too(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    assert states_of_queries(tmp_path_factory) == {
        "shop.idle": [("START", ["out"]), ("RUNNING", ["out"]), ("COMPLETE", ["out"])],
        "shop.batches": [("START", []), ("RUNNING", []), ("RUNNING", ["batched"]), ("COMPLETE", ["batched"])],
        "shop.continuous": [("START", []), ("RUNNING", []), ("COMPLETE", [])],
    }


def test_where_nothing_can_be_compiled_too(tmp_path_factory: pytest.TempPathFactory) -> None:
    found = states_of_queries(tmp_path_factory, HEADWATER_NO_JANINO="1")
    assert [found[name][-1] for name in sorted(found)] == [
        ("COMPLETE", ["batched"]),
        ("COMPLETE", []),
        ("COMPLETE", ["out"]),
    ]
