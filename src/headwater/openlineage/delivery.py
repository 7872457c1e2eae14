"""Delivery of events, at least once, which never fails and hardly ever waits."""

import hashlib
import logging
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from openlineage.client.event_v2 import RunEvent

from headwater.openlineage.events import to_json
from headwater.openlineage.spool import MAX_BYTES, Fate, Sent, Spool
from headwater.openlineage.targets import (
    ClientTarget,
    FileTarget,
    SinkTarget,
    Target,
    client_targets,
    config_path,
    read_config,
)
from headwater.redaction import redact

__all__ = [
    "ClientTarget",
    "Counts",
    "Delivery",
    "FileTarget",
    "SinkTarget",
    "Target",
    "client_targets",
    "config_path",
    "read_config",
]

_log = logging.getLogger(__name__)

_LONGEST_REST = 300.0
_DRAIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of one target's events: delivered, those of earlier processes too; waiting on disk; refused; lost."""

    delivered: int = 0
    waiting: int = 0
    rejected: int = 0
    lost: int = 0


class Delivery:
    """Hands events to every target; one that is away gets them later, in order, from ``spool_folder``.

    What cannot be delivered is kept in ``<spool_folder>/<target>.*.ndjson`` and sent before the next event that
    can be, at the next start, and by ``flush``; where that folder takes nothing, in a folder of the user's, see
    `folder_of_last_resort`. What a target refuses is in ``rejected.ndjson`` beside it.
    No method raises. Several processes may share the folder. A target that was away is left alone for ``rest``
    seconds, twice as long after each further failure.
    """

    def __init__(
        self, targets: Sequence[Target], spool_folder: Path, max_spool_bytes: int = MAX_BYTES, rest: float = 5.0
    ) -> None:
        self._outboxes: list[_Outbox] = []
        self._lock = threading.Lock()
        self._max_spool_bytes = max_spool_bytes
        self._rest = rest
        self.spool_folder = spool_folder
        self.add(targets)

    def add(self, targets: Sequence[Target]) -> None:
        """Hand the events to come to these targets too, after those that are kept for them."""
        elsewhere = folder_of_last_resort(self.spool_folder)
        with self._lock:
            for target in targets:
                spool = Spool(self.spool_folder, target.name, self._max_spool_bytes, elsewhere)
                self._outboxes.append(_Outbox(target, spool, self._rest))

    def deliver(self, event: RunEvent) -> None:
        """Hand the event to every target, or keep it for those that are away."""
        try:
            line = to_json(event)
        except Exception as error:
            _log.error("An event of run %s cannot be written as JSON: %s", event.run.runId, redact(str(error)))
            return
        with self._lock:
            for outbox in self._outboxes:
                outbox.post(line)

    def flush(self, timeout: float = _DRAIN_SECONDS) -> bool:
        """Send what is kept, for at most about ``timeout`` seconds; True when nothing is left."""
        with self._lock:
            deadline = time.monotonic() + timeout
            done = [outbox.drain(deadline) for outbox in self._outboxes]
        return all(done)

    def close(self, timeout: float = _DRAIN_SECONDS) -> bool:
        """Flush, except to targets that were away a moment ago, and let go of everything; True when nothing is left."""
        with self._lock:
            deadline = time.monotonic() + timeout
            done = [outbox.close(deadline) for outbox in self._outboxes]
        return all(done)

    @property
    def counts(self) -> dict[str, Counts]:
        """What became of the events so far, by target."""
        return {outbox.name: outbox.counts for outbox in self._outboxes}


def folder_of_last_resort(spool_folder: Path) -> Path:
    """Where events are kept that ``spool_folder`` does not take: one folder for each, so that a later run finds it."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    digest = hashlib.sha256(os.fsencode(spool_folder.absolute())).hexdigest()[:12]
    return Path(state, "headwater", f"spool-{digest}")


class _Outbox:
    """One target, its spool, and how long to leave it alone after it was away."""

    def __init__(self, target: Target, spool: Spool, rest: float) -> None:
        self.name = target.name
        self._target = target
        self._spool = spool
        self._shortest_rest = self._rest = rest
        self._away = False
        self._awake_at = 0.0
        self._delivered = 0
        self._rejected = 0

    @property
    def counts(self) -> Counts:
        return Counts(self._delivered, self._spool.waiting, self._rejected, self._spool.lost)

    def post(self, line: str) -> None:
        try:
            self._post(line)
        except Exception as error:
            _log.error("A lineage event for %s is lost: %s", self.name, redact(str(error)))

    def _post(self, line: str) -> None:
        """The events that are kept go first: a target sees them in the order in which they were made."""
        if self._resting or not self._drained(time.monotonic() + _DRAIN_SECONDS):
            self._spool.keep(line)
            return
        sent = self._send(line)
        if sent.fate is Fate.UNAVAILABLE:
            self._spool.keep(line)
        elif sent.fate is Fate.REJECTED:
            self._spool.reject(line, sent.reason)

    def drain(self, deadline: float) -> bool:
        try:
            return self._drained(deadline)
        except Exception as error:
            _log.warning("Undelivered events for %s stay on disk: %s", self.name, redact(str(error)))
            return False

    def close(self, deadline: float) -> bool:
        done = not self._resting and self.drain(deadline)
        try:
            self._target.close()
        except Exception as error:
            _log.debug("Closing %s: %s", self.name, redact(str(error)))
        self._spool.close()
        return done

    @property
    def _resting(self) -> bool:
        return time.monotonic() < self._awake_at

    def _drained(self, deadline: float) -> bool:
        return self._spool.drain(self._send, deadline)

    def _send(self, line: str) -> Sent:
        sent = self._target.send(line)
        if sent.fate is Fate.UNAVAILABLE:
            self._sleep(sent.reason)
        else:
            self._wake()
        self._delivered += sent.fate is Fate.DELIVERED
        self._rejected += sent.fate is Fate.REJECTED
        if sent.fate is Fate.REJECTED:
            _log.warning("%s refused an event (%s); it is kept in rejected.ndjson.", self.name, sent.reason)
        return sent

    def _sleep(self, reason: str) -> None:
        if not self._away:
            _log.warning("Lineage events cannot go to %s now (%s); they are kept and sent later.", self.name, reason)
        self._away = True
        self._awake_at = time.monotonic() + self._rest
        self._rest = min(self._rest * 2, _LONGEST_REST)

    def _wake(self) -> None:
        if self._away:
            _log.info("Lineage events can go to %s again; those that were kept follow.", self.name)
        self._away = False
        self._rest, self._awake_at = self._shortest_rest, 0.0
