"""Takes OpenLineage events in: they are read, resolved to rows, and written; then lineage follows from all events."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from headwater.model import Dataset, DatasetDescription, Job, SchemaField, Transformation
from headwater.model.names import key_of
from headwater.model.time import BEGINNING, FOREVER
from headwater.openlineage.reading.events import FINAL, SUCCESSFUL, Event, pack
from headwater.store import schema
from headwater.store.ingest.current_lineage import add_fields, lineage_events, recompute_current_lineage, run_of
from headwater.store.ingest.datasets import datasets_across_renames, describe, joined_twins, resolve_names
from headwater.store.ingest.field_spelling import READ, WRITTEN
from headwater.store.ingest.ids import IdResolver, Meaning, RunRow
from headwater.store.ingest.replay import replay_contradicted, replay_events
from headwater.store.ingest.rows import Rows, Values
from headwater.store.ingest.tags import FACET, job_tags
from headwater.store.ingest.write import update_run_summaries, write
from headwater.store.sql.databases import new_ids, rows_for

_RUN = schema.run
_NAME = schema.dataset_name
_EVENT = schema.event
_NEW_RUN: Values = {"parent_id": None, "state": "", "state_at": 0, "started_at": None, "engine": ""}
_NAMED = select(_NAME.c.namespace, _NAME.c.name, _NAME.c.id, _NAME.c.dataset_id, _NAME.c.since, _NAME.c.until)
_LONGEST_TEXT = 20_000  # of a statement or an error message; the whole of it stays in the event
_NEW_OBJECTS = 500_000  # more than the events that wait to be written; Python's own 700 are less than one


def ingest(connection: Connection, events: Iterable[Event], *, believe_overwrite: bool = False) -> int:
    """Take events in, within a transaction that writes alone; return how many of them were not there before.

    ``believe_overwrite`` says that an OVERWRITE of producers who do not say which rows they replaced is of all rows.
    """
    batch = read_batch(_absent_events(connection, events))
    ids = _look_up(connection, batch)
    rows = _resolve(batch, ids)
    write(connection, rows)
    recompute_current_lineage(ids, {event.digest: event for event in batch.events}, believe_overwrite=believe_overwrite)
    update_run_summaries(connection, rows)
    return len(batch.events)


def collect_seldom() -> None:
    """Let Python's garbage collector look less often, and never at objects that are there already.

    For a process that takes lineage in, or answers: events and answers are thousands of objects without a cycle. To
    look at them again and again takes a third of the time of an intake, and an answer would set off a look at each
    object of the process in the middle of it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


def _absent_events(connection: Connection, events: Iterable[Event]) -> list[Event]:
    """Return the events that are not in the store, each once."""
    by_digest = {event.digest: event for event in events}
    question = select(_EVENT.c.digest)
    rows = rows_for(connection, by_digest, lambda some: question.where(_EVENT.c.digest.in_(some)))
    present = {row.digest for row in rows}
    return [event for digest, event in by_digest.items() if digest not in present]


class DescribedFields(NamedTuple):
    """The fields of a dataset as an event has them: whether a reader's or a writer's, and when."""

    by: int
    dataset: Dataset
    at: int
    schema: Sequence[SchemaField]

    @property
    def names(self) -> list[str]:
        """The names of the fields, in their order."""
        return [field.name for field in self.schema]


class Batch(NamedTuple):
    """Events with all that they name, each once and in the order of the events.

    ``runs`` are the runs by UUID, each with the job that the first event which names it says. ``plain_names`` are the
    names of datasets that no event of the batch joins with another. ``renames`` is true when an event changes names,
    or shows fields that differ in case only: then the order of events decides about what a name means.
    """

    events: Sequence[Event]
    jobs: tuple[Job, ...]
    runs: dict[str, Job]
    transformations: tuple[Transformation, ...]
    datasets: tuple[Dataset, ...]
    plain_names: tuple[Dataset, ...]
    fields: tuple[DescribedFields, ...]
    renames: bool


