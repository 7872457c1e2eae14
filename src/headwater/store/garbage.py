"""Python's cyclic garbage collector in a process that does nothing but take lineage in, or answer."""

import gc

_NEW_OBJECTS = 50_000
_OLDER = (20, 100)


def collect_seldom() -> None:
    """Lets the collector look less often, and never at what is there already.

    An event is thousands of objects without a cycle: to look at them every 700 new ones takes a third of the time of
    an intake.
    """
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, *_OLDER)
