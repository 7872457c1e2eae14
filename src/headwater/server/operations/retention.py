"""Removal of old runs while a server runs, once a day, by one of all processes that serve the store."""

import logging
import threading
import time
from datetime import timedelta

import structlog

from headwater.errors import StoreError
from headwater.model.time import iso, length_of, now
from headwater.store import Store
from headwater.store.maintenance.retention import begin_scheduled, prune

CHECK_SECONDS = 600.0
"""Seconds between two checks of the schedule."""

_DAY = timedelta(days=1)
_SHORTEST = timedelta(minutes=1)
_log = structlog.wrap_logger(logging.getLogger("headwater.retention"))


class Retention:
    """A thread that removes runs, events and edges of the past that are older than ``keep``, until it is closed.

    It runs every day, or every tenth of ``keep`` where that is shorter, and a minute at least.
    """

    def __init__(self, store: Store, keep: timedelta) -> None:
        self._store = store
        self._keep = keep
        self._every = min(_DAY, max(keep / 10, _SHORTEST))
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="headwater-retention", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End after the running transaction; the next run removes the rest."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        pause = 0.0
        while not self._closed.wait(pause):
            pause = min(CHECK_SECONDS, self._every.total_seconds())
            try:
                self._check(now())
            except StoreError as fault:
                _log.warning("old runs could not be removed; trying again later", why=str(fault))

    def _check(self, moment: int) -> None:
        if not begin_scheduled(self._store, moment, length_of(self._every)):
            return
        cut = moment - length_of(self._keep)
        begun = time.monotonic()
        pruned = prune(self._store, cut, until=self._closed.is_set)
        _log.info(
            "old runs were removed",
            before=iso(cut),
            runs=pruned.runs,
            events=pruned.events,
            edges=pruned.edges,
            seconds=round(time.monotonic() - begun, 3),
        )
