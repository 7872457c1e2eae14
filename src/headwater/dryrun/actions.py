"""Actions of PySpark in a dry run: those that data answers are noted, those that leave Spark are not made."""

import functools
import inspect
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType
from typing import Any

from headwater.capture.hooks.rdd_actions import RDD_SAVES
from headwater.dryrun.places import place
from headwater.dryrun.report import Findings
from headwater.errors import DryRunError

_RESULTS = {
    "collect": "no rows",
    "count": "0",
    "first": "None",
    "head": "no row",
    "isEmpty": "True",
    "tail": "no rows",
    "take": "no rows",
    "toArrow": "no rows",
    "toLocalIterator": "no rows",
    "toPandas": "no rows",
}
"""Methods of DataFrame that take data to the program, and what they return of none."""

_CATALOG = ("databaseExists", "functionExists", "listColumns", "listDatabases", "listTables", "tableExists")
_FOREACH = ("foreach", "foreachPartition")
_WRITES = (
    "append",
    "create",
    "createOrReplace",
    "csv",
    "insertInto",
    "jdbc",
    "json",
    "orc",
    "overwrite",
    "overwritePartitions",
    "parquet",
    "replace",
    "save",
    "saveAsTable",
    "text",
    "xml",
)

_RDD_ACTIONS = (
    "aggregate",
    "collect",
    "collectAsMap",
    "count",
    "countApprox",
    "countApproxDistinct",
    "countByKey",
    "countByValue",
    "first",
    "fold",
    "foreach",
    "foreachPartition",
    "histogram",
    "isEmpty",
    "lookup",
    "max",
    "mean",
    "min",
    "reduce",
    "stats",
    "stdev",
    "sum",
    "take",
    "takeOrdered",
    "takeSample",
    "toLocalIterator",
    "top",
    "treeAggregate",
    "treeReduce",
    "variance",
)


_SCRIPT = re.compile(r"\s*BEGIN\b", re.IGNORECASE)

Wrappers = Mapping[tuple[Any, str], Callable[[Any], Any]]


