"""A listener in Python on streaming queries: only where the tap cannot be compiled."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql.streaming import StreamingQueryListener

from headwater.capture.guard import guarded
from headwater.capture.rows import ExecutionRow
from headwater.capture.stream_questions import plan_of

Hear = Callable[[Callable[[], ExecutionRow]], None]


class StreamListener(StreamingQueryListener):  # type: ignore[misc]  # pyspark's classes have no types here
    """Hands rows of queries to ``hear``; the plan is read later, on the thread that asks for the row."""

    def __init__(self, session: Any, hear: Hear) -> None:
        self._session = session
        self._hear = hear

    def begin(self) -> None:
        """Note the queries of the session that run already: they have an id, a run and a name as the event has."""
        for query in self._session.streams.active:
            self.onQueryStarted(query)
            if query.lastProgress:
                self._ended_batch(query.runId)

    def onQueryStarted(self, event: Any) -> None:  # noqa: N802 - the name is Spark's
        """The query waits for this: it is only looked up."""
        with guarded("noting a streaming query"):
            query = self._session.streams.get(str(event.id))._jsq.streamingQuery()
            jvm, now = self._session._jvm, datetime.now(UTC)
            self._hear(lambda: _started(event, query, jvm, now))

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802 - the name is Spark's
        """A batch has ended."""
        self._ended_batch(event.progress.runId)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802 - the name is Spark's
        """Nothing has happened."""

    def _ended_batch(self, run: Any) -> None:
        now = datetime.now(UTC)
        self._hear(lambda: ExecutionRow("batch", -1, now, stream=str(run)))

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 - the name is Spark's
        """The query has ended."""
        now, failure = datetime.now(UTC), event.exception
        message = None if failure is None else failure.partition("\n\tat ")[0]
        self._hear(lambda: ExecutionRow("stopped", -1, now, failure=message, stream=str(event.runId)))


def _started(event: Any, query: Any, jvm: Any, now: datetime) -> ExecutionRow:
    row = ExecutionRow("stream", -1, now, description=str(event.id), stream=str(event.runId), name=event.name or "")
    try:
        return replace(row, plan=plan_of(query, jvm))
    except Exception as error:
        return replace(row, command="WriteToStream", unreadable=repr(error)[:500])
