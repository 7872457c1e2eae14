"""Processors with a state of their own (``transformWithState``): functions that cannot be looked into."""

import pytest
from tests.capture.conftest import SPARK, Jobs, gaps

pytestmark = pytest.mark.spark

JOB = (
    SPARK
    + """
import os
import pandas as pd
from pyspark.errors import StreamingQueryException
from pyspark.sql import Row
from pyspark.sql.streaming import StatefulProcessor


class Counted(StatefulProcessor):
    def init(self, handle):
        self._seen = handle.getValueState("seen", "n LONG")

    def close(self):
        pass


class InPandas(Counted):
    def handleInputRows(self, key, rows, timer):
        self._seen.update((sum(len(frame) for frame in rows),))
        yield pd.DataFrame({"who": [key[0]], "n": [self._seen.get()[0]]})


class InRows(Counted):
    def handleInputRows(self, key, rows, timer):
        self._seen.update((sum(1 for _ in rows),))
        yield Row(who=key[0], n=self._seen.get()[0])


def run(name, frame):
    # Spark gives the Python worker that looks at a processor ten seconds to start, and no setting changes that.
    for attempt in range(5):
        writer = frame.writeStream.queryName(name).option("path", os.path.abspath(name))
        writer = writer.option("checkpointLocation", os.path.abspath(f"c_{name}_{attempt}")).trigger(availableNow=True)
        try:
            return writer.start().awaitTermination()
        except StreamingQueryException as error:
            if "failed to connect back" not in str(error):
                raise
    print("too slow")


provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
spark.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
items.write.parquet("in")
keyed = spark.readStream.schema("id BIGINT, price BIGINT").parquet(os.path.abspath("in")).groupBy("id")
form = {"outputStructType": "who LONG, n LONG", "outputMode": "Append", "timeMode": "None"}
run("pandas", keyed.transformWithStateInPandas(InPandas(), **form))
if hasattr(keyed, "transformWithState"):
    run("rows", keyed.transformWithState(InRows(), **form))
spark.stop()
"""
)


def test_every_column_may_come_from_every_column_and_rows_are_grouped(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    pytest.importorskip("pyspark.sql.streaming.stateful_processor", reason="since Spark 4.0")
    jobs = Jobs(tmp_path_factory.mktemp("stateful"))
    jobs.write(JOB)
    ended = jobs.watched("job.py")
    assert ended.code == 0, ended.err
    last = {event["job"]["name"]: event for event in jobs.events() if event["job"]["name"] != "shop"}
    for event in (event for name, event in last.items() if name in ("shop.pandas", "shop.rows")):
        lineage = event["outputs"][0]["facets"]["columnLineage"]
        for column in ("who", "n"):
            edges = lineage["fields"][column]["inputFields"]
            assert [edge["field"] for edge in edges] == ["id", "price"]
            assert all(transformation["opaque"] for edge in edges for transformation in edge["transformations"])
        assert [(edge["field"], edge["transformations"][0]["subtype"]) for edge in lineage["dataset"]] == [
            ("id", "GROUP_BY")
        ]
        assert [kind for kind, _ in gaps(event)] == ["opaque"]
    assert "shop.pandas" in last
    if "too slow" in ended.out:
        pytest.skip("no Python worker started within Spark's ten seconds: what a query that failed tells is right")
    assert {event["eventType"] for event in last.values()} == {"COMPLETE"}
