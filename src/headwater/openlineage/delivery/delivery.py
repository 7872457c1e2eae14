"""Delivery of events, at least once, which never fails and never waits for a back end."""

import hashlib
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from openlineage.client.event_v2 import RunEvent

from headwater.openlineage.delivery.outbox import Counts, Outbox
from headwater.openlineage.delivery.spool import MAX_BYTES, Spool, lines_in
from headwater.openlineage.delivery.targets import Target
from headwater.openlineage.writing.events import to_json
from headwater.redaction import redact

_log = logging.getLogger(__name__)

_DRAIN_SECONDS = 5.0


class Delivery:
    """Hands events to every target; one that is away gets them later, in order, from ``spool_folder``.

    Each event is on disk before it is sent, in ``<spool_folder>/<target>@<address>.*.ndjson``, until its target has
    acknowledged it; each target has a thread of its own. What is not acknowledged goes before the next event, at the
    next start, and by ``flush``; where that folder takes nothing, events are in a folder of the user's, see
    `folder_of_last_resort`. What a target refuses is in ``rejected.ndjson`` beside it.
    No method raises. Several processes may share the folder. A target that was away is left alone for ``rest``
    seconds, twice as long after each further failure.
    """

    def __init__(
        self, targets: Sequence[Target], spool_folder: Path, max_spool_bytes: int = MAX_BYTES, rest: float = 5.0
    ) -> None:
        self._outboxes: list[Outbox] = []
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
                spool = Spool(self.spool_folder, spool_key(target), self._max_spool_bytes, elsewhere, target.name)
                self._outboxes.append(Outbox(target, spool, self._rest))

    def deliver(self, event: RunEvent) -> None:
        """Put the event on disk for every target, and have it sent."""
        try:
            line = to_json(event)
        except Exception as error:
            _log.error("An event of run %s cannot be written as JSON: %s", event.run.runId, redact(str(error)))
            return
        with self._lock:
            for outbox in self._outboxes:
                outbox.post(line)

    def wait(self, timeout: float = _DRAIN_SECONDS) -> bool:
        """Wait until every event so far was sent or found its target away; False when that takes longer."""
        deadline = time.monotonic() + timeout
        done = [outbox.wait(deadline) for outbox in self._all()]
        return all(done)

    def flush(self, timeout: float = _DRAIN_SECONDS) -> bool:
        """Send what is kept, waiting at most ``timeout`` seconds; True when nothing is left."""
        deadline = time.monotonic() + timeout
        done = [outbox.flushed(deadline) for outbox in self._begun(Outbox.flush)]
        return all(done)

    def close(self, timeout: float = _DRAIN_SECONDS) -> bool:
        """Flush, except to targets that were away a moment ago, and let go of everything; True when nothing is left."""
        deadline = time.monotonic() + timeout
        done = [outbox.closed(deadline) for outbox in self._begun(lambda outbox: outbox.close(deadline))]
        return all(done)

    @property
    def counts(self) -> dict[str, Counts]:
        """Numbers of the events delivered, waiting, refused and lost so far, by target."""
        return {outbox.name: outbox.counts for outbox in self._all()}

    def folders_of_waiting(self) -> tuple[Path, ...]:
        """Where the events are that wait: in ``spool_folder``, or in the folder of last resort."""
        return tuple(dict.fromkeys(folder for outbox in self._all() for folder in outbox.folders_of_waiting()))

    def stranded(self) -> dict[str, int]:
        """How many events wait for addresses that are no target now, by the names of their files."""
        known = {key for outbox in self._all() for key in outbox.keys}
        found: dict[str, int] = {}
        for path in self.spool_folder.glob("*.*.ndjson"):
            key = path.name.partition(".")[0]
            if key not in known:
                found[key] = found.get(key, 0) + lines_in(path)
        return found

    def _all(self) -> list[Outbox]:
        with self._lock:
            return list(self._outboxes)

    def _begun(self, begin: Callable[[Outbox], None]) -> list[Outbox]:
        """All targets do it at once: one that hangs takes no time from the others."""
        outboxes = self._all()
        for outbox in outboxes:
            begin(outbox)
        return outboxes


def spool_key(target: Target) -> str:
    """The beginning of the names of a target's files: its name, the readable part of its address, and a digest of it.

    >>> from headwater.openlineage.delivery import SinkTarget
    >>> spool_key(SinkTarget("store", print))
    'store'
    """
    if not target.address:
        return target.name
    readable = re.sub(r"[^A-Za-z0-9]+", "_", target.address.partition("//")[2] or target.address).strip("_")[-40:]
    digest = hashlib.sha256(target.address.encode("utf-8", "backslashreplace")).hexdigest()[:10]
    return f"{target.name}@{readable}-{digest}"


def folder_of_last_resort(spool_folder: Path) -> Path:
    """Where events are kept that ``spool_folder`` does not take: one folder for each, so that a later run finds it."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    digest = hashlib.sha256(os.fsencode(spool_folder.absolute())).hexdigest()[:12]
    return Path(state, "headwater", f"spool-{digest}")
