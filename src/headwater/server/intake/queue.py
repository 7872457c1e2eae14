"""The queue of events to write: those that arrive together are written together.

A database makes a transaction durable in some milliseconds, however many events are in it. So requests queue up, a
thread writes all that wait in one transaction, and only then is each request answered. With several processes one
writes while the others read events.
"""

import asyncio
import fcntl
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from headwater.errors import HeadwaterError, StoreLocked, StoreUnavailable
from headwater.openlineage.reading import Event
from headwater.server.operations.metrics import Metrics
from headwater.store import Store

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


Value = TypeVar("Value")

AT_ONCE = 500
"""Events in one transaction, unless one request alone has more."""

LOOK_AGAIN = 10.0
"""Seconds after a successful transaction for which the store counts as writable."""

_LOOK_AT_FAULTS = 1.0  # seconds after a failed transaction
_LOOK = 2.0  # seconds that a trial transaction may take
_LONGEST_WAIT = 10.0  # seconds to wait for another process of this server


@dataclass(slots=True)
class _Batch:
    events: Sequence[Event]
    written: "Future[int]" = field(default_factory=Future)


class Intake:
    """The queue, until it is closed; ``most`` batches may wait."""

    def __init__(
        self, store: Store, most: int, metrics: Metrics | None = None, write_lock: WriteLock | None = None
    ) -> None:
        self._store = store
        self._metrics = metrics or Metrics()
        self._write_lock = write_lock or WriteLock(None)
        self._reading = ThreadPoolExecutor(1, "headwater-reading")
        self._writing_since: float | None = None
        self._outcome = (-LOOK_AGAIN, "ok")
        self._look: Future[int] | None = None
        self._batches: queue.Queue[_Batch | None] = queue.Queue(most)
        self._thread = threading.Thread(target=self._run, name="headwater-intake", daemon=True)
        self._thread.start()

    def put(self, events: Sequence[Event]) -> "Future[int]":
        """Queue events; the future has their number once they are durable.

        Raises:
            StoreUnavailable: the queue is full.
        """
        batch = _Batch(events)
        try:
            self._batches.put_nowait(batch)
        except queue.Full:
            raise StoreUnavailable("More events arrive than can be written. Send these again after a while.") from None
        self._metrics.set_waiting(self.waiting)
        return batch.written

    @property
    def waiting(self) -> int:
        """The number of requests whose events are not written yet."""
        return self._batches.qsize()

    @property
    def stuck_for(self) -> float:
        """The seconds since the present transaction began; infinite when the thread has died."""
        since = self._writing_since
        if not self._thread.is_alive():
            return math.inf
        return time.monotonic() - since if since is not None else 0.0

    def writable(self) -> str:
        """Return "ok" or the fault of the last transaction; try again where that was a while ago."""
        at, outcome = self._outcome
        recent = time.monotonic() - at < (LOOK_AGAIN if outcome == "ok" else _LOOK_AT_FAULTS)
        if not recent and (self._look is None or self._look.done()):
            with suppress(StoreUnavailable):  # so many wait that it will be seen
                self._look = self.put(())
        if self._look is not None:
            with suppress(TimeoutError, HeadwaterError):
                self._look.result(_LOOK)
        return self._outcome[1]

    async def in_reader(self, read: Callable[..., Value], *arguments: Any) -> Value:
        """Return what a function returns, called in the one thread that reads events."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, read, *arguments)

    def close(self) -> None:
        """Write what waits, then end."""
        self._batches.put(None)
        self._thread.join()
        self._reading.shutdown()

    def _run(self) -> None:
        held, open_ = self._batches.get(), True
        while held is not None:
            held, open_ = self._turn(held)
            self._metrics.set_waiting(self.waiting)
            if held is None and open_:
                held = self._batches.get()

    def _turn(self, first: _Batch) -> tuple["_Batch | None", bool]:
        """Write what waits; a method of its own, so that its events are freed before the next ones come."""
        with self._write_lock.hold(_LONGEST_WAIT):
            batches, held, open_ = self._next(first)
            self._write_wanted(batches)
        return held, open_

    def _write_wanted(self, batches: list[_Batch]) -> None:
        # A client that has gone meanwhile got no answer; from here on none can cancel.
        wanted = [batch for batch in batches if batch.written.set_running_or_notify_cancel()]
        if wanted:
            self._writing_since = time.monotonic()
            self._write(wanted)
            self._writing_since = None

    def _next(self, first: _Batch) -> tuple[list[_Batch], "_Batch | None", bool]:
        """Return the batches for one transaction, one that did not fit any more, and whether others may come."""
        batches, count = [first], len(first.events)
        with suppress(queue.Empty):
            while (batch := self._batches.get_nowait()) is not None:
                count += len(batch.events)
                if count > AT_ONCE:
                    return batches, batch, True
                batches.append(batch)
            return batches, None, False
        return batches, None, True

    def _write(self, batches: list[_Batch]) -> None:
        events = [event for batch in batches for event in batch.events]
        try:
            with self._metrics.time_transaction():
                if events:
                    self._store.take(events)
                else:
                    self._store.require_writable()
            self._outcome = (time.monotonic(), "ok")
        except HeadwaterError as fault:
            # Another that holds it for long does not mean that it cannot be written.
            self._outcome = (time.monotonic(), "ok" if isinstance(fault, StoreLocked) else type(fault).__name__)
            _fail(batches, fault)
        except Exception as fault:
            if len(batches) == 1:
                _fail(batches, fault)
                return
            # One of them is at fault; the others are written alone.
            for batch in batches:
                self._write([batch])
        else:
            self._metrics.count_stored(len(events))
            for batch in batches:
                batch.written.set_result(len(batch.events))


def _fail(batches: list[_Batch], fault: Any) -> None:
    for batch in batches:
        batch.written.set_exception(fault)
