"""The tap of a Connect client: its actions as they end, the plans asked of the server afterwards."""

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from headwater.capture.connect.actions import END_STREAM, START_STREAM, Action, action
from headwater.capture.connect.plans import explained_plan
from headwater.capture.connect.server import Server
from headwater.capture.connect.variables import statement_kind
from headwater.capture.guard import guarded
from headwater.capture.queue_tap import QueueTap
from headwater.capture.rows import ExecutionRow
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
class _EndedAction:
    action: Action
    began: datetime
    failure: str | None
    query: StreamIds | None = None
    ended: datetime = field(default_factory=lambda: datetime.now(UTC))


class ConnectTap(QueueTap):
    """The actions of one client, each handed over when it has ended: the job never waits for a question of ours."""

    gaps = (
        Gap(
            "error",
            "Spark Connect",
            "the lineage is from the texts of plans that a remote server gives, and has their limits: docs/connect.md",
        ),
    )

    def __init__(self, client: Any, settings: CaptureSettings) -> None:
        super().__init__(settings)
        self._server = Server(client, settings.plan_seconds)
        self._numbers = itertools.count()
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

    def plan(self, data_frame: Any) -> Plan:
        """The plan of a DataFrame that need not run."""
        relation = data_frame._plan.to_proto(data_frame.sparkSession.client).root
        return explained_plan(Action(relation), self._server).plan()

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
            stopped = _EndedAction(Action(command=END_STREAM, run=run), began, failure)
            self._ended.put(lambda: [self._row(stopped)])

    def _note(self, action: Action | None, began: datetime, failure: str | None, answers: _Answers) -> None:
        if action is not None and action.command == END_STREAM:
            if not answers.goes_on:
                self._end_query(action.run, began, failure)
            return
        if action is not None and action.command == START_STREAM and answers.query is not None:
            self._queries[answers.query.run] = answers.query
        if action is not None and (action.command or action.unread or self._settings.reads):
            ended = _EndedAction(action, began, failure, answers.query)
            self._put(lambda: [self._row(ended)])

    def _row(self, ended: _EndedAction) -> ExecutionRow:
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
            if ended.action.statement:
                command = statement_kind(ended.action.relation.sql.query) or command
            return replace(row, command=command, unreadable=f"{_message(error)[:500]}{took}")


def _message(error: Exception) -> str:
    """The text of an error; of one of gRPC the server's part."""
    details = getattr(error, "details", None)
    return f"{type(error).__name__}: {details() if callable(details) else error}"
