"""Writes of tables in threads, beside what finds the next tables."""

import time
from typing import Any

import pytest

from headwater.archive.cache import CachedFrames, build_settings, session_settings
from headwater.archive.events.parser import start_worker
from headwater.archive.parallel_writes import ParallelWrites

_TASKS = 40
_EACH = 100  # milliseconds of a task


@pytest.mark.spark
def test_a_write_does_not_keep_others_waiting(spark: Any) -> None:
    """The session is that of the command, which shares tasks out fairly: else all tasks of the first job come first."""
    slow = spark.range(0, _TASKS, 1, _TASKS).selectExpr(f"reflect('java.lang.Thread', 'sleep', {_EACH}L)")
    begun: list[float] = []

    def write(progress: Any) -> float:
        begun.append(time.monotonic())
        slow.collect()
        return time.monotonic()

    with ParallelWrites(spark, print) as writes:
        writes.begin("slow", write)
        while not begun:
            time.sleep(0.01)
        time.sleep(5 * _EACH / 1000)
        assert spark.range(2).count() == 2
        found = time.monotonic()
        written = writes.marks(["slow"])["slow"]
    assert found < written
    assert written - begun[0] > _TASKS * _EACH / 1000 / 2
    assert spark.sparkContext.getLocalProperty("spark.scheduler.pool") is None


@pytest.mark.spark
def test_writes_stay_in_the_pool_that_somebody_has_chosen(spark: Any) -> None:
    context = spark.sparkContext
    context.setLocalProperty("spark.scheduler.pool", "theirs")
    try:
        with ParallelWrites(spark, print) as writes:
            writes.begin("one", lambda progress: context.getLocalProperty("spark.scheduler.pool"))
            assert writes.marks(["one"]) == {"one": "theirs"}
    finally:
        context.setLocalProperty("spark.scheduler.pool", None)


@pytest.mark.spark
def test_a_plan_is_compiled_once_for_the_threads_of_a_build_and_its_tasks(spark: Any) -> None:
    """By the loader of a thread Spark knows a plan that it has compiled, and tasks have one of their own."""
    compilations = spark._jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()
    thread = spark._jvm.java.lang.Thread
    before = thread.currentThread().getContextClassLoader()

    def compiled(number: int) -> int:
        rows = spark.range(0, 100, 1, 2).where(f"id % {number} = 1")
        begun = compilations.getCount()
        rows._jdf.queryExecution().toRdd().count()
        return int(compilations.getCount() - begun)

    of_a_session = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
    with session_settings(spark, of_a_session), build_settings(spark, CachedFrames()):
        assert compiled(7) == 1
        with ParallelWrites(spark, print) as writes:
            writes.begin("one", lambda progress: compiled(11))
            assert writes.marks(["one"]) == {"one": 1}
    assert thread.currentThread().getContextClassLoader().equals(before)


@pytest.mark.spark
def test_a_worker_starts_by_one_task_that_reads_no_line(spark: Any) -> None:
    context = spark.sparkContext
    context.setLocalProperty("spark.jobGroup.id", "start of a worker")
    try:
        start_worker(spark)
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
    tracker = context.statusTracker()
    [job] = tracker.getJobIdsForGroup("start of a worker")
    assert [tracker.getStageInfo(stage).numTasks for stage in tracker.getJobInfo(job).stageIds] == [1]