class Actions:
    """Wraps the actions of PySpark from start() on.

    ``answers`` are results for places (``job.py:12``) that a person chose, in place of those of no data.
    """

    def __init__(self, findings: Findings, answers: Mapping[str, Any]) -> None:
        self.worker_codes: list[CodeType] = []
        self._findings = findings
        self._answers = answers
        self._depth = threading.local()

    def start(self) -> None:
        """Begin; PySpark is imported by this."""
        wrap_methods(self._wrappers())

    def _wrappers(self) -> Wrappers:
        from pyspark import RDD
        from pyspark.sql import DataFrameWriter, DataFrameWriterV2, GroupedData, SparkSession
        from pyspark.sql.catalog import Catalog
        from pyspark.sql.streaming import DataStreamWriter
        from pyspark.sql.udf import UserDefinedFunction

        frame = _data_frame_type()
        return {
            **{(frame, name): self._answering for name in _RESULTS},
            **{(frame, name): self._not_made for name in _FOREACH},
            **{(Catalog, name): self._of_catalog for name in _CATALOG},
            **{(RDD, name): self._refusing for name in _RDD_ACTIONS},
            **{(RDD, name): self._not_made for name in RDD_SAVES},
            **{(kind, name): self._changing for kind in (DataFrameWriter, DataFrameWriterV2) for name in _WRITES},
            (SparkSession, "sql"): self._changing,
            **{(DataStreamWriter, name): _ending for name in ("start", "toTable")},
            (GroupedData, "pivot"): self._pivoting,
            (UserDefinedFunction, "__init__"): self._of_workers,
        }

    @contextmanager
    def _outermost(self) -> Iterator[bool]:
        """Whether an action is called by the job, not by another action of PySpark."""
        depth = getattr(self._depth, "value", 0)
        self._depth.value = depth + 1
        try:
            yield depth == 0
        finally:
            self._depth.value = depth

    def _answering(self, original: Any) -> Any:
        action = original.__name__

        def answer(frame: Any, *args: Any, **kwargs: Any) -> Any:
            with self._outermost() as outermost:
                if not outermost or not reads_data(frame):
                    return original(frame, *args, **kwargs)
                site = place()
                if site in self._answers:
                    self._findings.answer(site, action, repr(self._answers[site]))
                    return _as_result(action, self._answers[site], args or tuple(kwargs.values()))
                self._findings.answer(site, action, _RESULTS[action])
                return original(frame, *args, **kwargs)

        return answer

    def _not_made(self, original: Any) -> Any:
        """A call without a result; capture, whose wrapper is around this one, has its lineage."""

        def call(rows: Any, *args: Any, **kwargs: Any) -> None:
            self._findings.refuse(place(), original.__name__, "what functions of the job do with rows is not seen")

        return call

    def _of_catalog(self, original: Any) -> Any:
        def look_up(catalog: Any, *args: Any, **kwargs: Any) -> Any:
            found = original(catalog, *args, **kwargs)
            self._findings.answer(place(), original.__name__, f"{found!r}, by the catalog of the dry run")
            return found

        return look_up

    def _changing(self, original: Any) -> Any:
        """A call that may run commands, of which the sandbox refuses some."""

        def change(writer: Any, *args: Any, **kwargs: Any) -> Any:
            if any(isinstance(one, str) and _SCRIPT.match(one) for one in (*args, *kwargs.values())):
                self._findings.answer(place(), "SQL script", "loops and branches as of no rows")
            made = original(writer, *args, **kwargs)
            session = writer if hasattr(writer, "_jvm") else writer._spark
            for command in session._jvm.headwater.dryrun.Commands.refused():
                self._findings.refuse(place(), original.__name__, f"the command changes what is no file: {command}")
            return made

        return change

    def _refusing(self, original: Any) -> Any:
        def act(rdd: Any, *args: Any, **kwargs: Any) -> Any:
            with self._outermost() as outermost:
                site = place()
                if not outermost:
                    return original(rdd, *args, **kwargs)
            self._findings.refuse(site, f"RDD.{original.__name__}", "an RDD runs functions of the job")
            raise DryRunError(
                f"RDD.{original.__name__} is refused in a dry run (at {site}): it runs the job's functions."
            )

        return act

    def _pivoting(self, original: Any) -> Any:
        def pivot(grouped: Any, pivot_col: str, values: Any = None) -> Any:
            if values is None:
                site = place()
                values = self._answers.get(site)
                self._findings.answer(site, "pivot", "no values" if values is None else repr(values))
            with self._outermost():
                return original(grouped, pivot_col, [] if values is None else values)

        return pivot

    def _of_workers(self, original: Any) -> Any:
        def init(udf: Any, func: Any, *args: Any, **kwargs: Any) -> None:
            code = getattr(inspect.unwrap(func), "__code__", None)
            if code is not None:
                self.worker_codes.append(code)
            original(udf, func, *args, **kwargs)

        return init


def wrap_methods(wrappers: Wrappers) -> None:
    """Put wrappers in the place of methods, by class and name; names that this PySpark lacks are left out."""
    for (kind, name), wrap in wrappers.items():
        if name in vars(kind):
            setattr(kind, name, functools.wraps(vars(kind)[name])(wrap(vars(kind)[name])))


def _ending(original: Any) -> Any:
    """Streaming queries end by themselves, as there is never more to read."""

    def start(writer: Any, *args: Any, **kwargs: Any) -> Any:
        return original(writer.trigger(availableNow=True), *args, **kwargs)

    return start


def reads_data(frame: Any) -> bool:
    """Whether the rows of a DataFrame depend on data: on others than the program's own."""
    jvm = frame.sparkSession._jvm
    return bool(jvm.headwater.dryrun.NoRows.reads(frame._jdf.queryExecution().analyzed()))


def _data_frame_type() -> Any:
    try:
        from pyspark.sql.classic.dataframe import DataFrame
    except ImportError:
        from pyspark.sql.dataframe import DataFrame
    return DataFrame


def _as_result(action: str, value: Any, arguments: tuple[Any, ...]) -> Any:
    """A value of a person's choice as the result of an action; rows are mappings of their columns."""
    from pyspark.sql import Row

    if action in ("count", "isEmpty"):
        return value
    if action == "toPandas":
        import pandas  # type: ignore[import-untyped]

        return pandas.DataFrame(value)
    rows = [Row(**row) for row in (value if isinstance(value, list) else [value])]
    if action == "toLocalIterator":
        return iter(rows)
    return (rows or [None])[0] if action == "first" or (action == "head" and not arguments) else rows
