"""Writes of tables in threads, while the next tables are still found."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

from pyspark.sql import SparkSession

Progress = Callable[[str], None]
"""A function that is called with a line after each step."""

_POOL = "spark.scheduler.pool"
_AT_ONCE = 2  # Spark plans one while tasks of the other run


class ParallelWrites:
    """Writes of tables, some at once, in a ``with`` statement; an error ends those that have not begun.

    Args:
        spark: a session, the properties of whose present thread all writes have, such as the group of its jobs.
        progress: called by the thread that waits, table by table: it may be no function for several threads.
    """

    def __init__(self, spark: SparkSession, progress: Progress) -> None:
        self._pool = threads_beside(spark, _AT_ONCE)
        self._progress = progress
        self._begun: dict[str, Future[tuple[Any, list[str]]]] = {}

    def begin(self, name: str, write: Callable[[Progress], Any]) -> None:
        """Begin a write of a table, which returns its mark and reports by the function that it is called with."""

        def reported() -> tuple[Any, list[str]]:
            lines: list[str] = []
            return write(lines.append), lines

        self._begun[name] = self._pool.submit(reported)

    def marks(self, names: Iterable[str]) -> dict[str, Any]:
        """Wait for tables in this order, and report what their writes did; returns their marks by name."""
        marks = {}
        for name in names:
            marks[name], lines = self._begun[name].result()
            for line in lines:
                self._progress(line)
        return marks

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Those that run are waited for: what they commit later nobody would revert.
        self._pool.shutdown(cancel_futures=error is not None)


def threads_beside(spark: SparkSession, many: int) -> ThreadPoolExecutor:
    """Return so many threads, whose jobs are of the present thread's group and its class loader, in their own pools."""
    return ThreadPoolExecutor(many, "headwater-archive", _properties_of_this_thread(spark))


def _properties_of_this_thread(spark: SparkSession) -> Callable[[], None]:
    """A function by which another thread gets the properties and the class loader of this one."""
    context = spark.sparkContext._jsc.sc()
    properties = context.getLocalProperties().clone()
    thread = spark._jvm.java.lang.Thread
    loader = thread.currentThread().getContextClassLoader()

    def take_over() -> None:
        context.setLocalProperties(properties.clone())
        thread.currentThread().setContextClassLoader(loader)
        if properties.getProperty(_POOL) is None:  # nobody has chosen one
            context.setLocalProperty(_POOL, threading.current_thread().name)

    return take_over
