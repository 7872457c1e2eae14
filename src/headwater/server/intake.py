"""The one place where a server writes events: those that arrive together are written together.

A database makes a transaction durable in some milliseconds, however many events are in it. So callers queue up, a
thread takes all that wait, writes them in one transaction, and only then is each caller told.
"""

import math
import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from headwater.errors import HeadwaterError, StoreUnavailable
from headwater.server.metrics import Metrics
from headwater.store import Event, Store

AT_ONCE = 500
"""Events in one transaction, unless one request alone has more."""


@dataclass(slots=True)
class _Parcel:
    events: Sequence[Event]
    written: "Future[int]" = field(default_factory=Future)


class Intake:
    """Takes events until it is closed; ``most`` parcels wait at once."""

    def __init__(self, store: Store, most: int, metrics: Metrics | None = None) -> None:
        self._store = store
        self._metrics = metrics or Metrics()
        self._writing_since: float | None = None
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

    def close(self) -> None:
        """Writes what waits, then ends."""
        self._parcels.put(None)
        self._thread.join()

    def _run(self) -> None:
        open_, held = True, None
        while open_ or held:
            parcels, held, open_ = self._next(held)
            # A caller who has gone meanwhile was told nothing; from here on nobody can withdraw.
            wanted = [parcel for parcel in parcels if parcel.written.set_running_or_notify_cancel()]
            if wanted:
                self._writing_since = time.monotonic()
                self._write(wanted)
                self._writing_since = None
            self._metrics.waiting(self.waiting)

    def _next(self, first: "_Parcel | None") -> tuple[list[_Parcel], "_Parcel | None", bool]:
        """The parcels for one transaction, one that did not fit any more, and whether there may come others."""
        parcels: list[_Parcel] = []
        parcel = first or self._parcels.get()
        while parcel is not None:
            if parcels and sum(len(one.events) for one in parcels) + len(parcel.events) > AT_ONCE:
                return parcels, parcel, True
            parcels.append(parcel)
            try:
                parcel = self._parcels.get_nowait()
            except queue.Empty:
                return parcels, None, True
        return parcels, None, False

    def _write(self, parcels: list[_Parcel]) -> None:
        events = [event for parcel in parcels for event in parcel.events]
        try:
            with self._metrics.transaction():
                self._store.take(events)
        except HeadwaterError as fault:
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
