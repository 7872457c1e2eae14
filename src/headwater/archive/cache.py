"""Frames that Spark caches on its disks while they are in use, and settings for that time."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from math import ceil

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

Cache = Callable[[DataFrame], DataFrame]
"""A function that caches the rows of a frame: `CachedFrames`."""

FEW_EVENTS = 25_000
"""The most events for which to compile plans costs more than it saves (decision 0141)."""

MANY_EVENTS = 250_000
"""The most events for which to adapt plans costs more than it saves (decision 0147)."""

_EVENTS_A_PARTITION = 6_000
_PARTITIONS_A_CORE = 2  # of shuffles that are not adapted, whose small partitions nobody joins
_PARTITIONS = "spark.sql.shuffle.partitions"
_FOR_ALL = {
    "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
    "spark.sql.inMemoryColumnarStorage.compressed": "false",  # else each text is copied and hashed, for a dictionary
}
_NOT_ADAPTED = {
    "spark.sql.adaptive.enabled": "false",  # else each shuffle is a job of its own, and plans are optimized after each
}
_FOR_FEW = {
    **_NOT_ADAPTED,
    _PARTITIONS: "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.autoBroadcastJoinThreshold": "-1",  # else a side of each join is a job of its own
}


class CachedFrames:
    """Frames that are read several times: Spark makes the rows of each once, until `close`.

    ``checkpoints`` is whether it is forgotten how their rows are made, in one process: else each task is sent the graph
    of all frames before, which is half of the CPU of an update. ``few`` is whether they are of few events.

    Args:
        level: where rows are cached that are no checkpoints.
        checkpoints: the first value of ``checkpoints``.
    """

    def __init__(self, level: StorageLevel = StorageLevel.DISK_ONLY, *, checkpoints: bool = False) -> None:
        self._frames: list[DataFrame] = []
        self._level = level
        self.checkpoints = checkpoints
        self.few = False

    def __call__(self, frame: DataFrame) -> DataFrame:
        """The frame, whose rows are cached when they are read first."""
        if self.checkpoints:
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
def build_settings(spark: SparkSession, cache: CachedFrames) -> Iterator[Callable[[int], None]]:
    """Settings for the time of a build or an update; what it yields is called with the number of events once known.

    Frames that are cached in this context have as few partitions as their rows need: by default adaptive execution
    leaves the partitions of cached frames as they are, and a build has ten thousand tasks with nothing to do.

    Few events get plans without what Spark does for many, and ``cache`` then knows that they are few, in one process.
    Others have at most as many partitions as their number needs: a task writes a file for each partition of a shuffle.
    """
    with ExitStack() as stack:
        stack.enter_context(session_settings(spark, _FOR_ALL))

        def fit(events: int) -> None:
            stack.enter_context(session_settings(spark, _settings_for(spark, events)))
            cache.checkpoints = events <= MANY_EVENTS and in_one_process(spark)
            cache.few = events <= FEW_EVENTS and cache.checkpoints

        yield fit


def _settings_for(spark: SparkSession, events: int) -> Mapping[str, str]:
    if events <= FEW_EVENTS:
        return _FOR_FEW
    cores = spark.sparkContext.defaultParallelism
    wanted = max(ceil(events / _EVENTS_A_PARTITION), cores)
    most = min(wanted, int(spark.conf.get(_PARTITIONS) or wanted))
    if events > MANY_EVENTS:
        return {_PARTITIONS: str(most)}
    return _NOT_ADAPTED | {_PARTITIONS: str(min(most, _PARTITIONS_A_CORE * cores))}


def in_one_process(spark: SparkSession) -> bool:
    """Whether the executor is the driver, so that no cached rows can be lost alone."""
    return str(spark.sparkContext.master).startswith("local")


@contextmanager
def settings_for_few(spark: SparkSession) -> Iterator[None]:
    """Plans of few rows are neither compiled nor adapted in this context."""
    with session_settings(spark, _FOR_FEW):
        yield


@contextmanager
def session_settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Settings of a session have these values in this context."""
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
