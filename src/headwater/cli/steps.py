"""How far something is, said now and then."""

import time
from collections.abc import Callable

from headwater.cli.output import note

_SECONDS = 30


def from_time_to_time(what: str) -> Callable[[int, int], None]:
    """Says how much is done, of how much, on stderr: not more often than a log bears."""
    last = time.monotonic()

    def tell(done: int, all: int) -> None:
        nonlocal last
        if time.monotonic() - last > _SECONDS:
            last = time.monotonic()
            note(f"{what} {done:,} of {all:,}")

    return tell
