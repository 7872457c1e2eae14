"""Python's cyclic garbage collector in a process that does nothing but take lineage in, or answer."""

import ctypes
import gc
from contextlib import suppress

_NEW_OBJECTS = 500_000  # more than the events that wait to be written; Python's own 700 are less than one


def collect_seldom() -> None:
    """Lets the collector look less often, and never at what is there already.

    Events and answers are thousands of objects without a cycle: to look at them again and again takes a third of the
    time of an intake, and an answer would set off a look at each object of the process in the middle of it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


def give_memory_back() -> None:
    """Gives memory that is free back to the system, where the C library can (glibc, ``malloc_trim``).

    By itself it keeps what a large event took for the next, and the process stays as large as it ever was.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
