"""attach() and detach() on a running session, and the budgets of capture."""

import json
import time
from pathlib import Path

import pytest
from tests.capture.conftest import SPARK, Ended, Jobs, gaps, short_name, statements, states

from headwater.store import open_store
from headwater.store.questions import roots_of

pytestmark = pytest.mark.spark

ATTACHING = (
    """
import os, sys, threading, time
from pathlib import Path
import headwater
from headwater.errors import SettingError
from headwater.ext import Extension

headwater.attach(events="before.ndjson", quiet=True)
"""
    + SPARK
    + """
items.write.parquet("a")
headwater.attach(spark, events="twice.ndjson")
items.write.parquet("b")
headwater.detach(spark)
headwater.detach(spark)
items.write.parquet("unseen")
headwater.attach(spark.sparkContext, events="context.ndjson", quiet=True)
items.write.parquet("d")
headwater.detach()
headwater.detach()
items.write.mode("overwrite").parquet("unseen")
headwater.attach(spark.newSession(), events="reads.ndjson", reads=True, quiet=True)
spark.read.parquet("a").filter("id > 0").collect()
spark.sparkContext.textFile("job.py").map(len).sum()
spark.sparkContext.parallelize([1]).count()
items.write.parquet("e")
headwater.detach(spark)
for wrong in ({"qeue": 1}, {"queue": "many"}):
    try:
        headwater.attach(spark, **wrong)
    except SettingError as error:
        print(error)

print("--- empty", file=sys.stderr, flush=True)
headwater.attach(spark, events="empty.ndjson")
spark.sql("CREATE TABLE empty (id BIGINT) USING parquet")
headwater.detach(spark)
headwater.attach(spark, events="described.ndjson", description_length=9, quiet=True)
spark.read.parquet("a").selectExpr("price + 12345678 AS dear").write.parquet("dear")
headwater.detach(spark)

headwater.attach(spark, store="roots.db", quiet=True)
spark.read.parquet("a").selectExpr("price + 1 AS cost", "id").write.parquet("costs")
for source, name in (("a", "id"), ("b", "price")):
    spark.read.parquet(source).selectExpr(f"{name} AS v").write.mode("append").parquet("both")
found = headwater.lineage(spark.read.parquet("costs").selectExpr("cost * 2 AS dear"))
print([[f"{Path(one.dataset.name).name}.{one.name}" for one in those("dear")] for those in (found.inputs, found.roots)])
headwater.detach(spark)

from headwater.capture.jvm.tap import SparkTap
wake, dropped, last, woken = SparkTap.wake, SparkTap.dropped, threading.Event(), threading.Event()
def late(tap):
    last.wait(1)
    wake(tap)
    woken.set()
def counted(tap):
    last.set()
    woken.wait(60)
    return dropped(tap)
SparkTap.wake, SparkTap.dropped = late, counted
headwater.attach(spark, events="late.ndjson", quiet=True)
items.write.parquet("late")
headwater.detach(spark)
SparkTap.wake, SparkTap.dropped = wake, dropped

wide = spark.read.parquet("a").select("id", *[(sf.col("price") + n).alias(f"c{n}") for n in range(400)])
headwater.attach(spark, events="nodes.ndjson", plan_nodes=12, quiet=True)
spark.read.parquet("a").join(spark.read.parquet("b").toDF("id", "cost"), "id").filter("cost > 1").write.parquet("cut")
wide.createOrReplaceTempView("wide")
spark.sql("CREATE VIEW IF NOT EXISTS narrow AS SELECT id AS a FROM parquet.`a`")
headwater.detach(spark)
headwater.attach(spark, events="seconds.ndjson", plan_seconds=0, quiet=True)
wide.write.parquet("wide")
headwater.detach(spark)

def many(count):
    for n in range(count):
        spark.sql("CREATE OR REPLACE VIEW fast AS SELECT id FROM parquet.`a`")

gate = threading.Event()
held = Extension("held", "1", 1, event_filters=(lambda event: gate.wait(60),))
headwater.attach(spark, events="full.ndjson", queue=1, quiet=True, extensions=[held], extension_seconds=100)
many(40)
gate.set()
headwater.detach(spark)

os.mkfifo("stuck.pipe")
headwater.attach(spark, events="stuck.pipe", flush_seconds=1, quiet=True)
begun = time.monotonic()
many(3)
headwater.detach(spark)
print("stuck", time.monotonic() - begun < 10)
"""
)


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    return Jobs(tmp_path_factory.mktemp("attaching"))


