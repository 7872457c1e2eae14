"""Reads all at once what a batch of events is about, and adds the rows that everything else needs."""

from collections.abc import Iterable, Iterator, Sequence

from sqlalchemy import select

from headwater.model import Dataset, DatasetDescription, Job
from headwater.model.name_keys import folded, key_of
from headwater.model.time import BEGINNING, FOREVER
from headwater.openlineage.reading.events import Event
from headwater.store import schema
from headwater.store.ingest.field_spelling import READ, WRITTEN
from headwater.store.ingest.ids import RunRow, Writer
from headwater.store.ingest.meanings import Meaning
from headwater.store.ingest.statements import Values
from headwater.store.sql.bulk import new_ids
from headwater.store.sql.rows import rows_for

_RUN = schema.run
_NAME = schema.dataset_name
_EVENT = schema.event
_UNTOLD: Values = {"parent_id": None, "state": "", "state_at": 0, "started_at": None, "engine": ""}
_NAMED = select(_NAME.c.namespace, _NAME.c.name, _NAME.c.id, _NAME.c.dataset_id, _NAME.c.since, _NAME.c.until)

_ANY_LATER = select(_NAME.c.id).where(_NAME.c.first_key.is_not(None)).limit(1)


def unknown(writer: Writer, events: Iterable[Event]) -> Iterator[Event]:
    """The events that are not in the store, each once."""
    by_digest = {event.digest: event for event in events}
    question = select(_EVENT.c.digest)
    rows = rows_for(writer.connection, by_digest, lambda some: question.where(_EVENT.c.digest.in_(some)))
    known = {row.digest for row in rows}
    return (event for digest, event in by_digest.items() if digest not in known)


def load(writer: Writer, events: Sequence[Event]) -> None:
    """Makes the jobs, runs, transformations, names and fields known that the events mention."""
    told = [mentioned for event in events for mentioned in _runs(event)]
    # In the order of the events, as fields are; the first that mentions a run says its job.
    job_of = dict(reversed(told))
    runs = {uuid: job_of[uuid] for uuid, _ in told}
    writer.know_jobs({*runs.values(), *(event.job for event in events)})
    _load_runs(writer, runs)
    lineages = [output.lineage for event in events for output in event.outputs if output.lineage is not None]
    writer.know_transformations({way for lineage in lineages for way in lineage.transformations})
    _load_names(writer, {*_datasets(events), *(dataset for lineage in lineages for dataset in lineage.sources)})
    if not any(event.renames or event.twins for event in events):
        _add_datasets(writer, events)
        _add_fields(writer, events)


def _runs(event: Event) -> Iterator[tuple[str, Job]]:
    if event.about.parent is not None and event.about.parent.run != event.run:
        yield event.about.parent.run, event.about.parent.job
    yield event.run, event.job


def _load_runs(writer: Writer, runs: dict[str, Job]) -> None:
    for row in rows_for(writer.connection, runs, lambda some: select(_RUN).where(_RUN.c.uuid.in_(some))):
        values = {name: row._mapping[name] for name in ("job_id", *_UNTOLD)}
        writer.runs[row.uuid] = RunRow(row.id, values)
    new = {uuid: _UNTOLD | {"job_id": writer.job(job)} for uuid, job in runs.items() if uuid not in writer.runs}
    ids = new_ids(writer.connection, _RUN, len(new), next(reversed(writer.pending.new_runs), 0)) if new else ()
    added = {uuid: RunRow(row, values) for row, (uuid, values) in zip(ids, new.items(), strict=True)}
    writer.pending.new_runs |= {run.id: (uuid, run.values) for uuid, run in added.items()}
    writer.runs |= added
    writer.added.update(ids)


def _described(events: Iterable[Event]) -> Iterator[tuple[DatasetDescription, int]]:
    """Each dataset that events describe, and when they do."""
    for event in events:
        for seen in (*event.inputs, *(output.description for output in event.outputs)):
            yield seen, event.at


def _datasets(events: Iterable[Event]) -> Iterator[Dataset]:
    for seen, _ in _described(events):
        yield seen.dataset
        yield from (link.dataset for link in seen.symlinks)


def _load_names(writer: Writer, named: Iterable[Dataset]) -> None:
    keys = {key_of(one.namespace, one.name): one for one in named}
    writer.names |= {one: [] for one in keys.values()}
    later = writer.connection.execute(_ANY_LATER).first() is not None
    for column in (_NAME.c.key, _NAME.c.first_key) if later else (_NAME.c.key,):
        for namespace, name, *meaning in rows_for(
            writer.connection,
            keys,
            lambda some, column=column: _NAMED.where(column.in_(some)),  # type: ignore[misc]
        ):
            writer.names[Dataset(namespace, name)].append(Meaning(*meaning))
    writer.know_fields({meaning.dataset for known in writer.names.values() for meaning in known})


def _add_datasets(writer: Writer, events: Sequence[Event]) -> None:
    """Adds the datasets that nothing is known of, except where a name may turn out to be that of another dataset."""
    linked = {link.dataset for seen, _ in _described(events) for link in seen.symlinks}
    named = dict.fromkeys(seen.dataset for seen, _ in _described(events) if not seen.symlinks)
    new = [one for one in named if one not in linked and not writer.names[one]]
    if not new:
        return
    owners = new_ids(writer.connection, schema.dataset, len(new))
    meanings = [
        Meaning(row, owner, BEGINNING, FOREVER)
        for row, owner in zip(new_ids(writer.connection, _NAME, len(new)), owners, strict=True)
    ]
    for one, (row, owner, *_) in zip(new, meanings, strict=True):
        writer.pending.new_datasets[owner] = (one.namespace, one.name)
        key = key_of(one.namespace, one.name)
        writer.pending.new_names.append((row, key, one.namespace, one.name, folded(one), owner))
    writer.names |= {one: [meaning] for one, meaning in zip(new, meanings, strict=True)}
    writer.know_fields(owners)


def _add_fields(writer: Writer, events: Sequence[Event]) -> None:
    """Adds the fields that events describe of datasets that are known."""
    wanted: dict[int, dict[int, dict[str, None]]] = {WRITTEN: {}, READ: {}}
    for event in events:
        described = [(WRITTEN, output.description) for output in event.outputs]
        for by, seen in (*described, *((READ, one) for one in event.inputs)):
            for meaning in writer.names[seen.dataset] if seen.schema else ():
                if meaning.covers(event.at) and not writer.renames(meaning.dataset):
                    names = wanted[by].setdefault(meaning.dataset, {})
                    names.update(dict.fromkeys(field.name for field in seen.schema))
    for by, of_role in wanted.items():
        writer.add_fields(of_role, by)
