"""Where Spark posts no event that says what happened: rows leave a plan (checkpoints, RDDs, ``transpose``), or CALL.

What becomes of RDDs is in ``rdd_actions.py``. A procedure is run while its CALL is analyzed (Spark 4,
InvokeProcedures): there is no execution.
"""

import functools
import re
from collections.abc import Callable
from typing import Any, Protocol

from headwater.capture.guard import guarded
from headwater.capture.rdd_actions import Acting, watched_actions

_MAKING = ("checkpoint", "localCheckpoint", "transpose")
_CALL = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*+CALL\b", re.IGNORECASE | re.DOTALL)


class Remembering(Acting, Protocol):
    """A tap that reads the plan of a DataFrame whose rows leave it, or that is the answer of a procedure."""

    def remember(self, data_frame: Any, checkpoint: Any = None) -> bool:
        """The rows are those of the DataFrame that was made of them, or without one of the DataFrame's RDD."""

    def remember_json(self, data_frame: Any, rdd: Any) -> bool:
        """The rows of the RDD are those of the DataFrame as JSON."""


def watch_boundaries(tap_of: Callable[[Any], Remembering | None]) -> Callable[[], None]:
    """Tell taps of checkpoints, RDDs and calls from now on; what is returned puts PySpark's classes back as they were.

    ``tap_of`` gives the tap of a SparkContext, None where it is not watched.
    """
    frame, session = _data_frame_type(), _session_type()
    making = [name for name in _MAKING if name in vars(frame)]  # transpose is new in Spark 4
    ours: dict[tuple[Any, str], Any] = {
        **{(frame, name): _making(vars(frame)[name], tap_of) for name in making},
        (frame, "rdd"): _rdd(vars(frame)["rdd"], tap_of),
        (frame, "toJSON"): _to_json(vars(frame)["toJSON"], tap_of),
        (session, "sql"): _calling(vars(session)["sql"], tap_of),
        **watched_actions(tap_of),
    }
    originals = {(kind, name): vars(kind)[name] for kind, name in ours}
    for (kind, name), wrapper in ours.items():
        setattr(kind, name, wrapper)

    def undo() -> None:
        for (kind, name), wrapper in ours.items():
            if vars(kind)[name] is wrapper:
                setattr(kind, name, originals[kind, name])

    return undo


def _data_frame_type() -> Any:
    """The class of 4.x, and of 3.5."""
    try:
        from pyspark.sql.classic.dataframe import DataFrame
    except ImportError:
        from pyspark.sql.dataframe import DataFrame
    return DataFrame


def _session_type() -> Any:
    from pyspark.sql.session import SparkSession

    return SparkSession


def _making(original: Any, tap_of: Callable[[Any], Remembering | None]) -> Any:
    @functools.wraps(original)
    def make(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        with guarded("remembering what was made of a DataFrame"):
            tap = tap_of(self.sparkSession.sparkContext)
            if tap is not None:
                tap.remember(self, made)
        return made

    return make


def _calling(original: Any, tap_of: Callable[[Any], Remembering | None]) -> Any:
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


def _to_json(original: Any, tap_of: Callable[[Any], Remembering | None]) -> Any:
    @functools.wraps(original)
    def to_json(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        with guarded("remembering the JSON of a DataFrame"):
            tap = tap_of(self.sparkSession.sparkContext)
            if tap is not None:
                tap.remember_json(self, made)
        return made

    return to_json


def _rdd(original: Any, tap_of: Callable[[Any], Remembering | None]) -> property:
    """``rdd`` is a property in 3.5 and cached by the instance in 4.x; it is told of when it is asked for first."""

    def rdd(self: Any) -> Any:
        found = original.__get__(self, type(self))
        with guarded("remembering an RDD"):
            tap = tap_of(self.sparkSession.sparkContext)
            if tap is not None and vars(self).get("_headwater") is not tap:
                self._headwater = tap
                tap.remember(self)
        return found

    return property(rdd, doc=original.__doc__)
