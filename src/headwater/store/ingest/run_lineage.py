"""The lineage and the replacements of rows that the events of one run have, in ids."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from headwater.model import Dataset, ReplacedRows
from headwater.openlineage.reading.events import SUCCESSFUL, Event, WrittenDataset
from headwater.openlineage.reading.lineage_facets import EncodedLineage
from headwater.store.ingest.datasets import dataset_id, moment_of
from headwater.store.ingest.field_spelling import MENTIONED, READ, WRITTEN
from headwater.store.ingest.ids import IdResolver
from headwater.store.ingest.lineage_writer import Edges, Ids, RunLineage
from headwater.store.ingest.replacements import Replacement, Restoration, Run

_RUNNING = "RUNNING"


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
                owner = dataset_id(ids, output.description.dataset, moment_of(output, event.at))
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
        dataset_id(ids, one.description.dataset, moment_of(one, at)): one.restores
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
