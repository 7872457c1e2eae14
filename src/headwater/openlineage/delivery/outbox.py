"""One target, what it has not acknowledged, and the thread that sends."""

import logging
import os
import threading
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from headwater.openlineage.delivery.spool import DeliveryOutcome, DeliveryResult, Spool
from headwater.openlineage.delivery.targets import Target
from headwater.redaction import redact

_log = logging.getLogger(__name__)

_LONGEST_REST = 300.0
# What no disk takes waits in memory while its target is sent to.
_MOST_IN_MEMORY = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of one target's events: delivered, those of earlier processes too; waiting on disk; refused; lost."""

    delivered: int = 0
    waiting: int = 0
    rejected: int = 0
    lost: int = 0


class Outbox:
    """Puts events on disk as they come and sends them from there, on a thread of its own; no method raises.

    The target is left alone for ``rest`` seconds after it was away.
    """

    def __init__(self, target: Target, spool: Spool, rest: float) -> None:
        self.name = target.name
        self._target = target
        self._spool = spool
        self._shortest_rest = self._rest = rest
        self._away = False
        self._awake_at = 0.0
        self._delivered = 0
        self._rejected = 0
        self._unkept: deque[tuple[str, OSError]] = deque()
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._process = os.getpid()
        self._wanted = self._done = 0
        self._forced = self._empty = False
        self._closing_at: float | None = None
        self._ended = False

    @property
    def keys(self) -> tuple[str, ...]:
        """With what the names of its files begin."""
        return self._spool.keys

    @property
    def counts(self) -> Counts:
        """How many of its events were delivered, wait, were refused and are lost so far."""
        return Counts(self._delivered, self._spool.waiting, self._rejected, self._spool.lost)

    def folders_of_waiting(self) -> list[Path]:
        """The folders of the events that are kept for it."""
        return self._spool.folders

    def post(self, line: str) -> None:
        """Put the event on disk, and have it sent after those before it."""
        with self._condition:
            error = self._spool.keep(line)
            if error is not None:
                if sum(len(held) for held, _ in list(self._unkept)) + len(line) > _MOST_IN_MEMORY:
                    self._spool.lose(error)
                else:
                    self._unkept.append((line, error))
            self._want()

    def wait(self, deadline: float) -> bool:
        """Wait until each event so far was sent, or found the target away; False when it is ``deadline`` before."""
        with self._condition:
            wanted = self._wanted
            return self._condition.wait_for(
                lambda: self._done >= wanted or self._ended, max(0.0, deadline - time.monotonic())
            )

    def flush(self) -> None:
        """Have all that is kept sent, even if the target was away a moment ago."""
        with self._condition:
            self._forced = True
            self._want()

    def flushed(self, deadline: float) -> bool:
        """Whether nothing is left, once all was tried or it is ``deadline``."""
        return self.wait(deadline) and self._empty

    def close(self, deadline: float) -> None:
        """Have what is kept sent until ``deadline``, and let go of everything."""
        with self._condition:
            self._closing_at = deadline
            self._want()

    def closed(self, deadline: float) -> bool:
        """Whether nothing is left; what is sent but not acknowledged at the deadline stays on disk."""
        with self._condition:
            left = max(0.0, deadline - time.monotonic())
            ended = self._condition.wait_for(lambda: self._ended, left)
        if not ended:
            self._spool.drop_acknowledged()
        return ended and self._empty

    def _want(self) -> None:
        """Wake the thread; where none can be started (the interpreter ends), what is on disk stays there."""
        self._wanted += 1
        self._condition.notify_all()
        if self._thread is None or self._process != os.getpid():
            self._process = os.getpid()
            self._thread = threading.Thread(target=self._run, name=f"headwater-{self.name}", daemon=True)
            try:
                self._thread.start()
            except RuntimeError as error:
                _log.debug("No thread for %s: %s", self.name, error)
                self._ended = True

    def _run(self) -> None:
        while not self._ended:
            with self._condition:
                self._condition.wait_for(lambda: self._wanted > self._done)
                wanted, forced, closing = self._wanted, self._forced, self._closing_at is not None
                self._forced = False
            self._empty = self._pass(forced=forced)
            if closing:
                self._let_go()
            with self._condition:
                self._done, self._ended = wanted, closing
                self._condition.notify_all()

    def _pass(self, *, forced: bool) -> bool:
        """Send what is kept, the oldest first: a target sees events in the order in which they were made."""
        try:
            done = (forced or not self._resting) and self._spool.drain(self._send, self._too_late)
            return self._unkept_sent(reachable=done) and done
        except Exception as error:
            _log.warning("Undelivered events for %s stay on disk: %s", self.name, redact(str(error)))
            return False

    def _unkept_sent(self, *, reachable: bool) -> bool:
        """Send what no disk takes; it is lost when its target is away too."""
        everything = True
        while self._unkept:
            line, error = self._unkept.popleft()
            sent = self._send(line) if reachable else DeliveryResult(DeliveryOutcome.UNAVAILABLE)
            if sent.outcome is DeliveryOutcome.UNAVAILABLE:
                reachable = everything = False
                self._spool.lose(error)
            elif sent.outcome is DeliveryOutcome.REJECTED:
                self._spool.reject(line, sent.reason)
        return everything

    def _let_go(self) -> None:
        try:
            self._target.close()
        except Exception as error:
            _log.debug("Closing %s: %s", self.name, redact(str(error)))
        self._spool.close()

    def _too_late(self) -> bool:
        return self._closing_at is not None and time.monotonic() > self._closing_at

    @property
    def _resting(self) -> bool:
        return time.monotonic() < self._awake_at

    def _send(self, line: str) -> DeliveryResult:
        sent = self._target.send(line)
        if sent.outcome is DeliveryOutcome.UNAVAILABLE:
            self._sleep(sent.reason)
        else:
            if self._away:
                _log.info("Lineage events can go to %s again; those that were kept follow.", self.name)
            self._away = False
            self._rest, self._awake_at = self._shortest_rest, 0.0
        self._delivered += sent.outcome is DeliveryOutcome.DELIVERED
        self._rejected += sent.outcome is DeliveryOutcome.REJECTED
        if sent.outcome is DeliveryOutcome.REJECTED:
            _log.warning("%s refused an event (%s); it is kept in rejected.ndjson.", self.name, sent.reason)
        return sent

    def _sleep(self, reason: str) -> None:
        if not self._away:
            _log.warning("Lineage events cannot go to %s now (%s); they are kept and sent later.", self.name, reason)
        self._away = True
        self._awake_at = time.monotonic() + self._rest
        self._rest = min(self._rest * 2, _LONGEST_REST)
