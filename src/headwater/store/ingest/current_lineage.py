"""The current lineage of a job's output: that of its latest successful run, in whatever order events arrive.

A streaming query is successful as long as it runs: it may never end, and what it has written is written.
"""

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, select

from headwater.model import Dataset, ReplacedRows
from headwater.openlineage.reading.events import SUCCESSFUL, Event, WrittenDataset, read_event
from headwater.openlineage.reading.lineage_facets import EncodedLineage
from headwater.store import schema
from headwater.store.ingest.datasets import dataset_id
from headwater.store.ingest.field_spelling import MENTIONED, READ, WRITTEN
from headwater.store.ingest.ids import IdResolver
from headwater.store.ingest.lineage_writer import Edges, Ids, LineageWriter, RunLineage
from headwater.store.ingest.replacements import (
    Replacement,
    Restoration,
    Run,
    earlier_writers,
    jobs_of,
    later_restorations,
    restored_edges,
    retract_lineage,
    retract_replacements,
    stored_replacements,
)
from headwater.store.sql.databases import rows_for

_RUNNING = "RUNNING"
_LINEAGE = schema.lineage
_RUN = schema.run.c
_RUNS = select(*(_RUN[name] for name in Run._fields))
_EVENT = schema.event.c
_EVENTS = select(_EVENT.id, _EVENT.digest, _EVENT.type, _EVENT.run_id).where(_EVENT.has_lineage)
_EVENTS = _EVENTS.order_by(_EVENT.at, _EVENT.digest)
_HIDDEN_JOBS = select(schema.job.c.id, schema.job.c.hidden_at).where(schema.job.c.hidden_at.is_not(None))


class LineageEvent(NamedTuple):
    """The outputs of an event at a moment, and from when on their lineage holds; without the long text of the event."""

    outputs: tuple[WrittenDataset, ...]
    at: int
    since: int


def run_of(ids: IdResolver, uuid: str) -> Run:
    """Return a run of the batch as its events leave it."""
    row, values = ids.run(uuid)
    return Run(row, uuid, values["job_id"], values["state"], values["state_at"])


def lineage_events(run: Run, event: Event) -> Iterator[LineageEvent]:
    """Yield the event if its lineage counts: any event of a run that succeeded, and those of a stream that runs."""
    streams = event.state == _RUNNING and event.about.streaming
    if run.state in SUCCESSFUL or streams:
        yield LineageEvent(event.outputs, event.at, event.at if streams else run.state_at)


def add_fields(ids: IdResolver, events: list[LineageEvent]) -> None:
    """Add the fields that only lineage names, all at once."""
    missing: dict[int, dict[int, dict[str, None]]] = {WRITTEN: {}, READ: {}, MENTIONED: {}}
    for event in events:
        for output in event.outputs:
            for by, named, fields in _named_fields(output.description.dataset, output.lineage):
                missing[by].setdefault(dataset_id(ids, named, event.at), {}).update(dict.fromkeys(fields))
    for by, of_role in missing.items():
        names = {owner: fields for owner, fields in of_role.items() if not ids.fields.renames(owner)}
        ids.fields.load(names)
        ids.fields.add(names, by)


def _named_fields(output: Dataset, lineage: EncodedLineage | None) -> Iterator[tuple[int, Dataset, Iterable[str]]]:
    """The fields that lineage names, by dataset: those that it writes, and those that it reads."""
    if lineage is not None:
        yield WRITTEN, output, lineage.fields
        yield from ((_reader_of(lineage, source), source, fields) for source, fields in lineage.sources.items())


def _reader_of(lineage: EncodedLineage, source: Dataset) -> int:
    return MENTIONED if source in lineage.references else READ


def lineage_by_output(ids: IdResolver, events: Iterable[LineageEvent]) -> dict[int, RunLineage]:
    """Return the lineage of each output in the latest event that has some: events add up (OpenLineage, "Run Cycle").

    That of a stream holds since its first event with lineage of that output: one run has one time for each.
    """
    lineage: dict[int, RunLineage] = {}
    for event in events:
        for output, (edges, since) in _of_event(ids, event).items():
            lineage[output] = RunLineage(edges, min(since, lineage.get(output, RunLineage(edges, since)).at))
    return lineage