@pytest.fixture(scope="module")
def ended(jobs: Jobs) -> Ended:
    jobs.write(ATTACHING)
    return jobs.plain("job.py")


def written(jobs: Jobs, name: str) -> list[str]:
    return [listed.rsplit(".", 1)[1] for listed in statements(jobs.events(name))]


def test_the_program_goes_through(ended: Ended) -> None:
    assert (ended.code, "Traceback" in ended.err) == (0, False), ended.err
    unknown, badly, _, stuck = ended.out.splitlines()
    assert unknown.startswith("'qeue' is no setting of headwater; the settings are config, ")
    assert badly == "queue is 'many'; expected a whole number from 1 to 100000000."
    assert stuck == "stuck True"


def test_what_is_written_while_attached_is_seen_and_nothing_else(ended: Ended, jobs: Jobs) -> None:
    assert written(jobs, "before.ndjson") == ["a", "b"]
    assert jobs.events("twice.ndjson") == []
    assert written(jobs, "context.ndjson") == ["d"]
    for name in ("before.ndjson", "context.ndjson"):
        events = jobs.events(name)
        assert [state for _, state in (states(events)[0], states(events)[-1])] == ["START", "COMPLETE"]


def test_a_second_attach_says_which_settings_do_not_count(ended: Ended) -> None:
    assert [line for line in ended.err.splitlines() if "watched already" in line] == [
        "headwater: shop is watched already, with events='before.ndjson'; events='twice.ndjson' counts for sessions "
        "to come only. To change it, call headwater.detach(spark) first."
    ]


def test_the_last_line_names_tables_that_were_made_without_rows(ended: Ended) -> None:
    lines = ended.err.partition("--- empty\n")[2].splitlines()
    (line,) = [line for line in lines if line.startswith("headwater: no column")]
    assert line == "headwater: no column lineage: 1 dataset made, changed or dropped without a query's rows"


def test_a_length_of_descriptions_is_enough_to_have_them(ended: Ended, jobs: Jobs) -> None:
    (complete,) = [one for one in jobs.events("described.ndjson") if one["outputs"] and one["eventType"] == "COMPLETE"]
    ((source,),) = [one["inputFields"] for one in complete["outputs"][0]["facets"]["columnLineage"]["fields"].values()]
    assert [one_transformation["description"] for one_transformation in source["transformations"]] == ["(price + "]


def test_roots_of_a_frame_are_those_of_the_store_with_what_was_just_written(ended: Ended) -> None:
    assert "[['costs.cost'], ['a.price']]" in ended.out.splitlines()


def test_two_writes_of_one_job_that_leave_rows_alone_both_count(ended: Ended, jobs: Jobs) -> None:
    with open_store(str(jobs.folder / "roots.db"), read_only=True) as store:
        roots = roots_of(store, "both.v").roots
    assert {f"{Path(one.column.dataset.dataset.name).name}.{one.column.name}" for one in roots} == {"a.id", "b.price"}
    assert {job.name for one in roots for job in one.jobs} == {f"shop.{jobs.folder}/both"}


def test_an_agent_that_stops_before_it_is_woken_misses_nothing(ended: Ended, jobs: Jobs) -> None:
    *_, last = jobs.events("late.ndjson")
    assert (last["eventType"], gaps(last)) == ("COMPLETE", [])


