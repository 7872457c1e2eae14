"""Frames that Spark caches on its disks while they are in use, and settings for that time."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import reduce

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
        self._frames.append(frame.persist(StorageLevel.DISK_ONLY))
        return _with_short_plan(self._frames[-1])

    def close(self) -> None:
        """Remove the rows of all of them from the cache."""
        for frame in self._frames:
            frame.unpersist()


def _with_short_plan(cached: DataFrame) -> DataFrame:
    """The cached rows without the plan by which they are made; as they were on a Spark without Apache's classes.

    Else Spark analyzes and compares the whole plan of a frame at each use of it: two updates of some 15 events each
    took 21 and 15 s of CPU, and 25 and 21 before. The cache itself still has the plan, and makes lost partitions again.
    """
    spark, frame = cached.sparkSession, cached._jdf
    try:
        plan = frame.queryExecution().withCachedData()
        if plan.nodeName() != "InMemoryRelation":
            return cached
        dataset = reduce(getattr, frame.getClass().getName().split("."), spark._jvm)
        return DataFrame(dataset.ofRows(spark._jsparkSession, plan), spark)
    except Exception:  # a shorter plan is not worth a failed build
        return cached


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
