"""Reads events of an older headwater again while a server runs, a few at a time, until none is left."""

import logging
import threading

import structlog

from headwater.errors import StoreError
from headwater.store import Store
from headwater.store.maintenance import catchup

PAUSE = 0.1
"""Seconds between two transactions, in which events that arrive are written."""

RETRY = 10.0
"""Seconds after which it goes on when the store could not be written."""

_log = structlog.wrap_logger(logging.getLogger("headwater.catching"))


class CatchingUp:
    """A thread that ends when there is nothing left, or when it is closed; the next server goes on where it ended."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="headwater-catching-up", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends after the transaction that is under way."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        pause: float | None = 0.0
        while pause is not None and not self._closed.wait(pause):
            pause = self._step()

    def _step(self) -> float | None:
        """How long to wait before the next; None when nothing is left."""
        try:
            return PAUSE if catchup.step(self._store) else None
        except StoreError as fault:
            _log.warning("events of an older version wait to be read again", why=str(fault))
            return RETRY
