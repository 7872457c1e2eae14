"""The exception or the exit status that ends a program: noted for the run of its application, shown as ever."""

import builtins
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dis import Instruction, get_instructions
from types import CodeType, FrameType, TracebackType
from typing import Any

from headwater.capture.guard import guarded
from headwater.ext.watchdog import frame_of

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]

EXITED = "The program exited with status {status}."

_PREPARING = {"CACHE", "PRECALL", "PUSH_NULL", "RESUME"}
_UNSEEN = object()
"""The status of an exit that nothing has shown."""


class Ending:
    """Notes how the program ends until let_go().

    ``own_files`` are the modules whose wrappers stand between the program and Spark: tracebacks leave them out.
    """

    def __init__(self, *own_files: str) -> None:
        self._own_files = (*own_files, __file__)
        self._process = os.getpid()
        self._earlier = _last_exception()
        self._outermost = _outermost_frame()
        self._status: object = _UNSEEN
        self._exit = sys.exit
        self._hook: Hook | None = None
        self._original_hook: Hook = sys.excepthook
        self._our_exit = self._exit_noted
        sys.exit = self._our_exit
        self._unwrap_quitter = _wrap_quitter(self._note_exit)
        self._stop_monitoring = _monitor_exits(self._note_raised)

    @property
    def error(self) -> str:
        """The uncaught exception or the exit status of a program that ends now; empty for a success."""
        last = self._uncaught()
        if last is not None:
            return f"{type(last).__name__}: {last}"
        status = self._last_status()
        if status is None or status == 0 or status is _UNSEEN:
            return ""
        return EXITED.format(status=status) if isinstance(status, int) else f"SystemExit: {status}"

    @property
    def unseen(self) -> bool:
        """True when an exit ends the program whose status nothing has shown: see `exit_status_file`."""
        return self._uncaught() is None and self._last_status() is _UNSEEN and self._outermost is not None

    def let_go(self) -> None:
        """Put ``sys.exit`` and ``sys.excepthook`` back, unless the program has put its own there."""
        self._outermost = None
        self._unwrap_quitter()
        self._stop_monitoring()
        if sys.exit is self._our_exit:
            sys.exit = self._exit
        if self._hook is not None and sys.excepthook is self._hook:
            sys.excepthook = self._original_hook

    def leave_out_frames(self) -> None:
        """Have the exception that passes a wrapper now shown without it, should nobody catch it."""
        if self._hook is None or sys.excepthook is not self._hook:
            self._original_hook, self._hook = sys.excepthook, self._shown
            sys.excepthook = self._hook

    def passing(self, error: BaseException | None) -> None:
        """Note the status of an exit that is on its way, should nobody catch it."""
        if isinstance(error, SystemExit):
            self._status = _printed(error.code)

    def _uncaught(self) -> BaseException | None:
        last = _last_exception()
        return None if last is self._earlier or hasattr(sys, "ps1") else last  # an interpreter goes on

    def _last_status(self) -> object:
        codes = _last_codes(self._outermost)
        return None if _has_returned(codes) else _raised_status(codes, self._outermost, self._status)

    def _exit_noted(self, status: Any = None, /) -> Any:
        self._note_exit(status)
        return self._exit(status)

    def _note_exit(self, status: Any) -> None:
        with guarded("noting an exit"):
            if self._may_end_the_program():
                self._status = _printed(status)
                self.leave_out_frames()

    def _note_raised(self, error: SystemExit) -> None:
        with guarded("noting an exit"):
            if self._may_end_the_program():
                self._status = _printed(error.code)

    def _may_end_the_program(self) -> bool:
        return os.getpid() == self._process and threading.current_thread() is threading.main_thread()

    def _shown(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        with guarded("showing an exception"):
            for one in _chain(error):
                _leave_out(one.__traceback__, self._own_files)
        return self._original_hook(kind, error, trace)


def exit_status_file() -> str:
    """Make a file that gets the exit status of this process, as one byte, when it exits; empty where libc cannot.

    Python is gone by then. The C library writes it: its ``on_exit`` calls ``fputc(status, file)``.
    """
    import ctypes  # here, since few programs end so
    import tempfile

    libc = ctypes.CDLL(None)
    if not hasattr(libc, "on_exit"):
        return ""
    number, path = tempfile.mkstemp(prefix="headwater-exit-status-")
    os.close(number)
    libc.fopen.restype = ctypes.c_void_p
    libc.on_exit(ctypes.cast(libc.fputc, ctypes.c_void_p), ctypes.c_void_p(libc.fopen(os.fsencode(path), b"w")))
    return path


def _last_exception() -> BaseException | None:
    """The exception that Python showed last, which it sets before it ends."""
    found = getattr(sys, "last_value", None)
    return found if isinstance(found, BaseException) else None


def _outermost_frame() -> FrameType | None:
    """The first frame of the main thread that is of the program itself: below it ``python -m`` has some of its own."""
    frame = frame_of(threading.main_thread())
    found = None
    while frame is not None:
        if found is None or frame.f_globals.get("__name__") == "__main__":
            found = frame
        frame = frame.f_back
    return found


def _printed(status: object) -> int | str | None:
    return status if isinstance(status, int | None) else str(status)


def _last_codes(frame: FrameType | None) -> list[Instruction]:
    """The instructions that a frame came to last, without those that only prepare a call."""
    if frame is None or frame.f_lasti < 0:
        return []
    codes = [one for one in get_instructions(frame.f_code) if one.offset <= frame.f_lasti]
    return [one for one in codes[-6:] if one.opname not in _PREPARING]


def _has_returned(codes: list[Instruction]) -> bool:
    """True when a frame has run to its end: an exit that was noted before was caught."""
    return bool(codes) and codes[-1].opname.startswith("RETURN")


def _raised_status(codes: list[Instruction], frame: FrameType | None, noted: object) -> object:
    """The status of a ``raise SystemExit(3)`` by which a frame ended, where it is a constant or a variable; else noted.

    Before Python 3.12 nothing shows the status of another one (`_monitor_exits`): the exception is gone when the
    program's last calls are made. `exit_status_file` has it later.
    """
    raised = [(one.opname, one.argval) for one in codes]
    if raised[-1:] == [("RAISE_VARARGS", 2)] and raised[-2][0] in {"LOAD_NAME", "LOAD_CONST"}:  # raise … from …
        raised = [*raised[:-2], ("RAISE_VARARGS", 1)]
    match raised[-4:]:
        case [*_, ("LOAD_NAME", name), ("RAISE_VARARGS", 1)] if _exits(frame, name):
            return None
        case [*_, ("LOAD_NAME", name), ("CALL", 0), ("RAISE_VARARGS", 1)] if _exits(frame, name):
            return None
        case [("LOAD_NAME", name), ("LOAD_CONST" | "LOAD_SMALL_INT", status), ("CALL", 1), ("RAISE_VARARGS", 1)] if (
            _exits(frame, name)
        ):
            return _printed(status)
        case [("LOAD_NAME", name), ("LOAD_NAME", status), ("CALL", 1), ("RAISE_VARARGS", 1)] if _exits(frame, name):
            return _printed(_value(frame, status))
    return noted


def _value(frame: FrameType | None, name: str) -> object:
    """Return the value of a name in the outermost frame, whose locals are its globals."""
    return getattr(builtins, name, None) if frame is None else frame.f_globals.get(name, getattr(builtins, name, None))


def _exits(frame: FrameType | None, name: str) -> bool:
    """True when the name is a SystemExit that takes its status as SystemExit does."""
    kind = _value(frame, name)
    return isinstance(kind, type) and issubclass(kind, SystemExit) and kind.__init__ is SystemExit.__init__


def _wrap_quitter(note: Callable[[Any], None]) -> Callable[[], None]:
    """Note the status of ``exit`` and ``quit``, which do not use ``sys.exit``; what is returned ends that."""
    kind: Any = getattr(sys.modules.get("_sitebuiltins"), "Quitter", None)
    if kind is None:
        return lambda: None
    original = kind.__call__

    @functools.wraps(original)
    def noting(self: Any, code: Any = None) -> Any:
        note(code)
        return original(self, code)

    def unwrap() -> None:
        if kind.__call__ is noting:
            kind.__call__ = original

    kind.__call__ = noting
    return unwrap


def _monitor_exits(note: Callable[[SystemExit], None]) -> Callable[[], None]:
    """Note each SystemExit that code in Python raises, from Python 3.12 on; what is returned ends that.

    ``sys.monitoring`` touches nothing of the program. A tool of it is a number that one may have: debuggers, coverage
    and profilers have theirs (PEP 669), 3 and 4 are for others. Only what raises an exception pays, 0.1 µs each.
    """
    monitoring: Any = getattr(sys, "monitoring", None)
    tool = next((one for one in (4, 3) if monitoring is not None and monitoring.get_tool(one) is None), None)
    if tool is None:
        return lambda: None

    def raised(code: CodeType, offset: int, error: BaseException) -> None:
        if issubclass(type(error), SystemExit):
            note(error)  # type: ignore[arg-type]

    def end() -> None:
        if monitoring.get_tool(tool) == "headwater":
            monitoring.set_events(tool, 0)  # before Python 3.14, to free a tool leaves its events on
            monitoring.register_callback(tool, monitoring.events.RAISE, None)
            monitoring.free_tool_id(tool)

    monitoring.use_tool_id(tool, "headwater")
    monitoring.register_callback(tool, monitoring.events.RAISE, raised)
    monitoring.set_events(tool, monitoring.events.RAISE)
    return end


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception, what caused it, and what it came up in."""
    seen: dict[int, BaseException] = {}
    open_ends: list[BaseException | None] = [error]
    while open_ends:
        one = open_ends.pop()
        if one is not None and id(one) not in seen:
            seen[id(one)] = one
            open_ends += [one.__cause__, one.__context__]
            yield one


def _leave_out(trace: TracebackType | None, files: tuple[str, ...]) -> None:
    while trace is not None:
        below = trace.tb_next
        if below is not None and below.tb_frame.f_code.co_filename in files:
            trace.tb_next = below.tb_next
        else:
            trace = below
