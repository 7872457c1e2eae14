"""The agent of one application: a thread that polls the tap and hands events on, and the flush at the end."""

import logging
import re
import threading
import time
from datetime import UTC, datetime
from typing import Protocol

from openlineage.client.event_v2 import RunEvent

from headwater.capture.collector import paused
from headwater.capture.executions import Executions, dropped
from headwater.capture.guard import guarded
from headwater.capture.rows import rows
from headwater.model import RunMoment, RunState, Statement
from headwater.openlineage.events import run_event
from headwater.openlineage.facets import FacetSettings

_LOG = logging.getLogger("headwater")
_POLL_MILLISECONDS = 1000


class Tap(Protocol):
    """Where rows come from."""

    def poll(self, milliseconds: int) -> str | None:
        """The next rows in packed form; None when there were none for that long."""

    def dropped(self) -> int:
        """How many executions were lost since this was last asked."""

    def settle(self, milliseconds: int) -> None:
        """Wait until everything that has happened can be polled."""

    def disconnect(self) -> None:
        """Listen no longer."""


class Sink(Protocol):
    """Where events go; never raises, keeps what cannot be delivered."""

    def deliver(self, event: RunEvent) -> None:
        """Take one event."""

    def close(self, timeout: float) -> bool:
        """Deliver what is under way, in no more seconds than that; keep the rest for later, and say so by False."""


class Agent:
    """Watches one Spark application from start() to stop()."""

    def __init__(self, tap: Tap, sink: Sink, executions: Executions, facets: FacetSettings) -> None:
        self._tap = tap
        self._sink = sink
        self._executions = executions
        self._facets = facets
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="headwater", daemon=True)
        self._lost = 0

    def summary(self, options: str) -> str:
        """One line: what was captured, and how to look at it; ``options`` are for the command line."""
        columns, outputs = self._executions.columns, self._executions.outputs
        if not outputs:
            return "headwater: this application wrote no dataset, so there is no lineage to show."
        name = re.split(r"[/]", outputs[-1].name.rstrip("/"))[-1]
        many = f"{len(outputs)} dataset" + "s" * (len(outputs) != 1)
        return f"headwater: captured the lineage of {columns} columns in {many}. Look: headwater show{options} {name}"

    def start(self) -> None:
        """Tell that the application has begun, and watch it."""
        self._tell_application(RunState.START)
        self._thread.start()

    def stop(self, state: RunState, seconds: float, error: str = "") -> None:
        """Wait for what is under way, no longer than ``seconds``, and tell how the application ended."""
        deadline = time.monotonic() + seconds
        with guarded("waiting for the last executions"):
            self._tap.settle(max(1, int(seconds * 1000)))
        self._stopping.set()
        self._thread.join(max(0.1, deadline - time.monotonic()))
        with guarded("closing the tap"):
            self._lost += self._tap.dropped()
            self._tap.disconnect()
        for moment in self._executions.abandoned(datetime.now(UTC)):
            self._tell(moment)
        self._tell_application(state, error)
        self._sink.close(max(0.5, deadline - time.monotonic()))

    def _watch(self) -> None:
        while True:
            stopping = self._stopping.is_set()
            with guarded("watching the application"):
                reply = self._next(0 if stopping else _POLL_MILLISECONDS)
                if reply is not None:
                    self._take(reply)
                elif stopping:
                    return

    def _next(self, milliseconds: int) -> str | None:
        try:
            return self._tap.poll(milliseconds)
        except Exception as gone:
            self._stopping.set()
            _LOG.debug("the JVM is gone: %r", gone)
            return None

    def _take(self, reply: str) -> None:
        with paused():
            for row in rows(reply):
                with guarded("working out the lineage of a statement"):
                    for moment in self._executions.moments(row):
                        self._tell(moment)

    def _tell(self, moment: RunMoment) -> None:
        with guarded("telling of a run"):
            self._sink.deliver(run_event(moment, self._facets))

    def _tell_application(self, state: RunState, error: str = "") -> None:
        gaps = (dropped(self._lost),) if self._lost else ()
        known = Statement(gaps=gaps) if gaps else None
        executions = self._executions
        self._tell(RunMoment(executions.application, state, datetime.now(UTC), executions.engine, known, error=error))
