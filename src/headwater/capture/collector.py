"""Python's cyclic garbage collector, held still while a large plan is read.

A plan is hundreds of thousands of objects without a cycle; scanning them again and again doubles the time.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Collector:
    """Counts who needs it to hold still: threads may overlap."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pauses = 0

    def pause(self) -> bool:
        with self._lock:
            ours = self._pauses > 0 or gc.isenabled()
            self._pauses += ours
            gc.disable()
        return ours

    def resume(self) -> None:
        with self._lock:
            self._pauses -= 1
            if not self._pauses:
                gc.enable()


_collector = _Collector()


@contextmanager
def paused() -> Iterator[None]:
    """No cyclic collection inside the block; where the user has switched it off, it stays off."""
    ours = _collector.pause()
    try:
        yield
    finally:
        if ours:
            _collector.resume()
