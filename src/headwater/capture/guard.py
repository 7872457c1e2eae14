"""Nothing that headwater does may fail the user's job: every entry point runs inside a guard."""

import functools
import logging
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from headwater.capture.quiet import quiet
from headwater.redaction import redact

_LOG = logging.getLogger("headwater")
_P = ParamSpec("_P")
_R = TypeVar("_R")
_told: set[str] = set()


@contextmanager
def guarded(doing: str) -> Iterator[None]:
    """Swallow every error of the block, and say once per kind of work what was given up.

    Under HEADWATER_STRICT=1, which the tests set, the error goes on, so that a test cannot hide it.
    """
    try:
        with quiet():
            yield
    except Exception as error:
        if os.environ.get("HEADWATER_STRICT") == "1":
            raise
        tell_once(doing, f"headwater gave up {doing}: {redact(repr(error))}. The Spark job is not affected.")
        _LOG.debug("%s failed: %s", doing, redact(traceback.format_exc()))


def harmless(doing: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R | None]]:
    """A function decorator: the function's errors are swallowed, it returns None then."""

    def wrap(function: Callable[_P, _R]) -> Callable[_P, _R | None]:
        @functools.wraps(function)
        def inner(*args: _P.args, **kwargs: _P.kwargs) -> _R | None:
            with guarded(doing):
                return function(*args, **kwargs)
            return None

        return inner

    return wrap


def tell_once(key: str, message: str) -> None:
    """Log a warning, once per ``key`` in the life of the process."""
    if key not in _told:
        _told.add(key)
        _LOG.warning(redact(message))
