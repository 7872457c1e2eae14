"""Streaming queries: one run from the start of a query to its end, however many batches it has."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from headwater.capture.rows import ExecutionRow
from headwater.capture.runs.job_names import JobNamer
from headwater.extract import ExtractSettings, Origins, Stream, statement, stream
from headwater.extract.alterations import ALTERATIONS
from headwater.extract.origins import OriginKey, batch_of
from headwater.extract.relations.streams import FOREACH_BATCH
from headwater.model import Dataset, DatasetDescription, Engine, Gap, Job, Output, Run, RunMoment, RunState, Statement
from headwater.plan import Plan

_MOST_KEPT = 100
_UNSEEN = Gap("opaque", "foreachBatch", "no write of Spark was seen in it: what its function does else cannot be seen")


@dataclass(slots=True)
class _Query:
    """A query that runs: what its plan reads and writes, and what was written inside its batches since.

    A query that writes to new places with every batch would grow for ever: the last hundred are kept, and what was
    reported before stays reported (OpenLineage 2-0-2, "Run Cycle": events of a run add up).
    """

    began: RunMoment
    plan: Stream | None
    inputs: dict[DatasetDescription, None] = field(default_factory=dict)
    outputs: list[Output] = field(default_factory=list)
    gaps: dict[Gap, None] = field(default_factory=dict)
    changed: bool = True

    @property
    def statement(self) -> Statement:
        """All that is known by now."""
        return Statement(tuple(self.inputs), tuple(self.outputs), tuple(self.gaps))

    def add(self, more: Statement) -> None:
        """Take in what a write did; the same write in the next batch changes nothing but versions of tables."""
        inputs = [replace(read, version="") for read in more.inputs]
        found = [replace(one, description=replace(one.description, version=""), previous="") for one in more.outputs]
        new = [output for output in found if output not in self.outputs]
        self.changed |= bool(new) or any(read not in self.inputs for read in inputs)
        self.outputs = [*self.outputs, *new][-_MOST_KEPT:]
        for held, seen in ((self.inputs, inputs), (self.gaps, more.gaps)):
            held.update(dict.fromkeys(seen))  # type: ignore[arg-type]  # each has keys of its own kind
            for surplus in tuple(held)[:-_MOST_KEPT]:
                del held[surplus]  # type: ignore[arg-type]


@dataclass(slots=True)
class Streams:
    """The streaming queries of one application; ``origins`` learns what the rows of their batches are made of.

    A write belongs to a query when the tap says so, or when it reads a batch: a function may write from threads of
    its own, of which Spark does not know that they are in the batch.
    """

    application: Run
    engine: Engine
    settings: ExtractSettings
    origins: Origins
    written: dict[Dataset, int]
    namer: JobNamer
    _running: dict[str, _Query] = field(default_factory=dict)
    _writes: dict[int, Statement] = field(default_factory=dict)
    _readers: dict[OriginKey, str] = field(default_factory=dict)
    _reading: dict[int, str] = field(default_factory=dict)

    def concern(self, row: ExecutionRow) -> bool:
        """Whether a row is of a query, or of a write that belongs to one.

        What changes a table and none of its rows (ALTER, DROP) is not: its time is that of the statement.
        """
        if row.plan and row.plan.root and row.plan.root.name in ALTERATIONS:
            return False
        if row.stream or row.id in self._reading:
            return True
        run = next(filter(None, map(self._readers.get, _batches(row.plan))), None) if self._readers else None
        if run is not None:
            self._reading[row.id] = run
        return run is not None

    def moments(self, row: ExecutionRow) -> Iterator[RunMoment]:
        """The moments in such a row."""
        if row.kind == "stream":
            if row.stream not in self._running:  # one that starts just as the tap does may be found twice
                yield self._started(row)
            return
        query = self._running.get(row.stream or self._reading[row.id])
        if query is not None and row.kind == "stopped":
            yield self._stopped(query, row)
        elif query is not None:
            self._write(query, row)
            at_its_end = row.kind == "batch" or (row.kind == "end" and not row.stream)
            if query.changed and at_its_end:
                yield self._run_moment(query, row.time)
        if row.kind == "end":
            self._reading.pop(row.id, None)

    def abandoned(self, time: datetime) -> Iterator[RunMoment]:
        """The moments of the queries that still run as the application goes at ``time``."""
        for query in self._running.values():
            yield replace(query.began, state=RunState.ABORT, time=time, statement=query.statement)
        self._running.clear()

    def _run_moment(self, query: _Query, time: datetime) -> RunMoment:
        query.changed = False
        self._count(query)
        return replace(query.began, state=RunState.RUNNING, time=time, statement=query.statement)

    def _started(self, row: ExecutionRow) -> RunMoment:
        plan = stream(row.plan, self.settings, self.origins) if row.plan is not None else None
        seen = plan.statement if plan else Statement(gaps=(Gap("error", row.command, row.unreadable),))
        run = Run(
            row.stream, Job(self.application.job.namespace, self.namer.of_stream(row.name, plan)), self.application
        )
        began = RunMoment(run, RunState.START, row.time, self.engine, seen, streaming=True)
        query = self._running[row.stream] = _Query(began, plan)
        query.add(seen)
        for key in plan.held_by if plan else ():
            self.origins.remember(key, plan.rows)  # type: ignore[union-attr]
            self._readers[key] = row.stream
        return replace(began, statement=query.statement)

    def _write(self, query: _Query, row: ExecutionRow) -> None:
        """A write inside a batch counts when it has succeeded."""
        if row.plan is not None:
            self._writes[row.id] = statement(row.plan, self.settings, self.origins)
        elif row.unreadable:
            self._writes[row.id] = Statement(gaps=(Gap("error", row.command, row.unreadable),))
        if row.kind == "end":
            found = self._writes.pop(row.id, None)
            if found is not None and row.failure is None and (found.outputs or found.gaps):
                query.add(found)

    def _stopped(self, query: _Query, row: ExecutionRow) -> RunMoment:
        del self._running[row.stream]
        self._readers = {key: run for key, run in self._readers.items() if run != row.stream}
        if query.plan and query.plan.sink == FOREACH_BATCH and not query.outputs:
            query.gaps[_UNSEEN] = None
        ended = replace(query.began, time=row.time, statement=query.statement)
        if row.failure is not None:
            return replace(ended, state=RunState.FAIL, error=row.failure, stack_trace=row.trace)
        self._count(query)
        return replace(ended, state=RunState.COMPLETE)

    def _count(self, query: _Query) -> None:
        for output in query.outputs:
            self.written[output.description.dataset] = len(output.lineage.fields)


def _batches(plan: Plan | None) -> Iterator[OriginKey]:
    """The batches that a plan may read."""
    for leaf in plan.operators if plan else ():
        if leaf.name == "LogicalRDD":
            yield batch_of(column.expr_id for column in leaf.expressions("output"))