def read_batch(events: Sequence[Event]) -> Batch:
    """Return what events name."""
    runs: dict[str, Job] = {}
    for event in events:
        for uuid, job in _runs(event):
            runs.setdefault(uuid, job)
    lineages = [output.lineage for event in events for output in event.outputs if output.lineage is not None]
    descriptions = [one for event in events for one in _descriptions(event)]
    linked = {link.dataset for one in descriptions for link in one.symlinks}
    named = dict.fromkeys(one.dataset for one in descriptions) | dict.fromkeys(linked)
    return Batch(
        events,
        tuple(dict.fromkeys((*runs.values(), *(event.job for event in events)))),
        runs,
        tuple(dict.fromkeys(one for lineage in lineages for one in lineage.transformations)),
        tuple(named | dict.fromkeys(one for lineage in lineages for one in lineage.sources)),
        tuple(dict.fromkeys(one.dataset for one in descriptions if not one.symlinks and one.dataset not in linked)),
        tuple(one for event in events for one in _fields(event)),
        any(event.renames or event.twins for event in events),
    )


def _runs(event: Event) -> Iterator[tuple[str, Job]]:
    """The runs that an event names: the run's parent comes first."""
    if event.about.parent is not None and event.about.parent.run != event.run:
        yield event.about.parent.run, event.about.parent.job
    yield event.run, event.job


def _descriptions(event: Event) -> Iterable[DatasetDescription]:
    return (*event.inputs, *(output.description for output in event.outputs))


def _fields(event: Event) -> Iterator[DescribedFields]:
    described = [(WRITTEN, output.description) for output in event.outputs]
    for by, one in (*described, *((READ, one) for one in event.inputs)):
        if one.schema:
            yield DescribedFields(by, one.dataset, event.at, one.schema)


def _look_up(connection: Connection, batch: Batch) -> IdResolver:
    """Return the ids of all that a batch names: of rows that are there, and new ones of those that are not.

    Where an event of the batch changes names, datasets and fields are looked up and added as their events come.
    """
    ids = IdResolver(connection)
    ids.load_jobs(batch.jobs)
    _load_runs(ids, batch.runs)
    ids.load_transformations(batch.transformations)
    _load_names(ids, batch.datasets)
    if not batch.renames:
        _add_datasets(ids, batch.plain_names)
        _add_fields(ids, batch)
    return ids


def _load_runs(ids: IdResolver, runs: Mapping[str, Job]) -> None:
    present: dict[str, RunRow] = {}
    for row in rows_for(ids.connection, runs, lambda some: select(_RUN).where(_RUN.c.uuid.in_(some))):
        present[row.uuid] = RunRow(row.id, {name: row._mapping[name] for name in ("job_id", *_NEW_RUN)})
    new = {uuid: _NEW_RUN | {"job_id": ids.job(job)} for uuid, job in runs.items() if uuid not in present}
    of_new = new_ids(ids.connection, _RUN, len(new), ids.rows.last_run) if new else ()
    added = {uuid: RunRow(row, values) for row, (uuid, values) in zip(of_new, new.items(), strict=True)}
    ids.rows.add_runs({run.id: (uuid, run.values) for uuid, run in added.items()})
    ids.load_runs(present | added)


def _load_names(ids: IdResolver, datasets: Iterable[Dataset]) -> None:
    keys = {key_of(one.namespace, one.name): one for one in datasets}
    meanings: dict[Dataset, list[Meaning]] = {one: [] for one in keys.values()}
    for column in (_NAME.c.key, _NAME.c.first_key) if ids.rare.reused_names else (_NAME.c.key,):
        for namespace, name, *meaning in rows_for(
            ids.connection,
            keys,
            lambda some, column=column: _NAMED.where(column.in_(some)),  # type: ignore[misc]
        ):
            meanings[Dataset(namespace, name)].append(Meaning(*meaning))
    ids.load_meanings(meanings)
    ids.fields.load(ids.named_datasets)


def _add_datasets(ids: IdResolver, names: Iterable[Dataset]) -> None:
    """Add the datasets that are not there, of names that are not joined with others."""
    new = [one for one in names if not ids.meanings(one)]
    if not new:
        return
    datasets = new_ids(ids.connection, schema.dataset, len(new))
    of_names = new_ids(ids.connection, _NAME, len(new))
    for one, dataset, name_id in zip(new, datasets, of_names, strict=True):
        ids.rows.add_dataset(dataset, name_id, one)
        ids.load_meanings({one: [Meaning(name_id, dataset, BEGINNING, FOREVER)]})
    ids.fields.load(datasets)


