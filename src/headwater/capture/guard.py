"""Nothing that headwater does may fail the user's job: every entry point runs inside a guard.

Inside it libraries log nothing where headwater makes them speak, and all where the job does: a job that logs everything
to its output gets what it gets without headwater. The levels and handlers are its own.
"""

import logging
import os
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from headwater.redaction import redact

_LOG = logging.getLogger("headwater")
_LIBRARIES = (
    "alembic",
    "boto3",
    "botocore",
    "charset_normalizer",
    "google",
    "httpcore",
    "httpx",
    "kafka",
    "openlineage",
    "py4j",
    "requests",
    "s3transfer",
    "sqlalchemy",
    "urllib3",
)
_NOWHERE = [logging.NullHandler()]
_threads = threading.local()
_logged: set[str] = set()


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
        warn_once(doing, f"headwater gave up {doing}: {redact(repr(error))}. The Spark job is not affected.")
        _LOG.debug("%s failed: %s", doing, redact(traceback.format_exc()))


def warn_once(key: str, message: str) -> None:
    """Log a warning, once per ``key`` in the life of the process."""
    if key not in _logged:
        _logged.add(key)
        _LOG.warning(redact(message))


def hush_libraries() -> None:
    """Let the records that these libraries make inside `quiet` reach no handler above them, theirs included."""
    own = logging.getLogger("headwater")
    if own.level == logging.NOTSET:  # else a job that logs everything has our lines for developers, too
        own.setLevel(logging.WARNING)
    for name in _LIBRARIES:
        logger = logging.getLogger(name)
        if not isinstance(logger, _QuietLogger):
            logger.__class__ = type("HushedLogger", (_QuietLogger, type(logger)), {})


@contextmanager
def quiet() -> Iterator[None]:
    """Mark the work of this thread in the block as headwater's."""
    _threads.depth = getattr(_threads, "depth", 0) + 1
    try:
        yield
    finally:
        _threads.depth -= 1


def _is_ours() -> bool:
    return getattr(_threads, "depth", 0) > 0 or threading.current_thread().name.startswith("headwater")


class _QuietLogger(logging.Logger):
    """The uppermost logger of a library. Records of those below it pass by, and end here in a thread that is quiet."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"handlers", "propagate"} and _is_ours():
            return _NOWHERE if name == "handlers" else False
        return super().__getattribute__(name)
