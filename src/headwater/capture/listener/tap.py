"""The tap for a JVM in which nothing can be compiled: a query execution listener written in Python.

Spark reports an execution to it when that has ended, a nested one like any other. It works through py4j's callback
server; plans are read when they are polled, as with the tap, by ``toJSON`` and some questions.
"""

import functools
import itertools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from headwater.capture.guard import guarded
from headwater.capture.listener.facts import attempt, class_of, facts_of
from headwater.capture.queue_tap import QueueTap
from headwater.capture.rows import ExecutionRow, RddAction, plan_unseen
from headwater.capture.settings import CaptureSettings
from headwater.extract.writes import WRITES
from headwater.model import Gap
from headwater.plan import Plan, decode_tojson

_WRITES_OF_OTHERS = {
    "CreateDataSourceTableAsSelectCommand",
    "CreateHiveTableAsSelectCommand",
    "CreateTableAsSelect",
    "InsertIntoDataSourceCommand",
    "ReplaceTableAsSelect",
    "SaveAsV1TableCommand",
}
_HELD_SECONDS = 5.0


class ListenerTap(QueueTap):
    """A listener on the executions of every session of one SparkContext, those to come too."""

    def __init__(self, context: Any, settings: CaptureSettings, reason: str) -> None:
        super().__init__(settings)
        self._context = context
        self._held: deque[tuple[float, ExecutionRow]] = deque()
        self._numbers = itertools.count(1)
        self._actions: dict[int, tuple[RddAction, datetime]] = {}
        self._registered: list[tuple[Any, Any]] = []
        self._streams: list[tuple[Any, Any]] = []
        self._seen: deque[int] = deque(maxlen=1000)
        self._undo: Callable[[], None] = lambda: None
        self.gaps = (Gap("error", "tap", f"{reason}; nested writes may be reported as writes of their own"),)

    def connect(self) -> None:
        """Listen to the sessions there are, and to each that is made."""
        from pyspark.java_gateway import ensure_callback_server_started
        from pyspark.sql import SparkSession

        ensure_callback_server_started(self._context._gateway)
        original = SparkSession.__init__

        @functools.wraps(original)
        def init(session: Any, *args: Any, **kwargs: Any) -> None:
            original(session, *args, **kwargs)
            with guarded("listening to a session"):
                self._listen(session)

        SparkSession.__init__ = init

        def undo() -> None:
            if SparkSession.__init__ is init:
                SparkSession.__init__ = original

        self._undo = undo
        if SparkSession._instantiatedSession is not None:
            self._listen(SparkSession._instantiatedSession)

    def disconnect(self) -> None:
        """Listen no longer."""
        self._undo()
        for session, listener in self._registered:
            session.listenerManager().unregister(listener)
        for session, listener in self._streams:
            session.streams.removeListener(listener)
        self._registered.clear()
        self._streams.clear()

    def plan(self, data_frame: Any) -> Plan:
        """The plan of a DataFrame that need not run."""
        return _plan(data_frame._jdf.queryExecution())

    def begin_action(self, action: RddAction) -> int:
        """Note what happens to an RDD; its number."""
        number = next(self._numbers)
        self._actions[number] = (action, datetime.now(UTC))
        return number

    def end_action(self, number: int, failure: Any) -> None:
        """Note how it ended."""
        action, began = self._actions.pop(number)
        text = failure if failure is None or isinstance(failure, str) else str(failure.getMessage() or failure)
        row = ExecutionRow("end", number, datetime.now(UTC), began=began, failure=text)
        self._ended.put(lambda: [*self._held_back(), replace(row, plan=plan_unseen(action, self._qualified(action)))])

    def _qualified(self, action: RddAction) -> str | None:
        if action.path is None:
            return None
        path = self._context._jvm.org.apache.hadoop.fs.Path(action.path)
        found = attempt(lambda: path.getFileSystem(self._context._jsc.hadoopConfiguration()).makeQualified(path))
        return str((found or path).toString())

    def pending(self) -> int:
        """How many executions wait to be polled."""
        return super().pending() + len(self._held)

    def drain(self, milliseconds: int) -> bool:
        """Wait until every listener of Spark has received what happened; False when it takes longer."""
        try:
            self._context._jsc.sc().listenerBus().waitUntilEmpty(milliseconds)
        except Exception:
            return False
        return True

    def take(self, execution: Any, nanoseconds: int, failure: str | None) -> None:
        """Note an execution that has ended; called by Spark, on a thread of its own."""
        if class_of(execution) == "IncrementalExecution" or self._seen_before(int(execution.id())):
            return
        if self._settings.reads or _may_write(class_of(execution.logical())):
            now = time.time()
            self._put(lambda: self._folded(self._row(now, nanoseconds, execution, failure)))

    def take_row(self, row: Callable[[], ExecutionRow]) -> None:
        """Note what a streaming query did; writes inside its batches come before it."""
        self._ended.put(lambda: [*self._held_back(), row()])

    def _seen_before(self, execution: int) -> bool:
        """Whether two sessions report one execution: that of a stream's batch is a clone, with its listeners."""
        if execution in self._seen:
            return True
        self._seen.append(execution)
        return False

    def _listen(self, session: Any) -> None:
        inner = session._jsparkSession
        if any(one.equals(inner) for one, _ in self._registered):
            return
        listener = _Listener(self)
        inner.listenerManager().register(listener)
        self._registered.append((inner, listener))
        with guarded("listening to streaming queries"):
            from headwater.capture.listener.streams import StreamListener

            streaming = StreamListener(session, self.take_row)
            session.streams.addListener(streaming)
            self._streams.append((session, streaming))
            streaming.begin()

    def _row(self, time: float, nanoseconds: int, execution: Any, failure: str | None) -> ExecutionRow:
        ended = datetime.fromtimestamp(time, UTC)
        row = ExecutionRow("end", next(self._numbers), ended, failure=failure)
        row = replace(row, began=ended - timedelta(microseconds=nanoseconds / 1000))
        try:
            return replace(row, plan=_plan(execution))
        except Exception as error:
            return replace(row, command=class_of(execution.logical()), unreadable=repr(error)[:500])

    def _folded(self, row: ExecutionRow) -> list[ExecutionRow]:
        """A write that another command made ends within that command's time: the command alone is reported.

        Spark does not say here which execution belongs to which, so a write is held until the next one is known.
        """
        name = row.plan.root.name if row.plan and row.plan.root else ""
        if name in _WRITES_OF_OTHERS:
            while self._held and self._held[-1][1].time >= (row.began or row.time):
                self._held.pop()
        ready = self._held_back()
        self._held.append((time.monotonic(), row))
        return ready

    def _held_back(self) -> list[ExecutionRow]:
        ready = [held for _, held in self._held]
        self._held.clear()
        return ready

    def _released(self, *, everything: bool) -> list[ExecutionRow] | None:
        if self._held and (everything or time.monotonic() - self._held[0][0] > _HELD_SECONDS):
            return [self._held.popleft()[1]]
        return None


class _Listener:
    """The methods that Spark calls; an error in it would be Spark's to log."""

    def __init__(self, tap: ListenerTap) -> None:
        self._tap = tap

    def onSuccess(self, name: str, execution: Any, nanoseconds: int) -> None:  # noqa: N802 - the name is Spark's
        with guarded("noting an execution"):
            self._tap.take(execution, nanoseconds, None)

    def onFailure(self, name: str, execution: Any, error: Any) -> None:  # noqa: N802 - the name is Spark's
        with guarded("noting a failed execution"):
            self._tap.take(execution, 0, str(error.getMessage() or error.toString()))

    class Java:
        """The declaration that py4j looks for."""

        implements = ["org.apache.spark.sql.util.QueryExecutionListener"]


def _plan(execution: Any) -> Plan:
    plan = execution.analyzed()
    return decode_tojson(str(plan.toJSON()), facts_of(execution, plan))


def _may_write(name: str) -> bool:
    prefixes = ("Write", "Insert", "Union", "WithCTE", "Unresolved", "Create", "Replace", "Alter")
    return name in WRITES or name.startswith(prefixes) or name.endswith("Command")
