"""The tap of a Connect client: its actions as they end, the plans asked of the server afterwards."""

import itertools
import queue
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from headwater.capture.connect.actions import Action, action
from headwater.capture.connect.plans import told
from headwater.capture.connect.server import Server
from headwater.capture.guard import guarded
from headwater.capture.rows import ExecutionRow
from headwater.capture.settings import CaptureSettings
from headwater.model import Gap
from headwater.plan import Plan


@dataclass(frozen=True, slots=True)
class _Ended:
    action: Action
    began: datetime
    failure: str | None
    ended: datetime = field(default_factory=lambda: datetime.now(UTC))


class ConnectTap:
    """The actions of one client, each told when it has ended: the job never waits for a question of ours."""

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

    def connect(self) -> None:
        """Nothing to do: the hooks of the client hand over what happens."""

    def disconnect(self) -> None:
        """Take no more."""

    @contextmanager
    def watching(self, plan: Any) -> Iterator[None]:
        """Note the action of a request when the block ends, well or not."""
        found = None
        with guarded("reading a request"):
            found = action(plan)
        began = datetime.now(UTC)
        try:
            yield
        except GeneratorExit:  # whoever reads the result has enough of it
            self._note(found, began, None)
            raise
        except BaseException as error:
            self._note(found, began, str(error) or type(error).__name__)
            raise
        self._note(found, began, None)

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
        return told(Action(relation), self._server).plan()

    def remember(self, data_frame: Any, checkpoint: Any = None) -> bool:
        """What leaves a remote DataFrame is not followed."""
        return False

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

    def leave(self, last_words: str) -> None:
        """Nobody would deliver it here."""

    def wake(self) -> None:
        """End a call of rows() that waits."""
        self._ended.put(None)

    def settle(self, milliseconds: int) -> bool:
        """Everything that has happened can be polled at once."""
        return True

    def _note(self, found: Action | None, began: datetime, failure: str | None) -> None:
        if found is None or not (found.command or found.unread or self._settings.reads):
            return
        if self._ended.qsize() >= self._settings.queue:
            self._dropped += 1
        else:
            self._ended.put(_Ended(found, began, failure))

    def _row(self, ended: _Ended) -> ExecutionRow:
        row = ExecutionRow("end", next(self._numbers), ended.ended, began=ended.began, failure=ended.failure)
        command = ended.action.command or ended.action.unread
        if ended.action.unread:
            why = f"what {command} does is not read from the client of a remote server"
            return replace(row, command=command, unreadable=why)
        begun = time.monotonic()
        try:
            return replace(row, plan=told(ended.action, self._server).plan())
        except Exception as error:
            took = f", after {time.monotonic() - begun:.1f} seconds"
            return replace(row, command=command, unreadable=f"{_said(error)[:500]}{took}")


def _said(error: Exception) -> str:
    """What an error says; of one of gRPC the server's part."""
    details = getattr(error, "details", None)
    return f"{type(error).__name__}: {details() if callable(details) else error}"
