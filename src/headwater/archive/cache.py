"""Frames that Spark caches on its disks while they are in use, and settings for that time."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from math import ceil

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

Cache = Callable[[DataFrame], DataFrame]
"""A function that caches the rows of a frame: `CachedFrames`."""

FEW_EVENTS = 25_000
"""The most events for which to compile and adapt plans costs more than it saves (decision 0141)."""

_EVENTS_A_PARTITION = 6_000
_PARTITIONS = "spark.sql.shuffle.partitions"
_FOR_ALL = {
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",  # else each text is copied and hashed, for a dictionary
}
_FOR_FEW = {
    "spark.sql.adaptive.enabled": "false",  # else each shuffle is a job of its own, and plans are optimized after each
    _PARTITIONS: "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.autoBroadcastJoinThreshold": "-1",  # else a side of each join is a job of its own
}


class CachedFrames:
    """Frames that are read several times: Spark makes the rows of each once, until `close`.

    ``few`` is whether they are of few events in one process, which then also forgets how their rows are made: else each
    task is sent the graph of all frames before, which is half of the CPU of an update.

    Args:
        level: where rows are cached that are not few.
        few: the first value of ``few``.
    """

    def __init__(self, level: StorageLevel = StorageLevel.DISK_ONLY, *, few: bool = False) -> None:
        self._frames: list[DataFrame] = []
        self._level = level
        self.few = few

    def __call__(self, frame: DataFrame) -> DataFrame:
        """The frame, whose rows are cached when they are read first."""
        if self.few:
            return frame.localCheckpoint(eager=False)  # its rows go when nobody holds the frame
        self._frames.append(_without_plan(frame).persist(self._level))
        return self._frames[-1]

    def close(self) -> None:
        """Remove the rows of all of them from the cache."""
        for frame in self._frames:
            frame.unpersist()


def _without_plan(frame: DataFrame) -> DataFrame:
    """The rows of a frame without the plan by which they are made; as it was on a Spark without Apache's classes.

    Else Spark analyzes and compares the whole plan at each use of it, and for its UI goes through the plans of cached
    frames below as often as there are ways to them: an update of 15 events did nothing else for minutes. Adaptive
    execution does the shuffles of the frame at once; lost partitions are made again.
    """
    try:
        _ = frame.rdd  # by which a headwater that watches the session knows the lineage of the rows
        spark, jvm_frame = frame.sparkSession, frame._jdf
        rows, schema = jvm_frame.queryExecution().toRdd(), jvm_frame.schema()
        return DataFrame(spark._jsparkSession.internalCreateDataFrame(rows, schema, False), spark)
    except Exception:  # a shorter plan is not worth a failed build
        return frame


@contextmanager
def build_settings(spark: SparkSession) -> Iterator[Callable[[int], bool]]:
    """Settings for the time of a build or an update; what it yields is called with the number of events once known.

    Frames that are cached in this context have as few partitions as their rows need: by default adaptive execution
    leaves the partitions of cached frames as they are, and a build has ten thousand tasks with nothing to do.

    Few events get a plan without what Spark does for many: the function returns whether they are few, in one process.
    Others have at most as many partitions as their number needs: a task writes a file for each partition of a shuffle.
    """
    with ExitStack() as stack:
        stack.enter_context(_session_settings(spark, _FOR_ALL))

        def fit(events: int) -> bool:
            if events > FEW_EVENTS:
                wanted = max(ceil(events / _EVENTS_A_PARTITION), spark.sparkContext.defaultParallelism)
                most = int(spark.conf.get(_PARTITIONS) or wanted)
                stack.enter_context(session_setting(spark, _PARTITIONS, str(min(wanted, most))))
                return False
            stack.enter_context(settings_for_few(spark))
            return in_one_process(spark)

        yield fit


def in_one_process(spark: SparkSession) -> bool:
    """Whether the executor is the driver, so that no cached rows can be lost alone."""
    return str(spark.sparkContext.master).startswith("local")


@contextmanager
def settings_for_few(spark: SparkSession) -> Iterator[None]:
    """Plans of few rows are neither compiled nor adapted in this context."""
    with _session_settings(spark, _FOR_FEW):
        yield


@contextmanager
def _session_settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    with ExitStack() as stack:
        for key, value in values.items():
            stack.enter_context(session_setting(spark, key, value))
        yield


@contextmanager
def session_setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    """A setting of a session has a value in this context."""
    before = spark.conf.get(key, None)
    spark.conf.set(key, value)
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, before)