def replacements_by_dataset(
    ids: IdResolver,
    run: Run,
    events: Iterable[LineageEvent],
    restored: Mapping[Restoration, int | None],
    *,
    believe_overwrite: bool,
) -> dict[int, Replacement]:
    """Return the datasets whose rows a run replaced, or may have; one that has not succeeded has replaced none."""
    found: dict[int, Replacement] = {}
    for event in events if run.state in SUCCESSFUL else ():
        for output in event.outputs:
            if (rows := output.replacement) is not None:
                owner = dataset_id(ids, output.description.dataset, output.named_at(event.at))
                before = found.get(owner, Replacement(run.state_at, certain=False, has_schema=False))
                has_schema = before.has_schema or bool(output.description.schema)
                restores = output.restores is not None
                certain = rows is ReplacedRows.ALL or (believe_overwrite and not restores)
                certain |= restored.get((run.id, owner)) is not None
                restores |= before.restores
                found[owner] = Replacement(run.state_at, before.certain or certain, has_schema, restores)
    return found


def restored_versions(ids: IdResolver, run: Run, events: Iterable[LineageEvent]) -> dict[int, str]:
    """Return the versions that a run restored, by dataset; empty where the event has none."""
    outputs = [(one, event.at) for event in events for one in event.outputs if run.state in SUCCESSFUL]
    return {
        dataset_id(ids, one.description.dataset, one.named_at(at)): one.restores
        for one, at in outputs
        if one.restores is not None
    }


def _of_event(ids: IdResolver, event: LineageEvent) -> dict[int, RunLineage]:
    lineage: dict[int, RunLineage] = {}
    for output in event.outputs:
        if output.lineage is not None:
            owner = dataset_id(ids, output.description.dataset, event.at)
            edges = Edges((output.lineage, _ids(ids, owner, output.lineage, event.at)))
            lineage[owner] = RunLineage(lineage[owner].edges | edges if owner in lineage else edges, event.since)
    return lineage


def _ids(ids: IdResolver, output: int, lineage: EncodedLineage, at: int) -> Ids:
    owners = [(dataset_id(ids, one, at), one, names) for one, names in lineage.sources.items()]
    inputs = [ids.fields.ids(owner, names, at, _reader_of(lineage, one)) for owner, one, names in owners]
    fields = ids.fields.ids(output, lineage.fields, at, WRITTEN)
    return Ids(
        output,
        tuple([fields[name] for name in lineage.fields]),
        tuple([inputs[place][name] for place, name in lineage.inputs]),
        tuple(map(ids.transformation, lineage.transformations)),
    )


Replaced = dict[int, Replacement]
"""The replacements that a run made, by dataset."""


class RunToRecompute(NamedTuple):
    """A run whose lineage may have to be written again: its row, the store's rows of it, and its events about rows."""

    run: Run
    lineage: list[Row[Any]]
    replaced: Replaced
    events: list[LineageEvent]


def recompute_current_lineage(ids: IdResolver, events: Mapping[bytes, Event], *, believe_overwrite: bool) -> None:
    """Make the edges of every run to recompute those that its events have by now.

    ``events`` are those of the transaction, by their digests. Lineage that turns out to be outdated is retracted, and
    its runs are recomputed in the next round.
    """
    rows = ids.rows
    while any(pending := rows.take_runs_to_recompute()):
        present, new = pending
        again = _stored_runs(ids.connection, sorted(present), events)
        add_fields(ids, [event for one in again for event in one.events])
        ids.flush()
        runs = [*_new_runs(ids, new, events), *again]
        runs.sort(key=lambda one: (one.run.state_at, one.run.uuid))
        forgotten = _forgotten(ids.connection, runs) if ids.rare.hidden_jobs else set()
        lineage = [(one, {} if one.run.id in forgotten else lineage_by_output(ids, one.events)) for one in runs]
        restored = _restored(ids, runs, events)
        replaced = [
            replacements_by_dataset(ids, one.run, one.events, restored, believe_overwrite=believe_overwrite)
            for one in runs
        ]
        ids.rare = ids.rare._replace(
            replacements=ids.rare.replacements or any(replaced),
            restorations=ids.rare.restorations or bool(restored),
        )
        streams = {one.run.id for one, outputs in lineage for of in outputs.values() if of.at != one.run.state_at}
        rows.summarize(streams | present)
        pairs = {(one.run.job_id, output) for one, outputs in lineage for output in outputs}
        _retract_outdated(ids, runs, replaced)
        datasets_replaced = {dataset for some in replaced for dataset in some}
        writer = LineageWriter(ids.connection, pairs, datasets_replaced, ends=ids.rare.replacements)
        for (one, outputs), datasets in zip(lineage, replaced, strict=True):
            for dataset in datasets if restored else ():
                if (one.run.id, dataset) in restored and one.run.id not in forgotten:
                    writer.flush()
                    outputs[dataset] = _with_restored(ids, one.run, dataset, restored, outputs.get(dataset))
            _write_run(ids, one, outputs, writer)
            for dataset in datasets.keys() - one.replaced.keys():
                writer.replace(one.run, dataset, datasets[dataset])
        writer.flush()
        if ids.rare.restorations:
            _restore_again(ids, lineage, replaced)


