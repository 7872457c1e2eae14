"""Where rows leave the plan of a DataFrame: checkpoints and RDDs. Spark posts no event of it that names the RDD."""

import functools
from collections.abc import Callable
from typing import Any, Protocol

from headwater.capture.guard import guarded

_CHECKPOINTS = ("checkpoint", "localCheckpoint")


class Remembering(Protocol):
    """A tap that reads the plan of a DataFrame whose rows leave it."""

    def remember(self, data_frame: Any, checkpoint: Any = None) -> bool:
        """The rows are those of the checkpoint that was made, or without one of the DataFrame's RDD."""


def watch_boundaries(tap_of: Callable[[Any], Remembering | None]) -> Callable[[], None]:
    """Tell taps of checkpoints and RDDs from now on; what is returned puts the class DataFrame back as it was.

    ``tap_of`` gives the tap of a SparkContext, None where it is not watched.
    """
    kind = _data_frame_type()
    originals = {name: vars(kind)[name] for name in (*_CHECKPOINTS, "rdd")}
    ours: dict[str, Any] = {name: _checkpointing(originals[name], tap_of) for name in _CHECKPOINTS}
    ours["rdd"] = _rdd(originals["rdd"], tap_of)
    for name, wrapper in ours.items():
        setattr(kind, name, wrapper)

    def undo() -> None:
        for name, wrapper in ours.items():
            if vars(kind)[name] is wrapper:
                setattr(kind, name, originals[name])

    return undo


def _data_frame_type() -> Any:
    """The class of 4.x, and of 3.5."""
    try:
        from pyspark.sql.classic.dataframe import DataFrame
    except ImportError:
        from pyspark.sql.dataframe import DataFrame
    return DataFrame


def _checkpointing(original: Any, tap_of: Callable[[Any], Remembering | None]) -> Any:
    @functools.wraps(original)
    def checkpoint(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(self, *args, **kwargs)
        with guarded("remembering a checkpoint"):
            tap = tap_of(self.sparkSession.sparkContext)
            if tap is not None:
                tap.remember(self, made)
        return made

    return checkpoint


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
