"""Code of others, run within a time, on a thread that can be given up."""

import ctypes
import gc
import operator
import re
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from types import FrameType
from typing import Generic, TypeVar

from headwater.errors import ExtensionError
from headwater.redaction import redact

_T = TypeVar("_T")
_OURS = "headwater"  # which asks and checks, and holds no lock meanwhile
_LOOKS = 100  # a millisecond after each other, for a moment at which a thread can be ended without harm
_MOMENT = 0.02  # seconds in which a thread that runs gets what was raised in it
_STEPS = 1_000  # of Python, in the first of which a thread gets what was raised in it


class _ThreadEnded(SystemExit):
    """Raised in a thread that is given up, which it ends quietly: a loop is not to run beside the job for ever."""


class _BackgroundWork(Generic[_T]):
    """A piece of work on a daemon thread, and what became of it."""

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self.result: list[_T] = []
        self.error: BaseException | None = None
        self._ending = threading.Lock()
        self._over = False
        self.thread = threading.Thread(target=self._run, name="headwater-extension", daemon=True)

    def _run(self) -> None:
        # What comes when the work is done is awaited here: else it would be raised in what Python does when a thread
        # ends.
        with suppress(_ThreadEnded):
            try:
                self.result.append(self._work())
            except BaseException as error:
                self.error = error
            with self._ending:
                ended, self._over = self._over, True
            if ended and not isinstance(self.error, _ThreadEnded):
                for _ in range(_STEPS):
                    pass

    def end(self, packages: Collection[str]) -> None:
        """Raise in the thread at its next step in Python, once it is in one of these packages and imports nothing.

        Anywhere else it is left alone: it may hold a lock that the job waits for, or be in the middle of a module
        that the job needs too. One that waits in C ends when that returns. Nobody waits for it.
        """
        if packages:
            with suppress(RuntimeError):  # there can be no thread more
                threading.Thread(target=self._end, args=[packages], name=self.thread.name, daemon=True).start()

    def _end(self, packages: Collection[str]) -> None:
        for _ in range(_LOOKS):
            with self._ending:
                if self._over:
                    return
                if self._is_in(packages):
                    self._over = True
                    _raise_in(self.thread)
                    return
            time.sleep(0.001)

    def _is_in(self, watched: Collection[str]) -> bool:
        frame = frame_of(self.thread)
        packages = []
        while frame is not None:
            packages.append(package_of(frame.f_globals.get("__name__")))
            frame = frame.f_back
        return bool(packages) and packages[0] in (*watched, _OURS) and "importlib" not in packages


def _raise_in(thread: threading.Thread) -> None:
    """Raise in a thread, and after a moment in this one too.

    Until something was raised Python 3.11 asks before each function whether there is anything; under a profiler or a
    tracer it does nothing else, in no thread, while a thread to raise in waits in C. It asks no more once something was
    raised in any thread, and that which waits still gets its own. So no function of Python is entered in between.
    """
    error, raise_in = ctypes.py_object(_ThreadEnded), ctypes.pythonapi.PyThreadState_SetAsyncExc
    other, own = ctypes.c_ulong(thread.ident or 0), ctypes.c_ulong(threading.get_ident())
    try:
        raise_in(other, error)
        time.sleep(_MOMENT)
        raise_in(own, error)
        for _ in range(_STEPS):
            pass
    except _ThreadEnded:
        pass


def within(seconds: float, work: Callable[[], _T], packages: Collection[str] = ()) -> _T:
    """Return what ``work`` gives, done on another thread.

    ``packages`` are the packages whose code the work is: what takes too long is ended while it is there, so that a loop
    does not run beside the job for ever. Without them, and elsewhere, it is left to itself.

    Raises:
        ExtensionError: it raised, or took longer, or there can be no thread more.

    >>> within(1.0, lambda: 6 * 7)
    42
    """
    doing = _BackgroundWork(work)
    try:
        doing.thread.start()
    except RuntimeError as error:
        raise ExtensionError(f"it could not be asked: {error}") from error
    doing.thread.join(seconds)
    if doing.thread.is_alive():
        doing.end(packages)
        raise ExtensionError(f"it took more than {seconds:g} seconds")
    if isinstance(doing.error, ExtensionError):
        raise doing.error
    if doing.error is not None:
        raise ExtensionError(f"it raised {_described(doing.error)}") from doing.error
    return doing.result[0]


def frame_of(thread: threading.Thread) -> FrameType | None:
    """The frame that a thread is in, None where it runs no Python.

    Python 3.11 may collect garbage in the middle of ``sys._current_frames``, where it holds a lock that each start of a
    thread waits for: if another thread came to that meanwhile, the program would stand still (CPython issue 106883). So
    none is collected then. C makes the three calls, and lets no other thread in between them.

    >>> frame_of(threading.main_thread()).f_code.co_name
    'frame_of'
    """
    if not gc.isenabled():
        return sys._current_frames().get(thread.ident or 0)
    _, frames, _ = map(operator.call, (gc.disable, sys._current_frames, gc.enable))
    return (frames or {}).get(thread.ident or 0)


def packages(code: Iterable[object]) -> frozenset[str]:
    """The packages that functions, classes and instances are of.

    >>> packages([package_of, within, "text", 1])
    frozenset({'headwater'})
    """
    return frozenset(package_of(getattr(one, "__module__", None)) for one in code) - {""}


def package_of(module: object) -> str:
    """The first part of a module's name, empty for what is no name.

    >>> package_of("importlib._bootstrap")
    'importlib'
    """
    return re.split("[.:]", module)[0] if isinstance(module, str) else ""


def _described(error: BaseException) -> str:
    """The error in a line, without secrets; even asking it for its text may raise."""
    try:
        return redact(f"{type(error).__name__}: {error}")[:500]
    except BaseException:
        return type(error).__name__
