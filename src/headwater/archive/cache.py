"""Frames that Spark caches on its disks while they are in use, and settings for that time."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from math import ceil
from typing import Protocol

import pyspark
from py4j.java_gateway import java_import
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

Cache = Callable[[DataFrame], DataFrame]
"""A function that caches the rows of a frame: `CachedFrames`."""

FEW_EVENTS = 25_000
"""The most events for which to compile plans costs more than it saves (decision 0141)."""

MANY_EVENTS = 250_000
"""The most events for which to adapt plans costs more than it saves (decision 0147)."""

_EVENTS_A_PARTITION = 6_000
_MOST_SENT = 100_000  # rows that go to all tasks of a join
_PARTITIONS_A_CORE = 1  # of shuffles that are not adapted, whose small partitions nobody joins
_PARTITIONS = "spark.sql.shuffle.partitions"
_CHECKPOINTS_HAVE_LEVELS = not pyspark.__version__.startswith("3.")
_LOOKED_UP = ("sql.functions", "api.python.PythonUtils", "sql.api.python.PythonSQLUtils")
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


class FitSettings(Protocol):
    """A function that fits the settings of `build_settings` to numbers of events, once or several times."""

    def __call__(self, events: int, before: int = 0) -> None:
        """Fit them to events that are folded: all of them, or new ones that are added to those before."""


class CachedFrames:
    """Frames that are read several times: Spark makes the rows of each once, until `close`.

    ``checkpoints`` is whether it is forgotten how their rows are made, in one process: else each task is sent the graph
    of all frames before, which is half of the CPU of an update. ``few`` is whether they are of few events,
    ``beside_many`` whether these are added to many: then what few rows are joined with need not be shuffled (`sent`).

    Args:
        level: where rows are cached that are no checkpoints.
        checkpoints: the first value of ``checkpoints``.
    """

    def __init__(self, level: StorageLevel = StorageLevel.DISK_ONLY, *, checkpoints: bool = False) -> None:
        self._frames: list[DataFrame] = []
        self._level = level
        self.checkpoints = checkpoints
        self.few = False
        self.beside_many = False

    def __call__(self, frame: DataFrame) -> DataFrame:
        """The frame, whose rows are cached when they are read first."""
        if self.checkpoints:
            return frame.localCheckpoint(eager=False)  # its rows go when nobody holds the frame
        self._frames.append(_without_plan(frame).persist(self._level))
        return self._frames[-1]

    def whole_rows(self, frame: DataFrame) -> DataFrame:
        """The frame, whose rows are cached on disk as they are when they are read first, and are read whole each time.

        Else Spark caches their columns, in buffers that grow and are copied. In one process, where no rows can be lost.
        """
        if self.checkpoints or not (_CHECKPOINTS_HAVE_LEVELS and in_one_process(frame.sparkSession)):
            return self(frame)
        return frame.localCheckpoint(eager=False, storageLevel=StorageLevel.DISK_ONLY)

    def sent(self, rows: DataFrame, count: int) -> DataFrame:
        """Rows that are so many; few beside many go to all tasks of a join, and the other side stays where it is."""
        return sf.broadcast(rows) if self.sends(count) else rows

    def sends(self, count: int) -> bool:
        """Whether so many rows are few beside many."""
        return self.beside_many and count <= _MOST_SENT

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
def _loading_as_tasks_do(spark: SparkSession) -> Iterator[None]:
    """Give this thread the class loader of tasks, a child of its own, in this context.

    Spark keeps compiled code by class loader: with another one it compiles each plan in this thread and again in tasks.
    """
    thread = spark._jvm.java.lang.Thread.currentThread()
    before = thread.getContextClassLoader()
    with suppress(Exception):  # on a cluster it is not in this process; to compile twice is not worth a failed build
        thread.setContextClassLoader(spark._jsc.sc().env().serializer().defaultClassLoader().get())
    try:
        yield
    finally:
        thread.setContextClassLoader(before)


def _import_functions(spark: SparkSession) -> None:
    """Let Java know where Spark's functions are: else it looks into each jar of Spark at each call of one of them."""
    for name in _LOOKED_UP:
        java_import(spark._jvm, f"org.apache.spark.{name}")


@contextmanager
def build_settings(spark: SparkSession, cache: CachedFrames) -> Iterator[FitSettings]:
    """Settings for the time of a build or an update; what it yields is called with the numbers of events once known.

    Frames that are cached in this context have as few partitions as their rows need: by default adaptive execution
    leaves the partitions of cached frames as they are, and a build has ten thousand tasks with nothing to do.

    Few events get plans without what Spark does for many, also where they are added to many; ``cache`` then knows of
    what size they are. Others have at most as many partitions as their number needs: a task writes a file for each
    partition of a shuffle.
    """
    _import_functions(spark)
    with session_settings(spark, _FOR_ALL), _loading_as_tasks_do(spark), ExitStack() as fitted:

        def fit(events: int, before: int = 0) -> None:
            fitted.close()
            cache.beside_many = events <= FEW_EVENTS < events + before
            folded = events if cache.beside_many else events + before
            fitted.enter_context(session_settings(spark, _settings_for(spark, folded, cache.beside_many)))
            cache.checkpoints = folded <= MANY_EVENTS and in_one_process(spark)
            cache.few = events + before <= FEW_EVENTS and cache.checkpoints

        yield fit


def _settings_for(spark: SparkSession, events: int, beside_many: bool) -> Mapping[str, str]:
    cores = spark.sparkContext.defaultParallelism
    if beside_many:
        return _FOR_FEW | {_PARTITIONS: str(min(cores, int(spark.conf.get(_PARTITIONS) or cores)))}
    if events <= FEW_EVENTS:
        return _FOR_FEW
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
