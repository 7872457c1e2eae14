"""Frames that Spark caches on its disks while they are in use, and settings for that time."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

Cache = Callable[[DataFrame], DataFrame]
"""A function that caches the rows of a frame: `CachedFrames`."""

_ADAPT = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


class CachedFrames:
    """Frames that are read several times: Spark makes the rows of each once, until `close`."""

    def __init__(self) -> None:
        self._frames: list[DataFrame] = []

    def __call__(self, frame: DataFrame) -> DataFrame:
        """The frame, whose rows are cached when they are read first."""
        self._frames.append(_without_plan(frame).persist(StorageLevel.DISK_ONLY))
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


def few_partitions(spark: SparkSession) -> AbstractContextManager[None]:
    """Frames that are cached in this context have as few partitions as their rows need.

    By default adaptive execution leaves the partitions of cached frames as they are, and a build has ten thousand tasks
    with nothing to do.
    """
    return session_setting(spark, _ADAPT, "true")


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
