"""Where Spark posts no event that says what happened: rows leave a plan (checkpoints, RDDs, ``transpose``), or CALL.

What becomes of RDDs is in ``rdd_actions.py``. A procedure is run while its CALL is analyzed (Spark 4,
InvokeProcedures): there is no execution.
"""

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Protocol

from headwater.capture.guard import guarded
from headwater.capture.hooks.rdd_actions import RddActionTap, watched_actions
from headwater.capture.imports import when_imported

_MAKING = ("checkpoint", "localCheckpoint", "transpose")
_STATISTICS = "pyspark.ml.stat"
_COMPUTING = (("Correlation", "corr"), ("KolmogorovSmirnovTest", "test"))
_CALL = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*+CALL\b", re.IGNORECASE | re.DOTALL)


class FrameTap(RddActionTap, Protocol):
    """A tap that reads the plan of a DataFrame whose rows leave it, or that is the answer of a procedure."""

    def remember(self, data_frame: Any, checkpoint: Any = None) -> bool:
        """The rows are those of the DataFrame that was made of them, or without one of the DataFrame's RDD."""

    def remember_json(self, data_frame: Any, rdd: Any) -> bool:
        """The rows of the RDD are those of the DataFrame as JSON."""


def watch_boundaries(tap_of: Callable[[Any], FrameTap | None]) -> Callable[[], None]:
    """Tell taps of checkpoints, RDDs and calls from now on; what is returned puts PySpark's classes back as they were.

    ``tap_of`` gives the tap of a SparkContext, None where it is not watched.
    """
    frame, session, wrapped = data_frame_type(), _session_type(), _Wrapped()
    making = [name for name in _MAKING if name in vars(frame)]  # transpose is new in Spark 4
    wrapped.put({(frame, name): _making(vars(frame)[name], tap_of) for name in making})
    wrapped.put({(frame, "rdd"): _rdd(vars(frame)["rdd"], tap_of)})
    wrapped.put({(frame, "toJSON"): _to_json(vars(frame)["toJSON"], tap_of)})
    wrapped.put({(session, "sql"): _calling(vars(session)["sql"], tap_of)})
    wrapped.put(watched_actions(tap_of))

    def watch_statistics(module: ModuleType) -> None:
        with guarded("watching MLlib's statistics"):
            wrapped.put(_computing_in(module, tap_of))

    forget = when_imported(_STATISTICS, watch_statistics)

    def undo() -> None:
        forget()
        wrapped.undo()

    return undo


class _Wrapped:
    """Attributes of PySpark's classes that are ours, and what they were."""

    def __init__(self) -> None:
        self._ours: dict[tuple[Any, str], Any] = {}
        self._originals: dict[tuple[Any, str], Any] = {}

    def put(self, ours: Mapping[tuple[Any, str], Any]) -> None:
        for (kind, name), wrapper in ours.items():
            self._originals[kind, name], self._ours[kind, name] = vars(kind)[name], wrapper
            setattr(kind, name, wrapper)

    def undo(self) -> None:
        """Put back what was there, but where another put its own over ours."""
        for (kind, name), wrapper in self._ours.items():
            if vars(kind)[name] is wrapper:
                setattr(kind, name, self._originals[kind, name])


def data_frame_type() -> Any:
    """The class of classic data frames, of Spark 4.x or of 3.5."""
    try:
        from pyspark.sql.classic.dataframe import DataFrame
    except ImportError:
        from pyspark.sql.dataframe import DataFrame
    return DataFrame


def _session_type() -> Any:
    from pyspark.sql.session import SparkSession

    return SparkSession


def _making(original: Any, tap_of: Callable[[Any], FrameTap | None]) -> Any:
    @functools.wraps(original)
    def make(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        with guarded("remembering what was made of a DataFrame"):
            tap = tap_of(self.sparkSession.sparkContext)
            if tap is not None:
                tap.remember(self, made)
        return made

    return make


def _computing_in(module: ModuleType, tap_of: Callable[[Any], FrameTap | None]) -> dict[tuple[Any, str], Any]:
    """The functions of MLlib that make a DataFrame of a number that the driver computed of a column."""
    kinds = ((getattr(module, kind, None), name) for kind, name in _COMPUTING)
    return {(kind, name): _computing(vars(kind)[name].__func__, tap_of) for kind, name in kinds if kind is not None}


def _computing(original: Any, tap_of: Callable[[Any], FrameTap | None]) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def compute(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        with guarded("remembering what was computed of a DataFrame"):
            data_frame, column, *_ = signature.bind(*args, **kwargs).arguments.values()
            tap = tap_of(data_frame.sparkSession.sparkContext) if isinstance(data_frame, data_frame_type()) else None
            if tap is not None:
                tap.remember(data_frame.select(column), made)
        return made

    return staticmethod(compute)


def _calling(original: Any, tap_of: Callable[[Any], FrameTap | None]) -> Any:
    """``spark.sql``: of statements that begin with CALL the answer is looked at."""

    @functools.wraps(original)
    def sql(self: Any, *args: Any, **kwargs: Any) -> Any:
        answer = original(self, *args, **kwargs)
        with guarded("reading a call"):
            text = args[0] if args else kwargs.get("sqlQuery")
            tap = tap_of(self.sparkContext) if isinstance(text, str) and _CALL.match(text) else None
            if tap is not None:
                tap.remember(answer)
        return answer

    return sql


def _to_json(original: Any, tap_of: Callable[[Any], FrameTap | None]) -> Any:
    @functools.wraps(original)
    def to_json(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        with guarded("remembering the JSON of a DataFrame"):
            tap = tap_of(self.sparkSession.sparkContext)
            if tap is not None:
                tap.remember_json(self, made)
        return made

    return to_json


def _rdd(original: Any, tap_of: Callable[[Any], FrameTap | None]) -> property:
    """``rdd`` is a property in 3.5 and cached by the instance in 4.x; it is noted at the first access."""

    def rdd(self: Any) -> Any:
        found = original.__get__(self, type(self))
        with guarded("remembering an RDD"):
            tap = tap_of(self.sparkSession.sparkContext)
            if tap is not None and vars(self).get("_headwater") is not tap:
                self._headwater = tap
                tap.remember(self)
        return found

    return property(rdd, doc=original.__doc__)
