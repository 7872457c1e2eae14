"""The agent of one application: a thread that polls the tap and hands events on, and the flush at the end."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from openlineage.client.event_v2 import RunEvent

from headwater.capture.application.last_words import COMMAND, ENDED
from headwater.capture.guard import guarded, warn_once
from headwater.capture.hooks.endings import EXITED, exit_status_file
from headwater.capture.rows import ExecutionRow, RddAction
from headwater.capture.runs.executions import Executions, lost, refused
from headwater.ext.additions import extended_event
from headwater.ext.transports import transport_targets
from headwater.extract import ExtractSettings, Origins
from headwater.model import Gap, Run, RunMoment, RunState, Statement, endings_apart
from headwater.openlineage.delivery import Target
from headwater.openlineage.writing.events import end_event, run_event, to_json
from headwater.openlineage.writing.facets import FacetSettings
from headwater.redaction import redact

_LOG = logging.getLogger("headwater")
_POLL_MILLISECONDS = 1000
_GONE = "Spark's JVM was gone before the application ended"
_LONGER = "what was not delivered is missing; raise HEADWATER_FLUSH_SECONDS"


class Tap(Protocol):
    """Where rows come from."""

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """The things that this tap cannot see of any execution."""

    @property
    def outlives_program(self) -> bool:
        """True when leave() is heeded."""

    def rows(self, milliseconds: int) -> list[ExecutionRow] | None:
        """The next starts and ends of executions; None when there were none for that long."""

    def dropped(self) -> int:
        """How many executions were lost since this was last asked."""

    def refused(self) -> int:
        """How many events the listener queue of Spark had no room for."""

    def pending(self) -> int:
        """How many rows wait to be polled."""

    def leave(self, command: Sequence[str], last_words: str, status_file: str = "") -> None:
        """Have ``last_words`` read by ``command`` should the program end without a word.

        With a ``status_file``, which has the status of its exit then, that is when it is not 0.
        """

    def wake(self) -> None:
        """End a call of rows() that waits."""

    def drain(self, milliseconds: int) -> bool:
        """Wait until everything that has happened can be polled; False when it takes longer."""

    def remember(self, data_frame: Any, checkpoint: Any = None) -> bool:
        """Have the plan read of a DataFrame whose rows leave it; False when that will not be."""

    def remember_json(self, data_frame: Any, rdd: Any) -> bool:
        """Have the plan read of a DataFrame whose rows an RDD has as JSON; False when that will not be."""

    def begin_action(self, action: RddAction) -> int:
        """Note that an action on an RDD begins; 0 when there is no knowing of it."""

    def end_action(self, number: int, failure: Any) -> None:
        """It has ended, by a failure unless that is None."""

    def keep_origins(self, rdd: Any) -> None:
        """An RDD will be checkpointed, which cuts off what it depends on."""

    def disconnect(self) -> None:
        """Listen no longer."""


class Sink(Protocol):
    """Where events go; never raises, keeps what cannot be delivered."""

    def deliver(self, event: RunEvent) -> None:
        """Take one event."""

    def add(self, targets: Sequence[Target]) -> None:
        """Events go to these too from now on."""

    def close(self, timeout: float) -> bool:
        """Deliver what is under way, in no more seconds than that; keep the rest for later, and say so by False."""


@dataclass(frozen=True, slots=True)
class _Ending:
    """How an application ended, and until when (``time.monotonic``) what is left may be read and delivered."""

    state: RunState = RunState.COMPLETE
    error: str = ""
    read_until: float = 0.0
    deliver_until: float = 0.0
    held: bool = False


class Agent:
    """Watches one Spark application from start() to stop(), on a thread of its own: the job's threads never wait."""

    def __init__(
        self,
        tap: Tap,
        sink: Sink,
        executions: Executions,
        facets: FacetSettings,
        last_words: Callable[[Sequence[str]], str] = "\n".join,
    ) -> None:
        self._tap = tap
        self._sink = sink
        self._executions = executions
        self._facets = facets
        self._last_words = last_words
        self._left: tuple[str, ...] | None = None
        self._begun: dict[str, RunEvent] = {}
        self._requested = 0
        self._ending = _Ending()
        self._gone = ""
        self._gaps: tuple[Gap, ...] = ()
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._rested = threading.Event()
        self._thread = threading.Thread(target=self._run, name="headwater", daemon=True)

    def summary(self) -> str:
        """A report of what was captured, in a few words."""
        columns, outputs = self._executions.columns, self._executions.outputs
        if outputs:
            return f"captured the lineage of {_count(columns, 'column')} in {_count(len(outputs), 'dataset')}"
        changed = len(self._executions.changed)
        if changed:
            return f"no column lineage: {_count(changed, 'dataset')} made, changed or dropped without a query's rows"
        return "this application wrote no dataset"

    @property
    def application_name(self) -> str:
        """The name of the application's own job."""
        return self._executions.application.job.name

    @property
    def last_output(self) -> str:
        """The end of the name of the dataset written last: two parts, as in a lake one (``flights``) fits several.

        There are more of them where the application has written another of the same end.
        """
        parts = {one: tuple(one.name.strip("/").split("/")) for one in self._executions.outputs}
        return endings_apart(parts, 2)[next(reversed(parts))] if parts else ""

    @property
    def settings(self) -> ExtractSettings:
        """The settings of extraction."""
        return self._executions.settings

    def remember(self, data_frame: Any, checkpoint: Any = None) -> bool:
        """Give the lineage of a DataFrame to its checkpoint, or without one to its RDD."""
        noted = self._tap.remember(data_frame, checkpoint)
        self._requested += noted
        return noted

    def remember_json(self, data_frame: Any, rdd: Any) -> bool:
        """Have the RDD with a DataFrame's rows as JSON known by the DataFrame's lineage."""
        noted = self._tap.remember_json(data_frame, rdd)
        self._requested += noted
        return noted

    def begin_action(self, action: RddAction) -> int:
        """Note that an action on an RDD begins; a number for end_action(), 0 when there is no knowing of it."""
        return self._tap.begin_action(action)

    def end_action(self, number: int, failure: Any) -> None:
        """It has ended, by a failure unless that is None."""
        self._tap.end_action(number, failure)

    def keep_origins(self, rdd: Any) -> None:
        """Have the checkpoint of an RDD known by the RDD's lineage of now."""
        self._tap.keep_origins(rdd)

    def origins(self, seconds: float = 2.0) -> Origins:
        """The lineage of the rows of checkpoints and RDDs; waits so long for those that are being read."""
        until = time.monotonic() + seconds
        while self._executions.remembered < self._requested and time.monotonic() < until:
            time.sleep(0.01)
        return self._executions.origins

    def catch_up(self, seconds: float) -> None:
        """Wait until what has happened so far is handed on, but no longer than that."""
        until = time.monotonic() + seconds
        self._tap.drain(int(seconds * 1000))
        self._rested.clear()
        self._tap.wake()
        self._rested.wait(max(0.0, until - time.monotonic()))

    def start(self) -> None:
        """Watch the application from now on, and report that it has begun."""
        self._thread.start()

    def stop(self, state: RunState, seconds: float, error: str = "", *, held: bool = False) -> None:
        """Report what is under way and how the application ended; wait for it, but no longer than ``seconds``.

        ``held`` leaves how it ended to finish().
        """
        now = time.monotonic()
        self._ending = _Ending(state, error, now + seconds * 2 / 3, now + seconds, held)
        self._stopping.set()
        try:
            self._tap.wake()
        except Exception as gone:
            self._lose_jvm(gone)
        self._woken.set()
        self._thread.join(seconds + 0.5)  # what is not acknowledged by then is on disk, and its files are let go of
        if self._thread.is_alive():
            warn_once("flush", f"headwater: {seconds:g} seconds did not suffice to deliver all lineage; {_LONGER}.")

    def finish(self, state: RunState, seconds: float, error: str = "") -> None:
        """Report how an application ended whose stop() was held."""
        self._ending = _Ending(state, error, deliver_until=time.monotonic() + seconds)
        self._end_application()

    def fail_after_exit(self) -> None:
        """Have the application reported as failed when its process has exited by a status that is not 0."""
        if not self._gone and self._tap.outlives_program and (file := exit_status_file()):
            failure = self._failure(self._executions.application, None, EXITED)
            self._tap.leave(COMMAND, self._last_words([failure]), file)

    def _run(self) -> None:
        with guarded("loading extensions"):
            self._sink.add(transport_targets(self.settings.extensions))
        self._report_application(RunState.START)
        with guarded("leaving last words"):
            self._leave_last_words()
        while not self._stopping.is_set():
            with guarded("watching the application"):
                if not self._watch(_POLL_MILLISECONDS):
                    self._rested.set()
                    self._leave_last_words()
        with guarded("reading the last executions"):
            self._gaps = tuple(self._unread_of_the_gone() if self._gone else self._last())
        state, error = self._outcome()
        for moment in self._executions.abandoned(datetime.now(UTC), state, error):
            self._deliver(moment)
        if not self._ending.held:
            self._end_application()

    def _leave_last_words(self) -> None:
        """Name what would be left open; not at each start, since most statements end before the next moment of rest."""
        runs = self._open_runs()
        ids = tuple(run.id for run in runs)
        if self._gone or ids == self._left:
            return
        statements = (None, *(Statement() for _ in runs[1:]))
        failures = [self._failure(run, one, ENDED) for run, one in zip(runs, statements, strict=True)]
        self._tap.leave(COMMAND, self._last_words(failures))
        self._left = ids

    def _open_runs(self) -> tuple[Run, ...]:
        """The application's own run, and those of statements that have not ended."""
        return self._executions.application, *(one.run for one in self._executions.open)

    def _failure(self, run: Run, statement: Statement | None, error: str) -> str:
        now, engine = datetime.now(UTC), self._executions.engine
        return to_json(run_event(RunMoment(run, RunState.FAIL, now, engine, statement, error=error), self._facets))

    def _end_application(self) -> None:
        state, error = self._outcome()
        self._report_application(state, error, self._gaps)
        self._sink.close(max(0.5, self._ending.deliver_until - time.monotonic()))

    def _outcome(self) -> tuple[RunState, str]:
        """How the application ended, and why: without its JVM it failed, whatever the program made of that."""
        if self._gone and self._ending.state is RunState.COMPLETE:
            return RunState.FAIL, self._gone
        return self._ending.state, self._ending.error

    def _last(self) -> Iterator[Gap]:
        """Read what has happened and is not read; give the gaps that stay.

        The call that wakes a tap lies among its rows: one that came after the last reading would count as unread.
        """
        self._woken.wait(self._milliseconds_left() / 1000)
        if not self._wait_for_listeners():
            yield from self._unread_of_the_gone()
            return
        while self._milliseconds_left() and self._watch(0):
            pass
        yield from self._tap.gaps
        for gap in (*lost(self._tap.dropped(), self._tap.pending()), *refused(self._tap.refused())):
            warn_once(gap.kind, f"headwater: {gap.what}: {gap.why}.")
            yield gap
        self._tap.disconnect()

    def _wait_for_listeners(self) -> bool:
        """Wait until all that happened can be polled; False without a JVM."""
        try:
            self._tap.drain(self._milliseconds_left())
        except Exception as gone:
            self._lose_jvm(gone)
        return not self._gone

    def _unread_of_the_gone(self) -> Iterator[Gap]:
        yield Gap("dropped", "what was not read yet", f"{_GONE}: the lineage of what it had not handed over is missing")

    def _lose_jvm(self, error: Exception) -> None:
        _LOG.debug("the JVM is gone: %s", redact(repr(error)))
        self._gone = f"{_GONE}: {type(error).__name__}: {error}"

    def _milliseconds_left(self) -> int:
        return max(0, int((self._ending.read_until - time.monotonic()) * 1000))

    def _watch(self, milliseconds: int) -> bool:
        """Take the next rows; False when there are none."""
        try:
            found = self._tap.rows(milliseconds)
        except Exception as gone:
            self._lose_jvm(gone)
            self._stopping.wait()
            return False
        for row in found or []:
            with guarded("working out the lineage of a statement"):
                for moment in list(self._executions.moments(row)):
                    self._deliver(moment)
        if set(self._left or ()) - {run.id for run in self._open_runs()}:
            with guarded("leaving last words"):
                self._leave_last_words()  # else a run that has ended would fail if the program did now
        return found is not None

    def _deliver(self, moment: RunMoment) -> None:
        with guarded("reporting a run"):
            event = extended_event(self._event(moment), moment, self.settings.extensions)
            if event is not None:
                self._sink.deliver(event)

    def _event(self, moment: RunMoment) -> RunEvent:
        """The event of a moment; that of a statement's start is kept until its end, which says the same and more.

        Of a streaming query more is known by then.
        """
        begun = self._begun.pop(moment.run.id, None)
        if begun is not None:
            return end_event(begun, moment, self._facets)
        event = run_event(moment, self._facets)
        if moment.state is RunState.START and moment.statement is not None and not moment.streaming:
            self._begun[moment.run.id] = event
        return event

    def _report_application(self, state: RunState, error: str = "", gaps: tuple[Gap, ...] = ()) -> None:
        statement = Statement(gaps=gaps) if gaps else None
        executions = self._executions
        self._deliver(
            RunMoment(executions.application, state, datetime.now(UTC), executions.engine, statement, error=error)
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