def _forgotten(connection: Connection, runs: list[RunToRecompute]) -> set[int]:
    """The runs whose job was forgotten after they ended: they have no lineage (`maintenance.forgotten_jobs`)."""
    hidden = dict(connection.execute(_HIDDEN_JOBS).all())
    return {one.run.id for one in runs if one.run.state_at <= hidden.get(one.run.job_id, -1)}


def _retract_outdated(ids: IdResolver, runs: list[RunToRecompute], replaced: list[Replaced]) -> None:
    """Take back replacements that runs did not make, or not then, with all lineage of their datasets."""
    outdated: set[int] = set()
    for one, now in zip(runs, replaced, strict=True):
        outdated |= {dataset for dataset, before in one.replaced.items() if now.get(dataset) != before}
    if not outdated:
        return
    _retract_datasets(ids, outdated)
    ids.rows.recompute(retract_replacements(ids.connection, outdated))
    for one, now in zip(runs, replaced, strict=True):  # those of this round are made in the next, with all others
        for dataset in outdated & now.keys():
            del now[dataset]
            ids.rows.recompute([one.run.id])


def _retract_datasets(ids: IdResolver, datasets: Iterable[int]) -> None:
    for dataset in datasets:
        pairs = [(job, dataset) for job in jobs_of(ids.connection, dataset)]
        ids.rows.recompute(retract_lineage(ids.connection, pairs))


def _restored(
    ids: IdResolver, runs: list[RunToRecompute], events: Mapping[bytes, Event]
) -> dict[Restoration, int | None]:
    """The restorations by runs, each with the moment whose lineage holds again; None where it cannot be found."""
    return {
        (one.run.id, restored[0]): _moment_of_version(ids, runs, events, one.run, restored) if restored[1] else None
        for one in runs
        for restored in restored_versions(ids, one.run, one.events).items()
    }


def _moment_of_version(
    ids: IdResolver, runs: list[RunToRecompute], events: Mapping[bytes, Event], by: Run, restored: tuple[int, str]
) -> int | None:
    """When the run ended that made the version of a dataset which a run restored: the last before it, or None."""
    dataset, version = restored
    made = partial(_made, ids, dataset, version)
    ended = max((one.run.state_at for one in runs if one.run.state_at < by.state_at and made(one)), default=None)
    looked_at = {one.run.id for one in runs}
    for run, at in earlier_writers(ids.connection, dataset, by.state_at):
        if ended is not None and at <= ended:
            break
        if run not in looked_at and any(map(made, _stored_runs(ids.connection, [run], events))):
            return at
    return ended


def _made(ids: IdResolver, dataset: int, version: str, to_recompute: RunToRecompute) -> bool:
    """Whether a run, which has lineage or replaced rows, made a version of a dataset."""
    outputs = [
        output
        for event in to_recompute.events
        for output in event.outputs
        if dataset_id(ids, output.description.dataset, output.named_at(event.at)) == dataset
    ]
    concerns_rows = any(output.lineage is not None or output.replacement for output in outputs)
    return (
        concerns_rows
        and to_recompute.run.state in SUCCESSFUL
        and any(output.made_version == version for output in outputs)
    )


def _with_restored(
    ids: IdResolver, run: Run, dataset: int, restored: dict[Restoration, int | None], lineage: RunLineage | None
) -> RunLineage:
    """The lineage that a run brings back; where the version cannot be found, beside the run's own."""
    moment = restored[run.id, dataset]
    again = Edges(more=restored_edges(ids.connection, dataset, run, moment))
    return RunLineage(again if lineage is None or moment is not None else lineage.edges | again, run.state_at)


