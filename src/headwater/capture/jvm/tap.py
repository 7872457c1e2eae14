"""The tap in the driver's JVM, as Python sees it."""

from collections.abc import Sequence
from typing import Any

from headwater.capture.jvm.compiler import new_tap
from headwater.capture.rows import ExecutionRow, RddAction, rows, unpack
from headwater.capture.settings import CaptureSettings
from headwater.model import Gap
from headwater.plan import Plan, decode


class SparkTap:
    """A tap on the listener bus of one SparkContext.

    Raises:
        CaptureError: the tap cannot be made in this JVM.
    """

    outlives_program = True

    gaps: tuple[Gap, ...] = ()

    def __init__(self, context: Any, settings: CaptureSettings) -> None:
        self._context = context
        self._tap = new_tap(context._gateway)
        plan, answer = int(settings.plan_seconds * 1000), int(settings.connector_seconds * 1000)
        length = settings.description_length or 0
        self._tap.configure(settings.queue, settings.reads, settings.plan_nodes, plan, length, answer)
        self._bus = context._jsc.sc().listenerBus()

    def connect(self) -> None:
        """Begin to listen, on a queue of the tap's own, so that it cannot delay Spark's."""
        self._tap.connect(self._context._jsc.sc())

    def disconnect(self) -> None:
        """Listen no longer, and let go of what was not polled."""
        self._bus.removeListener(self._tap)
        self._tap.close()

    def poll(self, milliseconds: int) -> str | None:
        """The next rows as the tap packs them, None when there were none for that long."""
        reply = self._tap.poll(milliseconds)
        return None if reply is None else self._whole(str(reply))

    def rows(self, milliseconds: int) -> list[ExecutionRow] | None:
        """The next starts and ends of executions, None when there were none for that long."""
        reply = self.poll(milliseconds)
        return None if reply is None else rows(reply)

    def read(self, data_frame: Any) -> str:
        """The plan of a DataFrame that need not run, as the tap packs it."""
        return self._whole(str(self._tap.read(data_frame._jdf)))

    def plan(self, data_frame: Any) -> Plan:
        """The plan of a DataFrame that need not run."""
        return decode(unpack(self.read(data_frame)))

    def remember(self, data_frame: Any, checkpoint: Any = None) -> bool:
        """Have the plan of a DataFrame read, as its rows leave it: for its checkpoint, or without one as an RDD.

        False when there is no room for it.
        """
        return bool(self._tap.remember(data_frame._jdf, None if checkpoint is None else checkpoint._jdf))

    def remember_json(self, data_frame: Any, rdd: Any) -> bool:
        """Have the plan of a DataFrame read, as JSON of its rows is in an RDD; False when there is no room for it."""
        return bool(self._tap.rememberJson(data_frame._jdf, rdd._jrdd))

    def begin_action(self, action: RddAction) -> int:
        """Note that an action on an RDD begins; a number for end_action(), 0 when there is no room for it."""
        columns = ",".join(action.columns)
        return int(self._tap.beginAction(action.operator, action.java_rdd, action.changed, action.path, columns))

    def keep_origins(self, rdd: Any) -> None:
        """An RDD will be checkpointed: what it depends on is looked up now, as that cuts it off."""
        self._tap.keepOrigins(rdd._jrdd)

    def end_action(self, number: int, failure: Any) -> None:
        """It has ended; by ``failure``, a text or the Java exception, unless that is None."""
        self._tap.endAction(number, failure)

    def _whole(self, reply: str) -> str:
        """The reply with the pieces that the tap has kept back."""
        if not reply.startswith("+"):
            return reply
        key, length, text = reply[1:].split(" ", 2)
        while len(text) < int(length):
            text += self._tap.piece(int(key), len(text))
        return text

    def dropped(self) -> int:
        """How many executions did not fit into the queue since this was last asked."""
        return int(self._tap.dropped())

    def refused(self) -> int:
        """How many events the listener queue of Spark had no room for."""
        return int(self._tap.refused(self._bus))

    def pending(self) -> int:
        """How many rows wait to be polled."""
        return int(self._tap.pending())

    def leave(self, command: Sequence[str], last_words: str, status_file: str = "") -> None:
        """Have ``last_words`` read by ``command`` should the JVM end before disconnect()."""
        self._tap.lastWords("\n".join(command), last_words, status_file)

    def wake(self) -> None:
        """End a poll that waits."""
        self._tap.wake()

    def drain(self, milliseconds: int) -> bool:
        """Wait until the bus has handed over what it has for us; False when it takes longer than ``milliseconds``."""
        return bool(self._tap.drain(milliseconds))
