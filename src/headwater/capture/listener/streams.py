"""A listener in Python on streaming queries: only where the tap cannot be compiled."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pyspark.sql.streaming import StreamingQueryListener

from headwater.capture.guard import guarded
from headwater.capture.listener.facts import attempt, class_of, facts_of, non_empty, options_of, table_facts
from headwater.capture.rows import ExecutionRow
from headwater.plan import Facts, LeafKey, Plan, decode_tojson

_PLACES = ("path", "topic", "subscribe", "subscribePattern", "assign", "kafka.bootstrap.servers")
TakeRow = Callable[[Callable[[], ExecutionRow]], None]


class StreamListener(StreamingQueryListener):  # type: ignore[misc]  # pyspark's classes have no types here
    """Hands rows of queries to ``take_row``; the plan is read later, on the thread that asks for the row."""

    def __init__(self, session: Any, take_row: TakeRow) -> None:
        self._session = session
        self._take_row = take_row

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
            self._take_row(lambda: _started(event, query, jvm, now))

    def onQueryProgress(self, event: Any) -> None:  # noqa: N802 - the name is Spark's
        """A batch has ended."""
        self._ended_batch(event.progress.runId)

    def onQueryIdle(self, event: Any) -> None:  # noqa: N802 - the name is Spark's
        """Nothing has happened."""

    def _ended_batch(self, run: Any) -> None:
        now = datetime.now(UTC)
        self._take_row(lambda: ExecutionRow("batch", -1, now, stream=str(run)))

    def onQueryTerminated(self, event: Any) -> None:  # noqa: N802 - the name is Spark's
        """The query has ended."""
        now, failure = datetime.now(UTC), event.exception
        message = None if failure is None else failure.partition("\n\tat ")[0]
        self._take_row(lambda: ExecutionRow("stopped", -1, now, failure=message, stream=str(event.runId)))


def _started(event: Any, query: Any, jvm: Any, now: datetime) -> ExecutionRow:
    row = ExecutionRow("stream", -1, now, description=str(event.id), stream=str(event.runId), name=event.name or "")
    try:
        return replace(row, plan=plan_of(query, jvm))
    except Exception as error:
        return replace(row, command="WriteToStream", unreadable=repr(error)[:500])


def plan_of(query: Any, jvm: Any) -> Plan:
    """The plan of a StreamExecution, with its sink at the root; what cannot be asked is left out."""
    plan = _field(query, "plan")
    facts = facts_of(query, plan)
    sink, conf = plan.sink(), query.sparkSession().sessionState().newHadoopConf()

    def qualified(path: Any) -> str | None:
        """As Hadoop names it: a stream keeps the path that the user gave."""
        own = jvm.org.apache.hadoop.fs.Path(str(path))
        return str(own.getFileSystem(conf).makeQualified(own).toString())

    root = {
        "sink": non_empty(
            {
                "class": class_of(sink).rstrip("$"),
                "path": attempt(lambda: qualified(_field(sink, "path").toString())),
            }
        ),
        "catalogTable": attempt(lambda: table_facts(query, plan.catalogTable().get())),
    }
    leaves = {**facts.leaves, **dict(_sources(query, plan, qualified))}
    session = {**facts.session, "options": options_of(_field(query, "extraOptions"), _PLACES)}
    return decode_tojson(str(plan.toJSON()), Facts({**facts.root, **non_empty(root)}, leaves, facts.output, session))


def _sources(query: Any, plan: Any, qualified: Callable[[Any], str | None]) -> Iterator[tuple[LeafKey, dict[str, Any]]]:
    leaves = plan.collectLeaves()
    for leaf in map(leaves.apply, range(leaves.size())):
        output = leaf.output()
        key = (class_of(leaf), tuple(int(output.apply(place).exprId().id()) for place in range(output.size())))
        if key[0] == "StreamingRelation":
            yield key, {"dataSource": _data_source(query, leaf.dataSource(), qualified)}
        elif key[0] == "StreamingRelationV2":
            yield key, {"extraOptions": options_of(leaf.extraOptions(), _PLACES)}


def _data_source(query: Any, source: Any, qualified: Callable[[Any], str | None]) -> dict[str, Any]:
    options = options_of(source.options(), _PLACES)
    table = attempt(lambda: table_facts(query, source.catalogTable().get()))
    path = attempt(lambda: qualified(options["path"]))
    return non_empty({"path": path, "options": options, "catalogTable": table})


def _field(value: Any, name: str) -> Any:
    """A private field, of the class or of those above it."""
    kind = value.getClass()
    while kind is not None:
        found = next((field for field in kind.getDeclaredFields() if field.getName() == name), None)
        if found is not None:
            found.setAccessible(True)
            return found.get(value)
        kind = kind.getSuperclass()
    return None
