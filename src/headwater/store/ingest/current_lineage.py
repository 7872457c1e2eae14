"""The current lineage of a job's output: that of its latest successful run, in whatever order events arrive.

A streaming query is successful as long as it runs: it may never end, and what it has written is written.
"""

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import Row, select

from headwater.model import Dataset, ReplacedRows
from headwater.openlineage.reading.encoded_lineage import EncodedLineage
from headwater.openlineage.reading.events import SUCCESSFUL, Event, WrittenDataset, read_event
from headwater.store import schema
from headwater.store.graph.index.log import Pair
from headwater.store.graph.numbering import Edges, Ids
from headwater.store.ingest.field_spelling import MENTIONED, READ, WRITTEN
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.lineage_writer import LineageWriter, RunLineage
from headwater.store.ingest.name_changes import moment_of
from headwater.store.ingest.replacements import Replacement, Run, jobs_of, known_replacements
from headwater.store.ingest.restorations import Restoration, earlier_writers, edges_again, later_restorations
from headwater.store.ingest.retraction import retract_lineage, retract_replacements
from headwater.store.ingest.symlinks import dataset_id
from headwater.store.sql.rows import rows_for

_RUNNING = "RUNNING"
_LINEAGE = schema.lineage
_RUN = schema.run.c
_RUNS = select(*(_RUN[name] for name in Run._fields))
_EVENT = schema.event.c
_TELLING = select(_EVENT.id, _EVENT.digest, _EVENT.type, _EVENT.run_id).where(_EVENT.has_lineage)
_HIDDEN_JOBS = select(schema.job.c.id, schema.job.c.hidden_at).where(schema.job.c.hidden_at.is_not(None))
_TELLING = _TELLING.order_by(_EVENT.at, _EVENT.digest)


Replaced = dict[int, Replacement]
"""The replacements that a run made, by dataset."""


class LineageEvent(NamedTuple):
    """What an event tells of its outputs at a moment, and from when on that holds; without its long text."""

    outputs: tuple[WrittenDataset, ...]
    at: int
    since: int


class RunToRecompute(NamedTuple):
    """A run whose lineage may have to be written again: its row, what is known of it, and its events about rows."""

    run: Run
    known: list[Row[Any]]
    replaced: dict[int, Replacement]
    events: list[LineageEvent]


def recompute_current_lineage(writer: Writer) -> None:
    """Make the edges of every run to recompute those that its events have by now."""
    while writer.runs_to_recompute:
        again = _runs_to_recompute(writer, sorted(writer.runs_to_recompute - writer.added))
        _add_fields(writer, [event for case in again for event in case.events])
        writer.flush()
        cases = [*_new_runs_to_recompute(writer, writer.runs_to_recompute & writer.added), *again]
        cases.sort(key=lambda case: (case.run.state_at, case.run.uuid))
        forgotten = _forgotten(writer, cases)
        told = [(case, {} if case.run.id in forgotten else _lineage_by_output(writer, case)) for case in cases]
        restored = _restored(writer, cases)
        replaced = [_replaced(writer, case, restored) for case in cases]
        streams = {case.run.id for case, outputs in told for one in outputs.values() if one.at != case.run.state_at}
        writer.runs_to_summarize |= streams | (writer.runs_to_recompute - writer.added)
        writer.runs_to_recompute.clear()
        writer.added.clear()
        pairs = {(case.run.job_id, output) for case, outputs in told for output in outputs}
        _retract_outdated(writer, cases, replaced)
        telling = LineageWriter(writer.connection, pairs, {dataset for some in replaced for dataset in some})
        for (case, outputs), datasets in zip(told, replaced, strict=True):
            for dataset in datasets if restored else ():
                if (case.run.id, dataset) in restored and case.run.id not in forgotten:
                    telling.flush()
                    outputs[dataset] = _with_restored(writer, case.run, dataset, restored, outputs.get(dataset))
            _recompute_run(writer, case, outputs, telling)
            for dataset in datasets.keys() - case.replaced.keys():
                telling.replace(case.run, dataset, datasets[dataset])
        telling.flush()
        _restore_again(writer, told, replaced)


