"""From the rows of the tap to the moments of runs: one run per root SQL execution that writes."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from openlineage.client.uuid import generate_new_uuid

from headwater.capture.rows import ExecutionRow
from headwater.capture.runs.job_names import JobNamer, is_denied
from headwater.capture.runs.statistics import with_statistics
from headwater.capture.runs.streams import Streams
from headwater.capture.runs.variables import IMMEDIATE, SCRIPT, Assignments
from headwater.extract import ExtractSettings, Origins, origin, statement
from headwater.extract.origins import as_json, collected_as
from headwater.extract.rdd_actions import TAKEN
from headwater.model import (
    ColumnLineage,
    Dataset,
    Engine,
    Gap,
    Job,
    Output,
    ReplacedRows,
    Run,
    RunMoment,
    RunState,
    Statement,
)
from headwater.openlineage.settings import JobNames


class Clock:
    """Spark reports milliseconds, and a statement may end and the next begin in one.

    A change of names is put between them, by microseconds: before it a name means another dataset than after it.
    """

    def __init__(self) -> None:
        self._latest = self._change = datetime.min.replace(tzinfo=UTC)

    def after(self, time: datetime) -> datetime:
        """The time, or that of the last change of names where both are in one millisecond."""
        same = time < self._change < time + timedelta(milliseconds=1)
        self._latest = max(self._latest, self._change if same else time)
        return self._change if same else time

    def change(self, time: datetime) -> datetime:
        """A time for a change of names: after all that was reported before it in the same millisecond."""
        same = time <= self._latest < time + timedelta(milliseconds=1)
        self._change = self._latest + timedelta(microseconds=1) if same else time
        self._latest = max(self._latest, self._change)
        return self._change


_Key = tuple[str, Dataset]
_WRITTEN = (RunState.COMPLETE, RunState.RUNNING)


@dataclass(slots=True)
class EarlierWrites:
    """The lineage of the rows that each job of one application has written, by job and target.

    All statements of an application that write to one target are one job, and of a job the latest run counts. A
    statement that leaves rows of before (an INSERT after another) therefore brings along the lineage of those before
    it, until one replaces all rows.
    """

    _lineages: dict[_Key, ColumnLineage] = field(default_factory=dict)

    def with_earlier(self, moment: RunMoment) -> RunMoment:
        """The moment of a run that has written, with what was in its outputs by earlier runs of its job."""
        statement = moment.statement
        if moment.state not in _WRITTEN or statement is None or not statement.outputs:
            return moment
        outputs = tuple(self._output(moment.run.job.name, output) for output in statement.outputs)
        return replace(moment, statement=replace(statement, outputs=outputs))

    def _output(self, job: str, output: Output) -> Output:
        dataset, replaces = output.description.dataset, output.description.replaces
        if replaces is None:
            return output
        if replaces is ReplacedRows.ALL or output.restores:
            # Drop what was written to a dataset: none of it is left, or what a version had that is restored
            for key in [key for key in self._lineages if key[1] == dataset]:
                del self._lineages[key]
        if output.restores is not None:
            return output
        before = self._lineages.get((job, dataset))
        self._lineages[job, dataset] = output.lineage if before is None else _union(before, output.lineage)
        return output if before is None or _covers(output.lineage, before) else replace(output, earlier=before)


def _union(one: ColumnLineage, other: ColumnLineage) -> ColumnLineage:
    if _covers(one, other):
        return one
    fields = {name: one.fields.get(name, frozenset()) | edges for name, edges in other.fields.items()}
    return ColumnLineage({**one.fields, **fields}, one.dataset | other.dataset)


def _covers(one: ColumnLineage, other: ColumnLineage) -> bool:
    """Whether every edge of ``other`` is one of ``one`` too."""
    fields = all(edges <= one.fields.get(name, frozenset()) for name, edges in other.fields.items())
    return fields and other.dataset <= one.dataset


@dataclass(slots=True)
class Executions:
    """The executions of one application that have started and not ended.

    ``changed`` are the datasets that were made, altered or dropped, or written without lineage of columns.
    """

    application: Run
    engine: Engine
    settings: ExtractSettings = field(default_factory=ExtractSettings)
    reads: bool = False
    origins: Origins = field(default_factory=Origins)
    remembered: int = 0
    changed: set[Dataset] = field(default_factory=set)
    job_names: JobNames = field(default_factory=JobNames)
    denied_nodes: frozenset[str] = frozenset()
    _streams: Streams = field(init=False)
    _assignments: Assignments = field(init=False)
    _written: dict[Dataset, int] = field(default_factory=dict)
    _open: dict[int, RunMoment] = field(default_factory=dict)
    _namer: JobNamer = field(init=False)
    _clock: Clock = field(default_factory=Clock)
    _earlier: EarlierWrites = field(default_factory=EarlierWrites)

    def __post_init__(self) -> None:
        self._namer = JobNamer(self.application.job.name, self.job_names)
        self._streams = Streams(self.application, self.engine, self.settings, self.origins, self._written, self._namer)
        self._assignments = Assignments(self.settings, self.origins)

    @property
    def outputs(self) -> list[Dataset]:
        """The datasets that have been written so far, in order."""
        return list(self._written)

    @property
    def columns(self) -> int:
        """How many columns they have."""
        return sum(self._written.values())

    @property
    def open(self) -> tuple[RunMoment, ...]:
        """Those that have begun and not ended."""
        return tuple(self._open.values())

    def moments(self, row: ExecutionRow) -> Iterator[RunMoment]:
        """The moments in a row: a start, an end, both when the plan came with the end, or none."""
        return map(self._earlier.with_earlier, self._moments(row))

    def _moments(self, row: ExecutionRow) -> Iterator[RunMoment]:
        if row.kind in ("origin", "json", "collected"):
            self._remember(row)
            return
        if self._assignments.concern(row):
            self._assignments.take(row)
            return
        if row.unreadable and row.command in (IMMEDIATE, SCRIPT):
            self.origins.forget_variables()
        if row.id not in self._open and self._streams.concern(row):
            yield from self._streams.moments(replace(row, time=self._clock.after(row.time)))
            return
        started = self._started(row) if row.plan is not None else self._unread(row)
        if started is not None:
            yield started
        if row.kind == "end" and row.id in self._open:
            yield self._ended(row)

    def abandoned(self, time: datetime, state: RunState, error: str) -> Iterator[RunMoment]:
        """The moments of the executions that never ended, as the application ends in ``state`` at ``time``.

        They fail with an application that fails, for the same reason.
        """
        failed = state is RunState.FAIL
        how = {"state": RunState.FAIL, "error": error} if failed else {"state": RunState.ABORT}
        for moment in (*self._open.values(), *self._streams.abandoned(time)):
            yield replace(moment, time=time, **how)
        self._open.clear()

    def _started(self, row: ExecutionRow) -> RunMoment | None:
        assert row.plan is not None
        root = row.plan.root
        if root and is_denied(root.name, self.denied_nodes):
            return None
        found = statement(row.plan, self.settings, self.origins)
        if row.creates:
            found = replace(found, outputs=tuple(map(_created, found.outputs)))
        leads_out = bool(root and root.name in ("Call", *TAKEN) and found.gaps)
        if not found.outputs and not leads_out and not (self.reads and found.inputs):
            return None
        sql = str(row.plan.session.get("sql") or "")
        return self._begun(row, root.name if root else "unknown", found, sql)

    def _remember(self, row: ExecutionRow) -> None:
        """Rows have left their plan: ``row.id`` is the id of the RDD, or the first column of what the driver made."""
        self.remembered += 1
        if row.plan is not None:
            key = collected_as(row.id) if row.kind == "collected" else row.id
            found = origin(row.plan, self.settings, self.origins)
            self.origins.remember(key, as_json(found) if row.kind == "json" else found)

    def _unread(self, row: ExecutionRow) -> RunMoment | None:
        """A plan that could not be read is a run whose coverage says so."""
        if not row.unreadable:
            return None
        return self._begun(row, row.command, Statement(gaps=(Gap("error", row.command, row.unreadable),)))

    def _begun(self, row: ExecutionRow, command: str, statement: Statement, sql: str = "") -> RunMoment:
        job = Job(self.application.job.namespace, self._namer.of_statement(command, statement))
        run = Run(str(generate_new_uuid()), job, self.application)
        began = self._clock.after(row.began or row.time)
        moment = RunMoment(run, RunState.START, began, self.engine, statement, sql=sql)
        self._open[row.id] = moment
        return moment

    def _ended(self, row: ExecutionRow) -> RunMoment:
        started = self._open.pop(row.id)
        if row.failure is not None:
            time = self._clock.after(row.time)
            return replace(started, state=RunState.FAIL, time=time, error=row.failure, stack_trace=row.trace)
        time = self._clock.change(row.time) if _changes_names(started) else self._clock.after(row.time)
        statement = _versioned(started.statement, row)
        statement = with_statistics(statement, row) if statement else None
        for output in statement.outputs if statement else ():
            if output.lineage.fields:
                self._written[output.description.dataset] = len(output.lineage.fields)
            else:
                self.changed.add(output.description.dataset)
        return replace(started, state=RunState.COMPLETE, time=time, statement=statement)


def _created(output: Output) -> Output:
    """The output of a statement that had nothing to replace: its table is new."""
    if output.description.lifecycle != "OVERWRITE":
        return output
    return replace(output, description=replace(output.description, lifecycle="CREATE"))


def _changes_names(moment: RunMoment) -> bool:
    outputs = moment.statement.outputs if moment.statement else ()
    return any(output.description.names or output.description.fields for output in outputs)


def _versioned(written: Statement | None, row: ExecutionRow) -> Statement | None:
    """The statement with the version that it wrote, where that is certain.

    Others write too: a version is the statement's own when it follows the one that the plan was made for, or is it
    still, since nothing changed.
    """
    if written is None or len(written.outputs) != 1 or not row.version:
        return written
    (output,) = written.outputs
    if output.previous not in (row.version, row.previous):
        return written
    description = replace(output.description, version=row.version)
    return replace(written, outputs=(replace(output, description=description),))


def refused(events: int) -> Iterator[Gap]:
    """The gap of events that Spark's own queue of listeners dropped: starts and ends of statements are among them."""
    if events:
        why = (
            "Spark's listener queue was full, so the lineage of their statements is missing or ends in ABORT; raise "
            "spark.scheduler.listenerbus.eventqueue.headwater.capacity"
        )
        yield Gap("dropped", f"{events} event{'s' * (events != 1)} of SQL executions", why)


def lost(dropped: int, late: int) -> Iterator[Gap]:
    """The gaps that executions make which did not fit into the queue, or were not reached before the end."""
    if dropped:
        what = f"{dropped} execution" + "s" * (dropped != 1)
        yield Gap(
            "dropped", what, "the queue of executions was full, so their lineage is missing; raise HEADWATER_QUEUE"
        )
    if late:
        why = "not read when the application ended, so their lineage is missing; raise HEADWATER_FLUSH_SECONDS"
        yield Gap("budget", f"{late} starts and ends of executions", why)
