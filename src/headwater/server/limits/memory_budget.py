"""The memory that the bodies of all requests of a process may need together."""

import asyncio
import ctypes
import gc
import time
from contextlib import suppress
from dataclasses import dataclass

import orjson
from starlette.exceptions import HTTPException

from headwater.model.names import keys_of

PATIENCE = 10.0
"""Seconds for which a body waits for the memory of other requests."""

RETRY_AFTER = 5

# What CPython 3.11 needs for a value beside its text: an empty list is 56 bytes, 16 for the garbage collector and 8 in
# the list around it; an object with one member has a table of 184; a number or text has 32 to 49, and its place.
_PER_VALUE = ((b"[", 80), (b"{", 216), (b",", 64), (b":", 8))
_PER_PIECE = 64

_A_MOMENT = 0.5  # seconds until the last references to the request are gone

_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h
_OTHER_KEYS = 20_000  # all but one in ten thousand of the places for keys then have another; takes 2 ms

LARGE = 16 * 2**20
"""Bytes above which freed memory is returned to the system, which takes some milliseconds."""


def weight_of(json: bytes) -> int:
    """Return about how many bytes a piece of JSON needs, as text and parsed.

    >>> weight_of(b"x" * 1000), weight_of(b"[]," * 1000)
    (1064, 147064)
    """
    return _PER_PIECE + len(json) + sum(json.count(sign) * each for sign, each in _PER_VALUE)


@dataclass(eq=False, slots=True)
class Reservation:
    """The memory of one request."""

    budget: "MemoryBudget"
    amount: int = 0

    async def add(self, amount: int) -> None:
        """Reserve more bytes; wait a little where there is no room.

        Raises:
            HTTPException: 413, when it is more than a request may have; 503 with Retry-After, when there is no room in
                time.
        """
        await self.budget.reserve(self, amount)

    def end(self) -> None:
        """Release all of it."""
        self.budget.release(self)


class MemoryBudget:
    """Bytes that running requests hold; used in one event loop only.

    The request that came first may have half of them, the others share the rest: so one always makes progress, and the
    others do not wait in vain.
    """

    def __init__(self, total: int, patience: float = PATIENCE) -> None:
        self.half = total // 2
        self._patience = patience
        self._held = 0
        self._holders: dict[Reservation, None] = {}
        self._waiting: set[asyncio.Future[None]] = set()

    async def reserve(self, mine: Reservation, amount: int) -> None:
        """See `Reservation.add`."""
        if mine.amount + amount > self.half:
            raise HTTPException(
                413,
                f"The body needs more than {self.half:,} bytes of memory, half of what all bodies may need. "
                "Send fewer events at once, or raise --memory-limit.",
            )
        if not self._fits(mine, amount):
            try:
                async with asyncio.timeout(self._patience):
                    await self._room(mine, amount)
            except TimeoutError:
                raise HTTPException(
                    503,
                    "The bodies of other requests need all the memory that bodies may. Send it again after a while, "
                    "or raise --memory-limit.",
                    {"Retry-After": str(RETRY_AFTER)},
                ) from None
        self._holders[mine] = None
        mine.amount += amount
        self._held += amount

    def release(self, mine: Reservation) -> None:
        """See `Reservation.end`."""
        self._held -= mine.amount
        if mine.amount >= LARGE:
            asyncio.get_running_loop().run_in_executor(None, _give_back)
        mine.amount = 0
        if mine in self._holders:
            del self._holders[mine]
            for one in self._waiting:
                if not one.done():
                    one.set_result(None)

    def _fits(self, mine: Reservation, amount: int) -> bool:
        first = next(iter(self._holders), mine)
        return first is mine or self._held - first.amount + amount <= self.half

    async def _room(self, mine: Reservation, amount: int) -> None:
        while not self._fits(mine, amount):
            freed = asyncio.get_running_loop().create_future()
            self._waiting.add(freed)
            try:
                await freed
            finally:
                self._waiting.discard(freed)


def _give_back() -> None:
    time.sleep(_A_MOMENT)
    give_memory_back()


def give_memory_back() -> None:
    """Give memory that is free back to the system, where the C library can (glibc, ``malloc_trim``).

    By itself it keeps what a large event took for the next, and the process stays as large as it ever was. Rows of an
    event that hold each other are collected first: `collect_seldom` leaves them for long. And orjson, which remembers
    2,048 keys of objects, is given others, and the keys of names are forgotten: one that was made while the event was
    read keeps a whole mebibyte of what was around it from being free.
    """
    orjson.loads(orjson.dumps({str(one): None for one in range(_OTHER_KEYS)}))
    keys_of.cache_clear()
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def share_one_heap() -> None:
    """Have all threads take memory from one heap, where the C library has one for each (glibc, ``M_ARENA_MAX``).

    Threads of Python take turns anyway. What one of them has freed is then room for the others.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)