def _forgotten(writer: Writer, cases: list[RunToRecompute]) -> set[int]:
    """The runs whose job was forgotten after they ended: they have no lineage (`maintenance.forgotten_jobs`)."""
    hidden = dict(writer.connection.execute(_HIDDEN_JOBS).all())
    return {case.run.id for case in cases if case.run.state_at <= hidden.get(case.run.job_id, -1)} if hidden else set()


def _retract_outdated(writer: Writer, cases: list[RunToRecompute], replaced: list[Replaced]) -> None:
    """Take back replacements that runs did not make, or not then, with all lineage of their datasets."""
    outdated: set[int] = set()
    for case, now in zip(cases, replaced, strict=True):
        outdated |= {dataset for dataset, one in case.replaced.items() if now.get(dataset) != one}
    for dataset in outdated:
        _retract_all(writer, dataset)
    if outdated:
        writer.runs_to_recompute |= retract_replacements(writer.connection, outdated)
        for case, now in zip(cases, replaced, strict=True):  # those of this round are made in the next, with all others
            for dataset in outdated & now.keys():
                del now[dataset]
                writer.runs_to_recompute.add(case.run.id)


def _retract_all(writer: Writer, dataset: int) -> None:
    pairs = [(job, dataset) for job in jobs_of(writer.connection, dataset)]
    writer.runs_to_recompute |= retract_lineage(writer.connection, pairs)


def _restored(writer: Writer, cases: list[RunToRecompute]) -> dict[Restoration, int | None]:
    """The restorations by runs, each with the moment whose lineage holds again; None where it is not known."""
    return {
        (case.run.id, dataset): _moment_of_version(writer, cases, case.run, dataset, version) if version else None
        for case in cases
        for dataset, version in _restored_versions(writer, case).items()
    }


def _moment_of_version(writer: Writer, cases: list[RunToRecompute], by: Run, dataset: int, version: str) -> int | None:
    """When the run ended that made the version which a run restored: the last before it, None without one."""
    made = partial(_made, writer, dataset, version)
    ended = max((one.run.state_at for one in cases if one.run.state_at < by.state_at and made(one)), default=None)
    looked_at = {case.run.id for case in cases}
    for run, at in earlier_writers(writer.connection, dataset, by.state_at):
        if ended is not None and at <= ended:
            break
        if run not in looked_at and any(map(made, _runs_to_recompute(writer, [run]))):
            return at
    return ended


def _restored_versions(writer: Writer, case: RunToRecompute) -> dict[int, str]:
    """The versions that a run restored, by dataset."""
    outputs = [(one, event.at) for event in case.events for one in event.outputs if case.run.state in SUCCESSFUL]
    return {
        dataset_id(writer, one.description.dataset, moment_of(one, at)): one.restores
        for one, at in outputs
        if one.restores is not None
    }


def _made(writer: Writer, dataset: int, version: str, case: RunToRecompute) -> bool:
    """Whether a run, of which lineage or a replacement of rows is known, made a version of a dataset."""
    outputs = [
        one
        for event in case.events
        for one in event.outputs
        if dataset_id(writer, one.description.dataset, moment_of(one, event.at)) == dataset
    ]
    concerns_rows = any(one.lineage is not None or one.replacement for one in outputs)
    return concerns_rows and case.run.state in SUCCESSFUL and any(one.made_version == version for one in outputs)


def _with_restored(
    writer: Writer, run: Run, dataset: int, restored: dict[Restoration, int | None], told: RunLineage | None
) -> RunLineage:
    """The lineage that a run brings back; where the version is not known, beside what the run itself says."""
    moment = restored[run.id, dataset]
    again = Edges(more=edges_again(writer.connection, dataset, run, moment))
    return RunLineage(again if told is None or moment is not None else told.edges | again, run.state_at)


