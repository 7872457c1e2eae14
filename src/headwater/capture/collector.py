"""Python's cyclic garbage collector, held still while a large plan is read.

A plan is hundreds of thousands of objects without a cycle; scanning them again and again doubles the time.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_pauses = 0


@contextmanager
def paused() -> Iterator[None]:
    """No cyclic collection inside the block; where the user has switched it off, it stays off."""
    global _pauses
    with _lock:
        ours = _pauses > 0 or gc.isenabled()
        _pauses += ours
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            _pauses -= ours
            if ours and not _pauses:
                gc.enable()
