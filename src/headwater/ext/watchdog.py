"""Code of others, run within a time, on a thread that can be given up."""

import ctypes
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from headwater.errors import ExtensionError

_T = TypeVar("_T")


class _Ended(SystemExit):
    """Raised in a thread that is given up, which it ends quietly: a loop is not to run beside the job for ever."""


class _Work(Generic[_T]):
    """A piece of work on a daemon thread, and what became of it."""

    def __init__(self, work: Callable[[], _T]) -> None:
        self._work = work
        self.result: list[_T] = []
        self.error: BaseException | None = None
        self._ending = threading.Lock()
        self._over = False
        self.thread = threading.Thread(target=self._run, name="headwater-extension", daemon=True)

    def _run(self) -> None:
        try:
            self.result.append(self._work())
        except BaseException as error:
            self.error = error
        with self._ending:
            if self._over:
                self._raise(None)  # what came too late would be raised in what Python does when a thread ends
            self._over = True

    def end(self) -> None:
        """Raise in the thread at its next step in Python; one that waits in C ends when that returns."""
        with self._ending:
            if not self._over:
                self._over = True
                self._raise(ctypes.py_object(_Ended))

    def _raise(self, error: "ctypes.py_object[type[_Ended]] | None") -> None:
        """Have this raised in the thread, or with None nothing any more."""
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread.ident or 0), error)


def within(seconds: float, work: Callable[[], _T]) -> _T:
    """What ``work`` gives, done on another thread.

    Raises:
        ExtensionError: it raised, or took longer; it is ended then.

    >>> within(1.0, lambda: 6 * 7)
    42
    """
    doing = _Work(work)
    doing.thread.start()
    doing.thread.join(seconds)
    if doing.thread.is_alive():
        doing.end()
        raise ExtensionError(f"it took more than {seconds:g} seconds")
    if isinstance(doing.error, ExtensionError):
        raise doing.error
    if doing.error is not None:
        raise ExtensionError(f"it raised {_told(doing.error)}") from doing.error
    return doing.result[0]


def _told(error: BaseException) -> str:
    """The error in a line; even asking it for its text may raise."""
    try:
        return f"{type(error).__name__}: {error}"[:500]
    except BaseException:
        return type(error).__name__