def _restore_again(
    writer: Writer, told: list[tuple[RunToRecompute, dict[int, RunLineage]]], replaced: list[Replaced]
) -> None:
    """Take back all lineage of datasets that were restored after runs that are looked at now, to be told in order."""
    changed: dict[int, int] = {}
    for (case, outputs), datasets in zip(told, replaced, strict=True):
        for dataset in {*outputs, *datasets, *(row.output_id for row in case.known), *case.replaced}:
            changed[dataset] = min(case.run.state_at, changed.get(dataset, case.run.state_at))
    again = later_restorations(writer.connection, changed, {case.run.id for case, _ in told})
    for dataset in {dataset for _, dataset in again}:
        _retract_all(writer, dataset)
    writer.runs_to_recompute.update(run for run, _ in again)


def add_fields(writer: Writer, events: Iterable[Event]) -> None:
    """Adds the fields that the lineage of events is the first to tell of, as far as it counts by now."""
    _add_fields(writer, [one for event in events for one in _lineage_events(_run(writer, event.run), event)])


def _run(writer: Writer, uuid: str) -> Run:
    row, values = writer.runs[uuid]
    return Run(row, uuid, values["job_id"], values["state"], values["state_at"])


def _lineage_events(run: Run, event: Event) -> Iterator[LineageEvent]:
    """An event that counts: any of a run that succeeded, and what a stream tells while it runs."""
    streams = event.state == _RUNNING and event.about.streaming
    if run.state in SUCCESSFUL or streams:
        yield LineageEvent(event.outputs, event.at, event.at if streams else run.state_at)


def _new_runs_to_recompute(writer: Writer, runs: Collection[int]) -> Iterator[RunToRecompute]:
    """Those of runs that this transaction added: nothing of them has to be read from the store."""
    told: dict[str, list[Event]] = {}
    for event in sorted(writer.read.values(), key=attrgetter("at", "digest")):
        if event.concerns_rows and writer.runs[event.run].id in runs:
            told.setdefault(event.run, []).append(event)
    for uuid, events in told.items():
        run = _run(writer, uuid)
        yield RunToRecompute(run, [], {}, [one for event in events for one in _lineage_events(run, event)])


def _runs_to_recompute(writer: Writer, runs: list[int]) -> list[RunToRecompute]:
    connection = writer.connection
    known = _by_run(rows_for(connection, runs, lambda some: select(_LINEAGE).where(_LINEAGE.c.run_id.in_(some))))
    telling = _by_run(rows_for(connection, runs, lambda some: _TELLING.where(_EVENT.run_id.in_(some))))
    replaced = known_replacements(connection, runs)
    rows = [Run(*row) for row in rows_for(connection, runs, lambda some: _RUNS.where(_RUN.id.in_(some)))]
    return [
        RunToRecompute(
            run,
            known.get(run.id, []),
            replaced.get(run.id, {}),
            list(_lineage_events_again(writer, run, telling.get(run.id, []))),
        )
        for run in rows
    ]


def _by_run(rows: Iterable[Row[Any]]) -> dict[int, list[Row[Any]]]:
    found: dict[int, list[Row[Any]]] = {}
    for row in rows:
        found.setdefault(row.run_id, []).append(row)
    return found


def _lineage_events_again(writer: Writer, run: Run, telling: list[Row[Any]]) -> Iterator[LineageEvent]:
    for row in telling:
        if run.state in SUCCESSFUL or row.type == _RUNNING:
            yield from _lineage_events(run, writer.read.get(row.digest) or _read_again(writer, row.id))


def _read_again(writer: Writer, event_id: int) -> Event:
    payload = select(schema.event.c.payload).where(schema.event.c.id == event_id)
    return read_event(zlib.decompress(writer.connection.execute(payload).scalar_one()))


def _recompute_run(writer: Writer, case: RunToRecompute, told: dict[int, RunLineage], telling: LineageWriter) -> None:
    run = case.run
    outdated = [
        _pair(row)
        for row in case.known
        if not _still_so(row, run, told) or (row.at != run.last and telling.replaced_after(row.output_id, run))
    ]
    if outdated:
        telling.flush()
        writer.runs_to_recompute |= retract_lineage(writer.connection, outdated)
        telling.forget(outdated)
        writer.runs_to_recompute.add(run.id)
        return
    for output in told.keys() - {row.output_id for row in case.known}:
        telling.write(run, output, told[output])


