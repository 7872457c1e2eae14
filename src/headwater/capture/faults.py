"""The exception that ends a program: noted for the application's run, and shown as without headwater."""

import sys
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from headwater.capture.guard import guarded

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


class Uncaught:
    """Stands in for ``sys.excepthook`` until let_go(); ``text`` is the exception that came by, empty for none.

    ``own_files`` are the modules whose wrappers stand between the program and Spark: tracebacks leave them out.
    """

    def __init__(self, *own_files: str) -> None:
        self.text = ""
        self._own_files = own_files
        self._original: Hook = sys.excepthook
        self._hook: Hook = self._seen
        sys.excepthook = self._hook

    def let_go(self) -> None:
        """Put ``sys.excepthook`` back, unless the program has put its own there."""
        if sys.excepthook is self._hook:
            sys.excepthook = self._original

    def _seen(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Any:
        with guarded("noting an exception"):
            if not hasattr(sys, "ps1"):  # an interactive interpreter goes on
                self.text = f"{kind.__name__}: {error}"
            for one in _chain(error):
                _leave_out(one.__traceback__, self._own_files)
        return self._original(kind, error, trace)


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
