"""RDDs that are saved, or whose rows a function takes: Spark posts no SQL execution for them.

The methods of PySpark's RDD are wrapped: in the JVM a ``foreach`` is a count.
"""

import functools
import inspect
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import FrameType
from typing import Any, Protocol, cast

from headwater.capture.guard import guarded
from headwater.capture.rows import RddAction

RDD_SAVES = (
    "saveAsHadoopDataset",
    "saveAsHadoopFile",
    "saveAsNewAPIHadoopDataset",
    "saveAsNewAPIHadoopFile",
    "saveAsPickleFile",
    "saveAsSequenceFile",
    "saveAsTextFile",
)
_TAKES = ("foreach", "foreachPartition")
_CHECKPOINTS = ("checkpoint", "localCheckpoint")
_PATHS = ("mapreduce.output.fileoutputformat.outputdir", "mapred.output.dir")
_FORMATS = ("mapreduce.job.outputformat.class", "mapred.output.format.class", "mapreduce.outputformat.class")
Ended = Callable[[BaseException | None], None]
_LINES, _PAIRS = ("value",), ("key", "value")
"""The columns that ``textFile`` and ``sequenceFile`` read."""


class RddActionTap(Protocol):
    """A tap that is handed what happens to RDDs."""

    def begin_action(self, action: RddAction) -> int:
        """It begins; a number for end_action(), 0 when it will not be known."""

    def end_action(self, number: int, failure: Any) -> None:
        """It has ended; by ``failure``, a text or a Java exception, unless that is None."""

    def keep_origins(self, rdd: Any) -> None:
        """An RDD will be checkpointed, which cuts off what it depends on."""


def watched_actions(tap_of: Callable[[Any], RddActionTap | None]) -> dict[tuple[Any, str], Any]:
    """The methods of RDD to be put in the place of PySpark's, by class and name."""
    from pyspark import RDD

    actions = {(RDD, name): _watched(name, vars(RDD)[name], tap_of) for name in (*RDD_SAVES, *_TAKES)}
    return actions | {(RDD, name): _keeping(vars(RDD)[name], tap_of) for name in _CHECKPOINTS}


def _keeping(original: Any, tap_of: Callable[[Any], RddActionTap | None]) -> Any:
    @functools.wraps(original)
    def checkpoint(self: Any, *args: Any, **kwargs: Any) -> Any:
        done = original(self, *args, **kwargs)
        with guarded("remembering a checkpoint of an RDD"):
            if (tap := tap_of(self.ctx)) is not None:
                tap.keep_origins(self)
        return done

    return checkpoint


def _watched(name: str, original: Any, tap_of: Callable[[Any], RddActionTap | None]) -> Any:
    signature = inspect.signature(original)

    @functools.wraps(original)
    def act(self: Any, *args: Any, **kwargs: Any) -> Any:
        end: Ended = _not_watched
        site: AbstractContextManager[Any] = nullcontext()
        with guarded("reading what happens to an RDD"):
            end = _begun(tap_of(self.ctx), name, self, _arguments(signature, self, *args, **kwargs))
            site = _call_site(self.ctx, name, sys._getframe(1)) if name in _TAKES else site
        try:
            with site:
                result = original(self, *args, **kwargs)
        except BaseException as error:
            end(error)
            raise
        end(None)
        return result

    return act


def _not_watched(error: BaseException | None) -> None:
    """Nobody wants to know."""


def _arguments(signature: inspect.Signature, *args: Any, **kwargs: Any) -> Mapping[str, Any] | None:
    """The arguments of a call by name; None of one that Python refuses."""
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError:
        return None


def _begun(tap: RddActionTap | None, method: str, rdd: Any, arguments: Mapping[str, Any] | None) -> Ended:
    """Hand over that a method begins; what is returned takes its end."""
    if tap is None or arguments is None or not (number := tap.begin_action(_action(method, rdd, arguments))):
        return _not_watched

    def end(error: BaseException | None) -> None:
        with guarded("reading what happened to an RDD"):
            tap.end_action(number, None if error is None else _failure(error))

    return end


def _failure(error: BaseException) -> Any:
    """The Java exception behind an error; the text of one of Python's own."""
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    return f"{type(error).__name__}: {error}" if java is None else java


def _action(method: str, rdd: Any, arguments: Mapping[str, Any]) -> RddAction:
    """The action of a call; ``_jrdd`` of an RDD with a function of its own would pickle that function once more.

    Unless the RDD is cached, a function upon it is made one with its own, and the job goes on from what is below.
    """
    below = getattr(rdd, "_prev_jrdd", None)
    java_rdd = below if below is not None and rdd._is_pipelinable() else rdd._jrdd
    action = RddAction(method[0].upper() + method[1:], java_rdd, below is not None)
    return action if method in _TAKES else _saved(action, method, arguments)


def _saved(action: RddAction, method: str, arguments: Mapping[str, Any]) -> RddAction:
    """Hadoop's settings say where and how, unless arguments do; its own format is that of text."""
    conf = arguments.get("conf") or {}
    path = arguments.get("path") or _first(conf, _PATHS)
    form = arguments.get("outputFormatClass") or _first(conf, _FORMATS) or "Text"
    is_text = method == "saveAsTextFile" or ("Hadoop" in method and "Text" in form)
    changed = action.changed or method != "saveAsTextFile"
    return replace(action, changed=changed, path=path, columns=_LINES if is_text else _PAIRS)


def _first(conf: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    return next((conf[key] for key in keys if key in conf), None)


def _call_site(context: Any, name: str, caller: FrameType) -> AbstractContextManager[Any]:
    """The call site that Spark shows for the job: PySpark would name the frame that called it, which is now ours."""
    from pyspark import traceback_utils

    folder = os.path.dirname(traceback_utils.__file__)
    above: FrameType | None = caller
    while above is not None:
        if above.f_code.co_filename.startswith(folder):
            return nullcontext()
        above = above.f_back
    site = traceback_utils.SCCallSiteSync(context)
    site._call_site = f"{name} at {caller.f_code.co_filename}:{caller.f_lineno}"
    return cast(AbstractContextManager[Any], site)