def _pair(row: Row[Any]) -> Pair:
    return row.job_id, row.output_id


def _still_so(row: Row[Any], run: Run, told: dict[int, RunLineage]) -> bool:
    now = told.get(row.output_id)
    return now is not None and (row.job_id, row.at, row.digest) == (run.job_id, now.at, now.digest)


def _add_fields(writer: Writer, events: list[LineageEvent]) -> None:
    """Adds the fields that lineage is the first to tell of, all at once."""
    wanted: dict[int, dict[int, dict[str, None]]] = {WRITTEN: {}, READ: {}, MENTIONED: {}}
    for event in events:
        for output in event.outputs:
            for by, named, fields in _fields(output.description.dataset, output.lineage):
                wanted[by].setdefault(dataset_id(writer, named, event.at), {}).update(dict.fromkeys(fields))
    for by, of_role in wanted.items():
        names = {owner: fields for owner, fields in of_role.items() if not writer.renames(owner)}
        writer.know_fields(names)
        writer.add_fields(names, by)


def _fields(output: Dataset, lineage: EncodedLineage | None) -> Iterator[tuple[int, Dataset, Iterable[str]]]:
    """The fields that lineage names, by dataset: those that it writes, and those that it reads."""
    if lineage is not None:
        yield WRITTEN, output, lineage.fields
        yield from ((_reader_of(lineage, source), source, fields) for source, fields in lineage.sources.items())


def _reader_of(lineage: EncodedLineage, source: Dataset) -> int:
    return MENTIONED if source in lineage.references else READ


def _lineage_by_output(writer: Writer, case: RunToRecompute) -> dict[int, RunLineage]:
    """Per output what the latest event with its lineage says: a run's events add up (OpenLineage, "Run Cycle").

    What a stream tells holds since it first told lineage of that output: one run has one time for each.
    """
    told: dict[int, RunLineage] = {}
    for event in case.events:
        for output, (edges, since) in _of_event(writer, event).items():
            told[output] = RunLineage(edges, min(since, told.get(output, RunLineage(edges, since)).at))
    return told


def _replaced(writer: Writer, case: RunToRecompute, restored: Mapping[Restoration, int | None]) -> Replaced:
    """The datasets whose rows a run replaced, or may have; one that has not succeeded has replaced none."""
    found: dict[int, Replacement] = {}
    run = case.run
    for event in case.events if run.state in SUCCESSFUL else ():
        for output in event.outputs:
            if (rows := output.replacement) is not None:
                owner = dataset_id(writer, output.description.dataset, moment_of(output, event.at))
                known = found.get(owner, Replacement(run.state_at, certain=False, has_schema=False))
                has_schema = known.has_schema or bool(output.description.schema)
                restores = output.restores is not None
                certain = rows is ReplacedRows.ALL or (writer.believe_overwrite and not restores)
                certain |= restored.get((run.id, owner)) is not None
                restores |= known.restores
                found[owner] = Replacement(run.state_at, known.certain or certain, has_schema, restores)
    return found


def _of_event(writer: Writer, event: LineageEvent) -> dict[int, RunLineage]:
    told: dict[int, RunLineage] = {}
    for output in event.outputs:
        if output.lineage is not None:
            owner = dataset_id(writer, output.description.dataset, event.at)
            edges = Edges((output.lineage, _ids(writer, owner, output.lineage, event.at)))
            told[owner] = RunLineage(told[owner].edges | edges if owner in told else edges, event.since)
    return told


def _ids(writer: Writer, output: int, lineage: EncodedLineage, at: int) -> Ids:
    owners = [(dataset_id(writer, one, at), one, names) for one, names in lineage.sources.items()]
    known = [writer.fields(owner, names, at, _reader_of(lineage, one)) for owner, one, names in owners]
    fields = writer.fields(output, lineage.fields, at, WRITTEN)
    return Ids(
        output,
        tuple([fields[name] for name in lineage.fields]),
        tuple([known[place][name] for place, name in lineage.inputs]),
        tuple(map(writer.transformation, lineage.transformations)),
    )
