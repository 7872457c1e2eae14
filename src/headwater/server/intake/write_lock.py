"""A lock by which the processes of one server write in turn: each as soon as the one before is done."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

_LOOK_AGAIN = 0.001  # seconds


class WriteLock:
    """A fair lock of the processes that share a folder; without a folder it is always free.

    SQLite lets a waiting process sleep for up to a tenth of a second before it tries again, so that the one that wrote
    last goes first again. Here a waiting process holds a second lock, which the last writer needs for its next turn. A
    process that dies frees both.
    """

    def __init__(self, folder: Path | None) -> None:
        self._files = (
            [os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600) for name in ("next", "turn")] if folder else []
        )

    @contextmanager
    def hold(self, longest: float) -> Iterator[None]:
        """Hold the lock; without it after so many seconds, when the database decides."""
        ends = time.monotonic() + longest
        with ExitStack() as stack:
            if self._files:
                after, now = self._files
                with _locked(after, ends):
                    stack.enter_context(_locked(now, ends))
            yield

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            os.close(file)
        self._files.clear()


@contextmanager
def _locked(file: int, ends: float) -> Iterator[None]:
    while not _acquired(file) and time.monotonic() < ends:
        time.sleep(_LOOK_AGAIN)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _acquired(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