def _restore_again(
    ids: IdResolver, lineage: list[tuple[RunToRecompute, dict[int, RunLineage]]], replaced: list[Replaced]
) -> None:
    """Take back all lineage of datasets that were restored after runs of this round, to be written in order."""
    changed: dict[int, int] = {}
    for (one, outputs), datasets in zip(lineage, replaced, strict=True):
        moments = [(dataset, one.run.state_at) for dataset in {*outputs, *datasets}]
        # A run may have ended before by the events that were there.
        moments += [(row.output_id, row.at) for row in one.lineage]
        moments += [(dataset, before.at) for dataset, before in one.replaced.items()]
        for dataset, at in moments:
            changed[dataset] = min(at, one.run.state_at, changed.get(dataset, at))
    again, looked_at = later_restorations(ids.connection, changed), {one.run.id for one, _ in lineage}
    outdated = {dataset for run, dataset in again if run not in looked_at}
    _retract_datasets(ids, outdated)
    # All of them: one whose job was forgotten has no lineage by which it would come along, and would be the next.
    ids.rows.recompute(run for run, dataset in again if dataset in outdated)


def _new_runs(ids: IdResolver, runs: Collection[int], events: Mapping[bytes, Event]) -> Iterator[RunToRecompute]:
    """Those of runs that this transaction added: nothing of them has to be read from the store."""
    by_run: dict[str, list[Event]] = {}
    for event in sorted(events.values(), key=attrgetter("at", "digest")):
        if event.concerns_rows and ids.run(event.run).id in runs:
            by_run.setdefault(event.run, []).append(event)
    for uuid, of_run in by_run.items():
        run = run_of(ids, uuid)
        yield RunToRecompute(run, [], {}, [one for event in of_run for one in lineage_events(run, event)])


def _stored_runs(connection: Connection, runs: list[int], batch: Mapping[bytes, Event]) -> list[RunToRecompute]:
    """Those of runs that are in the store; events of the batch are not read from it again."""
    lineage = _by_run(rows_for(connection, runs, lambda some: select(_LINEAGE).where(_LINEAGE.c.run_id.in_(some))))
    events = _by_run(rows_for(connection, runs, lambda some: _EVENTS.where(_EVENT.run_id.in_(some))))
    replaced = stored_replacements(connection, runs)
    rows = [Run(*row) for row in rows_for(connection, runs, lambda some: _RUNS.where(_RUN.id.in_(some)))]
    return [
        RunToRecompute(
            run,
            lineage.get(run.id, []),
            replaced.get(run.id, {}),
            [
                one
                for row in events.get(run.id, [])
                if run.state in SUCCESSFUL or row.type == _RUNNING
                for one in lineage_events(run, batch.get(row.digest) or _stored_event(connection, row.id))
            ],
        )
        for run in rows
    ]


def _by_run(rows: Iterable[Row[Any]]) -> dict[int, list[Row[Any]]]:
    found: dict[int, list[Row[Any]]] = {}
    for row in rows:
        found.setdefault(row.run_id, []).append(row)
    return found


def _stored_event(connection: Connection, event_id: int) -> Event:
    payload = select(schema.event.c.payload).where(schema.event.c.id == event_id)
    return read_event(zlib.decompress(connection.execute(payload).scalar_one()))


def _write_run(
    ids: IdResolver, to_recompute: RunToRecompute, lineage: dict[int, RunLineage], writer: LineageWriter
) -> None:
    run = to_recompute.run
    outdated = [
        (row.job_id, row.output_id)
        for row in to_recompute.lineage
        if not _still_so(row, run, lineage) or (row.at != run.last and writer.replaced_after(row.output_id, run))
    ]
    if outdated:
        writer.flush()
        ids.rows.recompute({run.id} | retract_lineage(ids.connection, outdated))
        writer.forget(outdated)
        return
    for output in lineage.keys() - {row.output_id for row in to_recompute.lineage}:
        writer.write(run, output, lineage[output])


def _still_so(row: Row[Any], run: Run, lineage: dict[int, RunLineage]) -> bool:
    now = lineage.get(row.output_id)
    return now is not None and (row.job_id, row.at, row.digest) == (run.job_id, now.at, now.digest)
