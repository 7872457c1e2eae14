"""A job on a real Spark, with a package of twenty lines that teaches headwater its functions, and broken ones."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.capture.conftest import SPARK, Ended, Jobs, gaps

pytestmark = pytest.mark.spark

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extensions.md"
PACKAGE = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[0]
"""The package of the documentation, letter by letter."""
SENDING = """\
from headwater.ext import Extension

def append(line):
    with open("sent.ndjson", "a") as file:
        file.write(line + "\\n")

sending = Extension("sending", "1.0", api=1, transports={"file": append})
"""
BROKEN = """\
import time
from headwater.ext import *

class Loops(OperatorVisitor):
    classes = ("MapInPandas", "Project", "Range")

    def inputs(self, node):
        while True:
            pass

def broken():
    return Extension("broken", "1", api=1, operators=(Loops(),))

raise_at_import = Extension("unused", "1", api=1)
"""

JOB = (
    SPARK
    + """
import headwater

def doubled(parts):
    for part in parts:
        yield part.assign(price=part.price * 2)

@sf.udf("long")
def chosen(test, one, other):
    return one if test else other

items.write.parquet("items")
priced = spark.read.parquet("items").select("id", "price")
mapped = priced.mapInPandas(doubled, "id long, price long")
mapped.write.parquet("mapped")
priced.select(chosen(sf.col("id") > 1, "price", "id").alias("v")).write.parquet("chosen")
print(headwater.lineage(mapped).json())
stream = spark.readStream.schema("id long, price long").parquet("items")
stream = stream.select(chosen(sf.col("id") > 1, "price", "id").alias("v")).writeStream.format("parquet")
stream.option("checkpointLocation", "at").trigger(availableNow=True).start("streamed").awaitTermination()
headwater.detach(spark)
headwater.attach(spark, events="without.ndjson", extensions_disabled=["*"])
mapped.write.parquet("mapped_again")
headwater.detach(spark)
from headwater.ext import *

class First(ExpressionVisitor):
    functions = ("chosen",)

    def children(self, node):
        return Transformation(Subtype.CONDITIONAL), None, None

def made():
    return Extension("made", "1", api=1, run_facets=(lambda moment: {"of_made": {"is": moment.state.value}},))

first = Extension("first", "1", api=1, expressions=(First(),))
unwanted = ["broken", "gone", "sending"]
given = [first, made, "shop_lineage:shop"]
headwater.attach(spark, events="given.ndjson", extensions=given, extensions_disabled=unwanted)
priced.select(chosen(sf.col("id") > 1, "price", "id").alias("v")).write.parquet("given")
mapped.write.parquet("mapped_once_more")
"""
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Jobs, Ended]:
    jobs = Jobs(tmp_path_factory.mktemp("extensions"))
    jobs.write(JOB)
    jobs.write(PACKAGE, "shop_lineage.py")
    jobs.write(BROKEN, "broken_lineage.py")
    jobs.write(SENDING, "sending.py")
    jobs.write("Metadata-Version: 2.1\nName: shop-lineage\nVersion: 1.0\n", "shop-1.dist-info/METADATA")
    points = (
        "shop = shop_lineage:shop\nsending = sending:sending\nbroken = broken_lineage:broken\ngone = no_such_module:x\n"
    )
    jobs.write(f"[headwater.extensions]\n{points}", "shop-1.dist-info/entry_points.txt")
    return jobs, jobs.watched("job.py", environment={"HEADWATER_EXTENSION_SECONDS": "0.5"})


def written(jobs: Jobs, name: str, events: str = "events.ndjson") -> dict[str, Any]:
    """The last event of a run that wrote a folder."""
    return [one for one in jobs.events(events) if any(out["name"].endswith(f"/{name}") for out in one["outputs"])][-1]


def edges(event: dict[str, Any]) -> dict[str, set[tuple[str, str, bool]]]:
    fields = event["outputs"][0]["facets"]["columnLineage"]["fields"]
    return {
        name: {
            (one["field"], how["subtype"], how.get("opaque", False))
            for one in field["inputFields"]
            for how in one["transformations"]
        }
        for name, field in fields.items()
    }


def test_the_job_ends_as_it_would_have(ran: tuple[Jobs, Ended]) -> None:
    _, ended = ran
    assert ended.code == 0, ended.err
    assert "broken: the extension is switched off for this run: it took more than 0.5 seconds" in ended.err
    assert "gone: the extension could not be loaded: it raised ModuleNotFoundError" in ended.err


def test_what_was_opaque_is_exact(ran: tuple[Jobs, Ended]) -> None:
    jobs, _ = ran
    exact, opaque = written(jobs, "mapped"), written(jobs, "mapped_again", "without.ndjson")
    assert edges(exact) == {"id": {("id", "IDENTITY", False)}, "price": {("price", "TRANSFORMATION", False)}}
    both = {("id", "TRANSFORMATION", True), ("price", "TRANSFORMATION", True)}
    assert edges(opaque) == {"id": both, "price": both}
    assert gaps(opaque) == [("opaque", "doubled")]
    assert gaps(exact) == [("extension", "broken"), ("extension", "gone")]


def test_a_user_defined_function_is_described_argument_by_argument(ran: tuple[Jobs, Ended]) -> None:
    jobs, _ = ran
    expected = {
        "v": {("id", "CONDITIONAL", False), ("price", "TRANSFORMATION", False), ("id", "TRANSFORMATION", False)}
    }
    assert edges(written(jobs, "chosen")) == edges(written(jobs, "streamed")) == expected


def test_extensions_that_are_handed_to_attach_come_before_installed_ones(ran: tuple[Jobs, Ended]) -> None:
    jobs, _ = ran
    written_event = written(jobs, "given", "given.ndjson")
    assert edges(written_event) == {"v": {("id", "CONDITIONAL", False)}}
    assert written_event["run"]["facets"]["of_made"]["is"] == "COMPLETE"
    assert gaps(written_event) == []
    assert edges(written(jobs, "mapped_once_more", "given.ndjson")) == edges(written(jobs, "mapped"))


def test_a_data_frame_that_does_not_run_has_the_same_lineage(ran: tuple[Jobs, Ended]) -> None:
    document = json.loads(ran[1].out)
    assert [(one["field"], one["subtype"]) for one in document["columns"]["price"]] == [("price", "TRANSFORMATION")]


def test_a_transport_gets_what_the_others_get(ran: tuple[Jobs, Ended]) -> None:
    jobs, _ = ran
    assert jobs.events("sent.ndjson") == jobs.events("events.ndjson")
