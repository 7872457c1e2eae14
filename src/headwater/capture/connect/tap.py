"""The tap of a Connect client: its actions as they end, the plans asked of the server afterwards."""

import itertools
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from headwater.capture.connect.actions import END_STREAM, START_STREAM, Action, action
from headwater.capture.connect.plans import explained_plan
from headwater.capture.connect.server import Server
from headwater.capture.guard import guarded
from headwater.capture.rows import ExecutionRow, RddAction
from headwater.capture.settings import CaptureSettings
from headwater.model import Gap
from headwater.plan import Plan


@dataclass(frozen=True, slots=True)
class StreamIds:
    """A streaming query: its id, which outlives restarts, and that of its run."""

    id: str
    run: str


@dataclass(slots=True)
class _Answers:
    """The answers of a server to one request that starts or ends a streaming query."""

    query: StreamIds | None = None
    goes_on: bool = False

    def take(self, answer: Any) -> None:
        """Look at one answer: a property of the result, by its name."""
        if not isinstance(answer, dict):
            return
        with guarded("reading an answer"):
            if (started := answer.get("write_stream_operation_start_result")) is not None:
                self.query = StreamIds(started.query_id.id, started.query_id.run_id)
            elif (result := answer.get("streaming_query_command_result")) is not None:
                self.goes_on = result.HasField("await_termination") and not result.await_termination.terminated


@dataclass(frozen=True, slots=True)
class _Ended:
    action: Action
    began: datetime
    failure: str | None
    query: StreamIds | None = None
    ended: datetime = field(default_factory=lambda: datetime.now(UTC))


class ConnectTap:
    """The actions of one client, each handed over when it has ended: the job never waits for a question of ours."""

    gaps = (
        Gap(
            "error",
            "Spark Connect",
            "the lineage is from the texts of plans that a remote server gives, and has their limits: docs/connect.md",
        ),
    )

    def __init__(self, client: Any, settings: CaptureSettings) -> None:
        self._server = Server(client, settings.plan_seconds)
        self._settings = settings
        self._ended: queue.Queue[_Ended | None] = queue.Queue()
        self._numbers = itertools.count()
        self._dropped = 0
        self._queries: dict[str, StreamIds] = {}

    def connect(self) -> None:
        """Nothing to do: the hooks of the client hand over what happens."""

    def disconnect(self) -> None:
        """Take no more."""

    @contextmanager
    def watching(self, plan: Any) -> Iterator[Callable[[Any], None]]:
        """Note the action of a request when the block ends, well or not; what is given takes each answer."""
        found = None
        with guarded("reading a request"):
            self._server.note(plan)
            found = action(plan)
        began, answers = datetime.now(UTC), _Answers()
        try:
            yield answers.take
        except GeneratorExit:  # whoever reads the result has enough of it
            self._note(found, began, None, answers)
            raise
        except BaseException as error:
            self._note(found, began, str(error) or type(error).__name__, answers)
            raise
        self._note(found, began, None, answers)

    def rows(self, milliseconds: int) -> list[ExecutionRow] | None:
        """The next action with its plan; None when there is none for that long."""
        try:
            found = self._ended.get(timeout=milliseconds / 1000) if milliseconds else self._ended.get_nowait()
        except queue.Empty:
            return None
        return [] if found is None else [self._row(found)]

    def plan(self, data_frame: Any) -> Plan:
        """The plan of a DataFrame that need not run."""
        relation = data_frame._plan.to_proto(data_frame.sparkSession.client).root
        return explained_plan(Action(relation), self._server).plan()

    def remember(self, data_frame: Any, checkpoint: Any = None) -> bool:
        """False: rows that leave a remote DataFrame are not followed."""
        return False

    def remember_json(self, data_frame: Any, rdd: Any) -> bool:
        """A remote DataFrame has no RDD."""
        return False

    def begin_action(self, action: RddAction) -> int:
        """A remote server has no RDDs for its clients."""
        return 0

    def end_action(self, number: int, failure: Any) -> None:
        """Never called: no action begins."""

    def keep_origins(self, rdd: Any) -> None:
        """Never called: a remote server has no RDDs for its clients."""

    def dropped(self) -> int:
        """How many actions did not fit into the queue since this was last asked."""
        count, self._dropped = self._dropped, 0
        return count

    def refused(self) -> int:
        """Not known here."""
        return 0

    def pending(self) -> int:
        """How many actions wait to be polled."""
        return self._ended.qsize()

    def leave(self, command: Sequence[str], last_words: str) -> None:
        """Nobody would deliver it here."""

    def wake(self) -> None:
        """End a call of rows() that waits."""
        self._ended.put(None)

    def drain(self, milliseconds: int) -> bool:
        """Everything that has happened can be polled at once, when the server was asked which queries have ended."""
        for query in tuple(self._queries.values()):
            with guarded("asking for a streaming query"):
                ended, failure = self._server.query_ended(query.id, query.run)
                if ended:
                    self._end_query(query.run, datetime.now(UTC), failure)
        return True

    def _end_query(self, run: str, began: datetime, failure: str | None) -> None:
        if self._queries.pop(run, None) is not None:
            self._ended.put(_Ended(Action(command=END_STREAM, run=run), began, failure))

    def _note(self, found: Action | None, began: datetime, failure: str | None, answers: _Answers) -> None:
        if found is not None and found.command == END_STREAM:
            if not answers.goes_on:
                self._end_query(found.run, began, failure)
            return
        if found is not None and found.command == START_STREAM and answers.query is not None:
            self._queries[answers.query.run] = answers.query
        if found is None or not (found.command or found.unread or self._settings.reads):
            return
        if self._ended.qsize() >= self._settings.queue:
            self._dropped += 1
        else:
            self._ended.put(_Ended(found, began, failure, answers.query))

    def _row(self, ended: _Ended) -> ExecutionRow:
        row = ExecutionRow("end", next(self._numbers), ended.ended, began=ended.began, failure=ended.failure)
        command = ended.action.command or ended.action.unread
        if command == END_STREAM:
            return replace(row, kind="stopped", stream=ended.action.run)
        if command == START_STREAM and ended.query is not None:
            row = replace(row, kind="stream", time=ended.ended, stream=ended.query.run)
            row = replace(row, description=ended.query.id, name=ended.action.name)
        if ended.action.unread:
            why = f"what {command} does is not read from the client of a remote server"
            return replace(row, command=command, unreadable=why)
        begun = time.monotonic()
        try:
            return replace(row, plan=explained_plan(ended.action, self._server).plan())
        except Exception as error:
            took = f", after {time.monotonic() - begun:.1f} seconds"
            return replace(row, command=command, unreadable=f"{_message(error)[:500]}{took}")


def _message(error: Exception) -> str:
    """The text of an error; of one of gRPC the server's part."""
    details = getattr(error, "details", None)
    return f"{type(error).__name__}: {details() if callable(details) else error}"
