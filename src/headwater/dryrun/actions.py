"""Actions of PySpark in a dry run: those that data answers are noted, those that leave Spark are not made."""

import contextlib
import functools
import inspect
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, ModuleType
from typing import Any

from headwater.capture.hooks.rdd_actions import RDD_SAVES
from headwater.capture.imports import when_imported
from headwater.dryrun.places import place
from headwater.dryrun.report import Findings
from headwater.errors import DryRunError

_RESULTS = {
    "approxQuantile": "no value",
    "collect": "no rows",
    "corr": "no value",
    "count": "0",
    "cov": "no value",
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

_OF_STREAM = "WriteToDataSourceV2 "
"""The beginning of what was refused of a stream's batch."""

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
        self._stream = ""

    def start(self) -> None:
        """Begin; PySpark is imported by this."""
        wrap_methods(self._wrappers())
        when_imported("pyspark.ml", self._watch_fits)
        when_imported("pyspark.streaming", self._watch_streams)

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
            **{(DataStreamWriter, name): self._ending for name in ("start", "toTable")},
            (GroupedData, "pivot"): self._pivoting,
            (frame, "crosstab"): functools.partial(self._noting, "no columns"),
            (UserDefinedFunction, "__init__"): self._of_workers,
            (SparkSession, "_inferSchema"): self._inferring,
            (SparkSession, "_inferSchemaFromList"): self._inferring,
            (SparkSession, "createDataFrame"): _creating,
        }

    @contextlib.contextmanager
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
                source = reads(frame) if outermost else ""
                if not source:
                    return original(frame, *args, **kwargs)
                site = place()
                if site in self._answers:
                    self._findings.answer(site, action, repr(self._answers[site]))
                    return _as_result(action, self._answers[site], args or tuple(kwargs.values()))
                self._findings.answer(site, action, _RESULTS[action] if source == "data" else f"as of a {source}")
                found = original(frame, *args, **kwargs)
                return _Rows(found, frame.schema) if action == "collect" else found

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
            self._name_refused(session._jvm, place(), original.__name__)
            return made

        return change

    def _ending(self, original: Any) -> Any:
        """Streaming queries end by themselves, as there is never more to read."""

        def start(writer: Any, *args: Any, **kwargs: Any) -> Any:
            site = place()
            self._name_refused(writer._spark._jvm, site, original.__name__)
            self._stream = site
            return original(writer.trigger(availableNow=True), *args, **kwargs)

        return start

    def stop(self) -> None:
        """Name what was refused since the last call: a stream writes on a thread of its own."""
        from pyspark import SparkContext

        if self._stream and SparkContext._jvm is not None:
            with contextlib.suppress(Exception):  # a job may have ended its JVM
                self._name_refused(SparkContext._jvm, self._stream, "start")

    def _name_refused(self, java: Any, site: str, call: str) -> None:
        """Name the commands that were refused since this was last called; those of streams where these began."""
        for command in java.headwater.dryrun.Commands.refused():
            where = (self._stream, "start") if command.startswith(_OF_STREAM) else (site, call)
            self._findings.refuse(*where, f"the command changes what is no file: {command}")

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

    def _inferring(self, original: Any) -> Any:
        """The types of rows that are not there: of columns with names strings, which cast to all others."""

        def infer(session: Any, data: Any, *args: Any, names: Any = None, **kwargs: Any) -> Any:
            from pyspark.sql.types import StringType, StructField, StructType

            if not names or (isinstance(data, list) and data):
                return original(session, data, *args, names=names, **kwargs)
            schema = StructType([StructField(name, StringType()) for name in names])
            self._findings.answer(place(), "createDataFrame", f"a schema without rows: {schema.simpleString()}")
            return schema

        return infer

    def _noting(self, result: str, original: Any) -> Any:
        """A call that data answers, which is made; ``result`` is what it has without."""

        def call(*args: Any, **kwargs: Any) -> Any:
            with self._outermost() as outermost:
                if outermost:
                    self._findings.answer(place(), original.__name__, result)
                return original(*args, **kwargs)

        return call

    def _watch_fits(self, _: ModuleType) -> None:
        """Note what MLlib computes from rows, which are invented for it (``jvm/NoRows.java``)."""
        from pyspark.ml import Estimator
        from pyspark.ml.stat import ChiSquareTest, Correlation, KolmogorovSmirnovTest

        fits = [(Estimator, "fit"), (ChiSquareTest, "test"), (Correlation, "corr"), (KolmogorovSmirnovTest, "test")]
        wrap_methods(dict.fromkeys(fits, functools.partial(self._noting, "a model of invented rows")))

    def _watch_streams(self, _: ModuleType) -> None:
        from pyspark.streaming import StreamingContext

        wrap_methods({(StreamingContext, "start"): self._not_started})

    def _not_started(self, original: Any) -> Any:
        """Streams of RDDs never end, and are refused as actions of RDDs are."""

        def start(context: Any) -> Any:
            site, call = place(), f"StreamingContext.{original.__name__}"
            self._findings.refuse(site, call, "a DStream runs functions of the job")
            raise DryRunError(f"{call} is refused in a dry run (at {site}): it runs the job's functions.")

        return start

    def _of_workers(self, original: Any) -> Any:
        def init(udf: Any, func: Any, *args: Any, **kwargs: Any) -> None:
            code = getattr(inspect.unwrap(func), "__code__", None)
            if code is not None:
                self.worker_codes.append(code)
            original(udf, func, *args, **kwargs)

        return init


class _Rows(list[Any]):
    """The rows that were collected of no data, with the schema that they would have."""

    def __init__(self, rows: list[Any], schema: Any) -> None:
        super().__init__(rows)
        self.schema = schema


def wrap_methods(wrappers: Wrappers) -> None:
    """Put wrappers in the place of methods, by class and name; names that this PySpark lacks are left out."""
    for (kind, name), wrap in wrappers.items():
        found = vars(kind).get(name)
        if isinstance(found, staticmethod):
            setattr(kind, name, staticmethod(functools.wraps(found.__func__)(wrap(found.__func__))))
        elif found is not None:
            setattr(kind, name, functools.wraps(found)(wrap(found)))


def _creating(original: Any) -> Any:
    """A frame of rows that were collected has their schema, as it would have had with rows."""

    def create(session: Any, data: Any, schema: Any = None, *args: Any, **kwargs: Any) -> Any:
        if schema is None and isinstance(data, _Rows) and not data:
            schema = data.schema
        return original(session, data, schema, *args, **kwargs)

    return create


def reads(frame: Any) -> str:
    """Name what decides the rows of a DataFrame: ``data``, or a ``command``; empty where it is the program alone."""
    return str(frame.sparkSession._jvm.headwater.dryrun.NoRows.source(frame._jdf.queryExecution().analyzed()))


def _data_frame_type() -> Any:
    try:
        from pyspark.sql.classic.dataframe import DataFrame
    except ImportError:
        from pyspark.sql.dataframe import DataFrame
    return DataFrame


def _as_result(action: str, value: Any, arguments: tuple[Any, ...]) -> Any:
    """A value of a person's choice as the result of an action; rows are mappings of their columns."""
    from pyspark.sql import Row

    if action in ("approxQuantile", "corr", "count", "cov", "isEmpty"):
        return value
    if action == "toPandas":
        import pandas  # type: ignore[import-untyped]

        return pandas.DataFrame(value)
    rows = [Row(**row) for row in (value if isinstance(value, list) else [value])]
    if action == "toLocalIterator":
        return iter(rows)
    return (rows or [None])[0] if action == "first" or (action == "head" and not arguments) else rows
