"""Streams where nothing can be compiled in Spark's JVM: the listener in Python tells of them too."""

import pytest
from tests.capture.conftest import SPARK, Jobs, states

pytestmark = pytest.mark.spark

JOB = (
    SPARK
    + """
items.write.parquet("in")
spark.sql("CREATE TABLE names USING parquet AS SELECT 1L AS id, 'a' AS name")
import os

stream = spark.readStream.schema("id BIGINT, price BIGINT").parquet(os.path.abspath("in"))


def both(batch, number):
    batch.select("price").write.mode("append").parquet("prices")
    batch.join(spark.table("names"), "id").write.mode("append").saveAsTable("named")


for writer in (
    stream.writeStream.queryName("files").option("path", os.path.abspath("out")),
    stream.writeStream.queryName("batches").foreachBatch(both),
):
    name = f"checkpoint_{writer._jwrite.hashCode()}"
    writer.option("checkpointLocation", name).trigger(availableNow=True).start().awaitTermination()
spark.stop()
"""
)


def test_queries_and_the_writes_in_their_batches_have_events(tmp_path_factory: pytest.TempPathFactory) -> None:
    jobs = Jobs(tmp_path_factory.mktemp("fallback"))
    jobs.write(JOB)
    ended = jobs.watched("job.py", environment={"HEADWATER_NO_JANINO": "1"})
    assert ended.code == 0, ended.err
    streams = [event for event in jobs.events() if event["job"]["name"] in ("shop.files", "shop.batches")]
    last = {event["job"]["name"]: event for event in streams if event["eventType"] == "COMPLETE"}
    columns = {
        (name, output["name"].rpartition("/")[2], column): sorted(
            f"{edge['name'].rpartition('/')[2]}.{edge['field']}" for edge in field["inputFields"]
        )
        for name, event in last.items()
        for output in event["outputs"]
        for column, field in output["facets"]["columnLineage"]["fields"].items()
    }
    assert columns == {
        ("shop.files", "out", "id"): ["in.id"],
        ("shop.files", "out", "price"): ["in.price"],
        ("shop.batches", "prices", "price"): ["in.price"],
        ("shop.batches", "named", "id"): ["in.id"],
        ("shop.batches", "named", "price"): ["in.price"],
        ("shop.batches", "named", "name"): ["names.name"],
    }
    found = [state for name, state in states(streams) if name == "shop.files"]
    assert found == ["START", "RUNNING", "COMPLETE"]
