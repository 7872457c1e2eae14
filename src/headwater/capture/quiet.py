"""Log lines of libraries: none where headwater makes them speak, all where the job does.

A job that logs everything to its output gets what it gets without headwater. The levels and handlers are its own.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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


def hush_libraries() -> None:
    """Let the records that these libraries make inside `quiet` reach no handler above them, theirs included."""
    own = logging.getLogger("headwater")
    if own.level == logging.NOTSET:  # else a job that logs everything has our lines for developers, too
        own.setLevel(logging.WARNING)
    for name in _LIBRARIES:
        logger = logging.getLogger(name)
        if not isinstance(logger, _Hushed):
            logger.__class__ = type("HushedLogger", (_Hushed, type(logger)), {})


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


class _Hushed(logging.Logger):
    """The uppermost logger of a library. Records of those below it pass by, and end here in a thread that is quiet."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"handlers", "propagate"} and _is_ours():
            return _NOWHERE if name == "handlers" else False
        return super().__getattribute__(name)
