"""The processes of one server write in turn: each begins as soon as the one before is done, and none is passed over."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

_LOOK_AGAIN = 0.001  # seconds


class Turns:
    """The turns of the processes that share a folder; without one it is always one's turn.

    SQLite lets whoever waits sleep for up to a tenth of a second before it looks again, and who comes back at once
    goes first. So who waits for the turn holds a second lock meanwhile, which the one that had the turn needs for its
    next. A process that dies lets go of both.
    """

    def __init__(self, folder: Path | None) -> None:
        self._files = (
            [os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o600) for name in ("next", "turn")] if folder else []
        )

    @contextmanager
    def mine(self, longest: float) -> Iterator[None]:
        """Waits until it is this process's turn, but for so many seconds at most: then the database decides."""
        ends = time.monotonic() + longest
        with ExitStack() as held:
            if self._files:
                after, now = self._files
                with _locked(after, ends):
                    held.enter_context(_locked(now, ends))
            yield

    def close(self) -> None:
        """Closes the files."""
        for file in self._files:
            os.close(file)
        self._files.clear()


@contextmanager
def _locked(file: int, ends: float) -> Iterator[None]:
    while not _taken(file) and time.monotonic() < ends:
        time.sleep(_LOOK_AGAIN)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _taken(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
