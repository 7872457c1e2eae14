"""What Spark keeps on its disks for as long as it is in use."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

Keep = Callable[[DataFrame], DataFrame]
"""Has Spark keep the rows of a frame: `Kept`."""

_ADAPT = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


class Kept:
    """Frames that are read several times: each is made once, until `close`."""

    def __init__(self) -> None:
        self._frames: list[DataFrame] = []

    def __call__(self, frame: DataFrame) -> DataFrame:
        """Has Spark keep the rows of a frame."""
        self._frames.append(frame.persist(StorageLevel.DISK_ONLY))
        return _with_short_plan(self._frames[-1])

    def close(self) -> None:
        """Lets go of all of them."""
        for frame in self._frames:
            frame.unpersist()


def _with_short_plan(kept: DataFrame) -> DataFrame:
    """The rows that are kept, without the plan by which they are made; on a Spark without Apache's classes as before.

    Else Spark analyzes and compares all that led to a frame at each use of it: two updates of some 15 events each took
    21 and 15 s of CPU, and 25 and 21 before. The plan is still behind the rows: lost parts are made again.
    """
    spark, frame = kept.sparkSession, kept._jdf
    try:
        plan = frame.queryExecution().withCachedData()
        if plan.nodeName() != "InMemoryRelation":
            return kept
        dataset = reduce(getattr, frame.getClass().getName().split("."), spark._jvm)
        return DataFrame(dataset.ofRows(spark._jsparkSession, plan), spark)
    except Exception:  # a shorter plan is worth no build
        return kept


@contextmanager
def few_parts(spark: SparkSession) -> Iterator[None]:
    """Frames that are kept meanwhile have as few parts as their rows need.

    Else adaptive execution leaves alone how they are parted, and a build has ten thousand tasks with nothing to do.
    """
    before = spark.conf.get(_ADAPT, None)
    spark.conf.set(_ADAPT, "true")
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(_ADAPT)
        else:
            spark.conf.set(_ADAPT, before)