def test_reads_have_events_when_the_setting_is_on(ended: Ended, jobs: Jobs) -> None:
    listed = statements(jobs.events("reads.ndjson"))
    assert list(listed) == ["shop.read.a", "shop.read.job.py", "shop.e"]
    reads = [one for one in jobs.events("reads.ndjson") if ".read." in one["job"]["name"]]
    assert [one["inputs"][0]["name"].rsplit("/", 1)[1] for one in reads] == ["a", "a", "job.py", "job.py"]
    assert [one["outputs"] for one in reads] == [[]] * 4
    assert short_name(reads[-1]) == "shop.read.job.py"


@pytest.mark.parametrize(("name", "output", "sources"), [("nodes", "cut", {"a", "b"}), ("seconds", "wide", {"a"})])
def test_a_plan_above_its_budget_keeps_every_input(
    ended: Ended, jobs: Jobs, name: str, output: str, sources: set[str]
) -> None:
    complete = next(one for one in jobs.events(f"{name}.ndjson") if one["outputs"] and one["eventType"] == "COMPLETE")
    assert complete["outputs"][0]["name"].endswith(f"/{output}")
    assert gaps(complete)[0] == ("budget", "plan")
    lineage = complete["outputs"][0]["facets"]["columnLineage"]
    for column, found in lineage["fields"].items():
        assert {one["name"].rsplit("/", 1)[1] for one in found["inputFields"]} == sources, column
        assert {one["field"] for one in found["inputFields"]} == {"id", "price"}
        assert all(
            any(one_transformation.get("opaque") for one_transformation in one["transformations"])
            for one in found["inputFields"]
        )


def test_a_small_plan_stays_within_the_same_budget(ended: Ended, jobs: Jobs) -> None:
    (view,) = [one for one in jobs.events("nodes.ndjson") if one["job"]["name"].endswith(".narrow")][1:]
    assert gaps(view) == []


def test_what_does_not_fit_into_the_queue_is_counted_and_leaves_no_run_open(ended: Ended, jobs: Jobs) -> None:
    deadline = time.monotonic() + 120
    while states(jobs.events("full.ndjson"))[-1:] != [("shop", "COMPLETE")] and time.monotonic() < deadline:
        time.sleep(0.1)
    events = jobs.events("full.ndjson")
    (listed,) = statements(events).values()
    assert listed == ["START", "COMPLETE"]
    assert gaps(events[-1]) == [("dropped", "39 executions")]
    assert "headwater: 39 executions: the queue of executions was full" in ended.err


def test_a_back_end_that_hangs_holds_the_program_no_longer_than_it_may(ended: Ended, jobs: Jobs) -> None:
    assert (ended.code, "stuck True" in ended.out) == (0, True)
    spooled = [path.read_text() for path in jobs.folder.rglob("spool/file@*stuck_pipe-*.ndjson")]
    listed = [json.loads(line)["eventType"] for line in "".join(spooled).splitlines()]
    assert sorted(listed) == ["COMPLETE"] * 4 + ["START"] * 4


AT_ONCE = (
    SPARK
    + """
import time
items.write.parquet("warm")
begun = time.thread_time()
for number in range(2_000_000):
    pass
counting = time.thread_time() - begun
clock = spark._jvm.java.lang.management.ManagementFactory.getThreadMXBean()
begun = time.thread_time() + clock.getCurrentThreadCpuTime() / 1e9
import headwater
headwater.attach(spark, events="once.ndjson", quiet=True)
print(time.thread_time() + clock.getCurrentThreadCpuTime() / 1e9 - begun, counting)
items.write.parquet("first")
"""
)


def test_attaching_takes_less_than_a_second_of_the_jobs_threads_and_misses_no_first_write(tmp_path: Path) -> None:
    """A second where Python counts twenty million steps in it; as much longer as the machine takes for those."""
    jobs = Jobs(tmp_path)
    jobs.write(AT_ONCE)
    ended = jobs.plain("job.py")
    assert ended.code == 0, ended.err
    attaching, counting = map(float, ended.out.split())
    assert attaching < max(1.0, 10 * counting)
    assert statements(jobs.events("once.ndjson")) == {"shop.first": ["START", "COMPLETE"]}