def _add_fields(ids: IdResolver, batch: Batch) -> None:
    """Add the fields that events describe of datasets that are there."""
    missing: dict[int, dict[int, dict[str, None]]] = {WRITTEN: {}, READ: {}}
    for one in batch.fields:
        for meaning in ids.meanings(one.dataset):
            if meaning.covers(one.at) and not ids.fields.renames(meaning.dataset):
                missing[one.by].setdefault(meaning.dataset, {}).update(dict.fromkeys(one.names))
    for by, of_role in missing.items():
        ids.fields.add(of_role, by)


def _resolve(batch: Batch, ids: IdResolver) -> Rows:
    """Return the rows of all that events have of jobs, runs and datasets, and of the events themselves.

    Nothing is written here but what changes the meaning of names: symlinks that join two datasets and renames change
    rows that are there, and what comes after them needs to find the rows as they are then.
    """
    for event in batch.events:
        run_id = _change_run(ids, event)
        ids.rows.summarize([run_id])
        _describe_job(ids, event, run_id)
        _describe_datasets(ids, event, run_id)
        _add_event(ids.rows, event, run_id)
    if batch.renames or ids.fields.any_renamed:
        replay_contradicted(ids, batch.events)
    ids.rows.summarize_no_new_runs()
    add_fields(ids, [one for event in batch.events for one in lineage_events(run_of(ids, event.run), event)])
    return ids.rows


def _change_run(ids: IdResolver, event: Event) -> int:
    run_id, values = ids.run(event.run)
    changed = _changed_columns(values, event, ids.job(event.job))
    parent = event.about.parent
    if parent is not None and values["parent_id"] is None:
        changed["parent_id"] = ids.run(parent.run).id
    if changed:
        values |= changed
        ids.rows.change_run(run_id, values)
    return run_id


def _changed_columns(row: Mapping[str, Any], event: Event, job_id: int) -> dict[str, Any]:
    """The columns of a run's row that an event changes."""
    changed: dict[str, Any] = {}
    if _weight(row["state"], row["state_at"]) < _weight(event.state, event.at):
        changed |= {"job_id": job_id, "state": event.state, "state_at": event.at}
    if event.state == "START" and (row["started_at"] is None or event.at < row["started_at"]):
        changed["started_at"] = event.at
    if row["engine"] < event.about.engine:
        changed["engine"] = event.about.engine
    return changed


def _weight(state: str, at: int) -> tuple[bool, int, str]:
    """An end outweighs everything before it, also when it arrives first."""
    return state in FINAL, at, state


def _describe_job(ids: IdResolver, event: Event, run_id: int) -> None:
    """Add what an event contains of its job and its run, beside the run's state."""
    about, job_id = event.about, ids.job(event.job)
    ids.rows.propose_attribute((schema.job, "type"), job_id, about.job_type, event.at)
    ids.rows.propose_attribute((schema.job, "sql"), job_id, about.sql[:_LONGEST_TEXT], event.at)
    ids.rows.propose_attribute((schema.job, "description"), job_id, about.description[:_LONGEST_TEXT], event.at)
    ids.rows.propose_attribute((schema.job, "location"), job_id, about.location, event.at)
    ids.rows.propose_attribute((schema.run, "error"), run_id, about.error[:_LONGEST_TEXT], event.at)
    ids.rows.span(schema.job, job_id, event.at)
    for facet in about.facets:
        ids.rows.add_facet((0, job_id), facet, event.at, event.digest)
        if facet == FACET:
            ids.rows.set_tags((0, job_id), job_tags(event))
    for gap in about.gaps:
        ids.rows.add_gap(run_id, gap)


def _describe_datasets(ids: IdResolver, event: Event, run_id: int) -> None:
    again = datasets_across_renames(ids, event)
    if not again:
        resolve_names(ids, [event])
        # Names that the event joined may be of datasets with later events.
        again = ids.merged_with_renames | joined_twins(ids, event) | datasets_across_renames(ids, event)
    if again:
        replay_events(ids, again, (event, run_id))
    else:
        describe(ids, event, run_id)


def _add_event(rows: Rows, event: Event, run_id: int) -> None:
    payload = event.packed or pack(event.text)
    rows.add_event((event.digest, run_id, event.at, event.state, event.concerns_rows, payload))
    if event.concerns_rows or event.state in FINAL or event.state in SUCCESSFUL:
        rows.recompute([run_id])
