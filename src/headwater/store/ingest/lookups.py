"""The look-ups that the second step needs: which rows there are of all that a batch names, asked for at once."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from headwater.model import Dataset, Job
from headwater.model.name_keys import key_of
from headwater.model.time import BEGINNING, FOREVER
from headwater.openlineage.reading.events import Event
from headwater.store import schema
from headwater.store.ingest.field_spelling import READ, WRITTEN
from headwater.store.ingest.ids import IdResolver, Meaning, RunRow
from headwater.store.ingest.read import Batch
from headwater.store.ingest.rows import Values
from headwater.store.sql.bulk import new_ids
from headwater.store.sql.rows import rows_for

_RUN = schema.run
_NAME = schema.dataset_name
_EVENT = schema.event
_NEW_RUN: Values = {"parent_id": None, "state": "", "state_at": 0, "started_at": None, "engine": ""}
_NAMED = select(_NAME.c.namespace, _NAME.c.name, _NAME.c.id, _NAME.c.dataset_id, _NAME.c.since, _NAME.c.until)
_ANY_LATER = select(_NAME.c.id).where(_NAME.c.first_key.is_not(None)).limit(1)


def absent_events(connection: Connection, events: Iterable[Event]) -> list[Event]:
    """Return the events that are not in the store, each once."""
    by_digest = {event.digest: event for event in events}
    question = select(_EVENT.c.digest)
    rows = rows_for(connection, by_digest, lambda some: question.where(_EVENT.c.digest.in_(some)))
    present = {row.digest for row in rows}
    return [event for digest, event in by_digest.items() if digest not in present]


def look_up(connection: Connection, batch: Batch) -> IdResolver:
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
    later = ids.connection.execute(_ANY_LATER).first() is not None
    for column in (_NAME.c.key, _NAME.c.first_key) if later else (_NAME.c.key,):
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
