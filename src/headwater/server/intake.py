"""The one place where a server writes events: those that arrive together are written together.

A database makes a transaction durable in some milliseconds, however many events are in it. So callers queue up, a
thread takes all that wait, writes them in one transaction, and only then is each caller told. With several processes
one writes while others read what came to them.
"""

import asyncio
import math
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from headwater.errors import HeadwaterError, StoreLocked, StoreUnavailable
from headwater.openlineage.reading import Event
from headwater.server.metrics import Metrics
from headwater.server.turns import Turns
from headwater.store import Store

Value = TypeVar("Value")

AT_ONCE = 500
"""Events in one transaction, unless one request alone has more."""

LOOK_AGAIN = 10.0
"""Seconds after a transaction that went well for which the store counts as one that can be written."""

_LOOK_AT_FAULTS = 1.0  # seconds after one that did not
_LOOK = 2.0  # seconds for which it is waited for a look
_LONGEST_TURN = 10.0  # seconds for which another process of this server is waited for


@dataclass(slots=True)
class _Parcel:
    events: Sequence[Event]
    written: "Future[int]" = field(default_factory=Future)


class Intake:
    """Takes events until it is closed; ``most`` parcels wait at once."""

    def __init__(self, store: Store, most: int, metrics: Metrics | None = None, turns: Turns | None = None) -> None:
        self._store = store
        self._metrics = metrics or Metrics()
        self._turns = turns or Turns(None)
        self._reading = ThreadPoolExecutor(1, "headwater-reading")
        self._writing_since: float | None = None
        self._outcome = (-LOOK_AGAIN, "ok")
        self._look: Future[int] | None = None
        self._parcels: queue.Queue[_Parcel | None] = queue.Queue(most)
        self._thread = threading.Thread(target=self._run, name="headwater-intake", daemon=True)
        self._thread.start()

    def put(self, events: Sequence[Event]) -> "Future[int]":
        """The number of events that were new, once they are durable.

        Raises:
            StoreUnavailable: too many wait already.
        """
        parcel = _Parcel(events)
        try:
            self._parcels.put_nowait(parcel)
        except queue.Full:
            raise StoreUnavailable("More events arrive than can be written. Send them again after a while.") from None
        self._metrics.waiting(self.waiting)
        return parcel.written

    @property
    def waiting(self) -> int:
        """Requests whose events are not written yet."""
        return self._parcels.qsize()

    @property
    def stuck_for(self) -> float:
        """For how many seconds the present transaction has been under way; without end when nothing writes any more."""
        since = self._writing_since
        if not self._thread.is_alive():
            return math.inf
        return time.monotonic() - since if since is not None else 0.0

    def writable(self) -> str:
        """ "ok", or the fault by which the last transaction failed; looks again where that was a while ago."""
        at, outcome = self._outcome
        recent = time.monotonic() - at < (LOOK_AGAIN if outcome == "ok" else _LOOK_AT_FAULTS)
        if not recent and (self._look is None or self._look.done()):
            with suppress(StoreUnavailable):  # so many wait that it will be seen
                self._look = self.put(())
        if self._look is not None:
            with suppress(TimeoutError, HeadwaterError):
                self._look.result(_LOOK)
        return self._outcome[1]

    async def aside(self, read: Callable[..., Value], *told: Any) -> Value:
        """What a function makes of events of a request; one at a time, for Python runs one thread at a time."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, read, *told)

    def close(self) -> None:
        """Writes what waits, then ends."""
        self._parcels.put(None)
        self._thread.join()
        self._reading.shutdown()

    def _run(self) -> None:
        held, open_ = self._parcels.get(), True
        while held is not None:
            held, open_ = self._turn(held)
            self._metrics.waiting(self.waiting)
            if held is None and open_:
                held = self._parcels.get()

    def _turn(self, first: _Parcel) -> tuple["_Parcel | None", bool]:
        """Writes what waits; a method of its own, so that nothing of it is held until the next events come."""
        with self._turns.mine(_LONGEST_TURN):
            parcels, held, open_ = self._next(first)
            self._write_wanted(parcels)
        return held, open_

    def _write_wanted(self, parcels: list[_Parcel]) -> None:
        # A caller who has gone meanwhile was told nothing; from here on nobody can withdraw.
        wanted = [parcel for parcel in parcels if parcel.written.set_running_or_notify_cancel()]
        if wanted:
            self._writing_since = time.monotonic()
            self._write(wanted)
            self._writing_since = None

    def _next(self, first: _Parcel) -> tuple[list[_Parcel], "_Parcel | None", bool]:
        """The parcels for one transaction, one that did not fit any more, and whether there may come others."""
        parcels, count = [first], len(first.events)
        with suppress(queue.Empty):
            while (parcel := self._parcels.get_nowait()) is not None:
                count += len(parcel.events)
                if count > AT_ONCE:
                    return parcels, parcel, True
                parcels.append(parcel)
            return parcels, None, False
        return parcels, None, True

    def _write(self, parcels: list[_Parcel]) -> None:
        events = [event for parcel in parcels for event in parcel.events]
        try:
            with self._metrics.transaction():
                if events:
                    self._store.take(events)
                else:
                    self._store.require_writable()
            self._outcome = (time.monotonic(), "ok")
        except HeadwaterError as fault:
            # Another that holds it for long does not mean that it cannot be written.
            self._outcome = (time.monotonic(), "ok" if isinstance(fault, StoreLocked) else type(fault).__name__)
            _fail(parcels, fault)
        except Exception as fault:
            if len(parcels) == 1:
                _fail(parcels, fault)
                return
            # One of them is at fault; the others shall not suffer for it.
            for parcel in parcels:
                self._write([parcel])
        else:
            self._metrics.taken(len(events))
            for parcel in parcels:
                parcel.written.set_result(len(parcel.events))


def _fail(parcels: list[_Parcel], fault: Any) -> None:
    for parcel in parcels:
        parcel.written.set_exception(fault)
