"""Watch a session that runs, and every SparkContext and client of Spark Connect that is made."""

import atexit
import functools
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from headwater.capture.application import applications
from headwater.capture.connect.client import Applications, hook_client, is_connect, unhook_client
from headwater.capture.guard import guarded, hush_libraries
from headwater.capture.hooks import boundaries, rdd_actions
from headwater.capture.hooks.endings import Ending
from headwater.capture.jvm.compiler import prepare
from headwater.capture.settings import CaptureSettings, capture_settings, require_back_ends
from headwater.errors import SettingError
from headwater.model import RunState

_hooked: dict[str, Any] = {}


def watch(session: Any, settings: Mapping[str, Any]) -> None:
    """Watch a session's application, and every one to come; see `headwater.attach`.

    Raises:
        SettingError: a setting that cannot be used, or a session that is none.
    """
    context = None if session is None else context_of(session)
    checked = capture_settings(settings)
    require_back_ends(checked)
    hook(checked)
    with guarded("attaching to Spark"):
        if context is not None:
            applications.begin(context, checked, settings)
        elif session is not None:
            applications.warn_of_other_settings(_remote.application(session.client), checked, settings)


def unwatch(session: Any) -> None:
    """Stop watching a session's application, or without a session every one; see `headwater.detach`.

    Raises:
        SettingError: a session that is none.
    """
    if session is None:
        applications.end_all()
        unhook()
    elif (context := context_of(session)) is not None:
        applications.end(context)
    elif (application := _remote.pop(session.client)) is not None:
        applications.end(application)


def hook(settings: CaptureSettings, context_type: Any = None) -> None:
    """Watch every SparkContext that is made from now on, until unhook(). A second call changes the settings.

    ``context_type`` is the class SparkContext, where pyspark is not yet imported to its end.
    """
    _hooked["settings"] = settings
    if "init" in _hooked:
        return
    kind = context_type or _context_type()
    hush_libraries()
    _hooked.update(
        type=kind,
        init=kind.__init__,
        stop=kind.stop,
        process=os.getpid(),
        ending=Ending(__file__, boundaries.__file__, rdd_actions.__file__),
    )
    kind.__init__, kind.stop = _watching_init(kind.__init__), _capturing_stop(kind.stop)
    _hooked["ours"] = (kind.__init__, kind.stop)
    _compile_while_spark_starts(kind)
    atexit.register(_at_exit)
    if "pyspark.sql.connect.client.core" in sys.modules:
        hook_connect(sys.modules["pyspark.sql.connect.client.core"].SparkConnectClient)


def hook_connect(kind: Any) -> None:
    """Watch every client of a remote Spark Connect server, once hook() is set."""
    hook_client(kind, _remote, applications.end)


def _begin_remote(application: Any) -> None:
    applications.begin(application, _hooked["settings"])


_remote = Applications(_begin_remote, lambda: _hooked["settings"])


def unhook() -> None:
    """Put SparkContext back as it was; a wrapper that another put over ours stays, and ours does nothing below it."""
    if "init" not in _hooked:
        return
    kind, (init, stop) = _hooked["type"], _hooked["ours"]
    if kind.__init__ is init and kind.stop is stop:
        kind.__init__, kind.stop = _hooked["init"], _hooked["stop"]
    unhook_client()
    _hooked["ending"].let_go()
    atexit.unregister(_at_exit)
    _hooked.clear()


def _compile_while_spark_starts(kind: Any) -> None:
    """The JVM is up well before its SparkContext: the tap is compiled in between, beside Spark's own start."""
    original = kind._ensure_initialized
    if getattr(original, "headwater", False):
        return

    def ensure_initialized(cls: Any, *args: Any, **kwargs: Any) -> None:
        with _frames_left_out:
            original(*args, **kwargs)
        with guarded("compiling the tap"):
            if "settings" in _hooked and cls._gateway is not None:
                prepare(cls._gateway)

    ensure_initialized.headwater = True  # type: ignore[attr-defined]
    kind._ensure_initialized = classmethod(ensure_initialized)


def _watching_init(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        with _frames_left_out:
            original(self, *args, **kwargs)
        with guarded("attaching to Spark"):
            if "settings" in _hooked:
                applications.begin(self, _hooked["settings"])

    return init


def _capturing_stop(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def stop(self: Any) -> None:
        with guarded("ending the capture"):
            # An exception may be on its way through a finally: whether it ends the program is known at its end.
            error = sys.exc_info()[1] if "ending" in _hooked else None
            if error is not None:
                _hooked["ending"].passing(error)
            applications.end(self, held=error is not None)
        with _frames_left_out:
            original(self)

    return stop


class _FramesLeftOut:
    """Around a call of the program's: its exceptions are shown without the wrapper that made the call."""

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and "ending" in _hooked:
            _hooked["ending"].leave_out_frames()


_frames_left_out = _FramesLeftOut()


def _at_exit() -> None:
    if os.getpid() != _hooked.get("process"):
        return
    ending: Ending = _hooked["ending"]
    with guarded("ending the capture"):
        _remote.begun()
        error = ending.error
        applications.end_all(RunState.FAIL if error else RunState.COMPLETE, error, status_unseen=ending.unseen)


def context_of(session: Any) -> Any:
    """The SparkContext behind a session, also behind one of a Spark Connect server in this process; else None.

    Raises:
        SettingError: it is no session.
    """
    kind = _context_type()
    if isinstance(session, kind):
        return session
    if is_connect(session) and hasattr(type(session), "client"):
        return kind._active_spark_context if "SPARK_LOCAL_REMOTE" in os.environ else None
    context = getattr(session, "sparkContext", None)
    if not isinstance(context, kind):
        raise SettingError(
            f"The session is of type {type(session).__name__}; expected a SparkSession or a SparkContext, "
            "as in headwater.attach(spark)."
        )
    return context


def _context_type() -> Any:
    from pyspark import SparkContext

    return SparkContext
