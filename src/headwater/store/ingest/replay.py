"""Datasets that are read again from all their events, because an event changes names at an earlier moment.

Names come first, in the order of time, then descriptions of the datasets that they mean; by the same code as ever.

So are datasets with a history that no catalog has: where two statements change a name at one moment, or a column gets
the name of another, nothing less is the same for each order of events.
"""

import zlib
from collections.abc import Collection, Iterable
from itertools import groupby
from operator import attrgetter

from sqlalchemy import delete, exists, or_, select, union

from headwater.model.time import BEGINNING, FOREVER
from headwater.openlineage.reading.events import Event, read_event
from headwater.store import schema
from headwater.store.ingest.datasets import (
    datasets_across_renames,
    describe,
    joined_twins,
    names_of_changes,
    resolve_names,
)
from headwater.store.ingest.ids import IdResolver
from headwater.store.ingest.replacements import pairs_of_dataset, retract_lineage, retract_replacements
from headwater.store.ingest.tags import Tagging, UserTag, put_tags, remove_tags

_EVENT = schema.event.c
_DATASETS_OF_RUNS = (schema.run_dataset.c, schema.dataset_change.c)
"""The columns of the tables with the datasets that runs read, wrote or changed."""

EventOfRun = tuple[Event, int]
"""An event and the id of its run."""


def replay_events(ids: IdResolver, datasets: Collection[int], *latest: EventOfRun, related: bool = False) -> None:
    """Remove datasets and read their events again, with new ones, in the order of their times.

    With ``related`` so are the datasets that names in changes of their names ever mean.
    """
    events = {event.digest: (event, run) for event, run in latest}
    late: Collection[int] = datasets
    user_tags: list[UserTag] = []
    while late:
        ids.flush()
        user_tags += remove_tags(ids.connection, late)
        events |= {event.digest: (event, run) for event, run in _remove(ids, late)}
        # At one moment names change first: who uses a name then means what it has come to mean.
        ordered = sorted(events.values(), key=lambda one: (one[0].at, not one[0].renames, one[0].digest))
        late = (_of_changed_names(ids, ordered) if related else set()) or _named(ids, ordered)
    ids.rows.summarize(run for _, run in ordered)
    # No edge leads to fields of lineage that never held: they were removed, and come back with the rest of it.
    ids.rows.recompute(run for event, run in ordered if event.concerns_rows)
    for event, run in ordered:
        describe(ids, event, run)
    _put_back(ids, user_tags)


def replay_contradicted(ids: IdResolver, events: Iterable[Event]) -> None:
    """Read datasets of events again, which were taken in, that have a history of names which no catalog has."""
    contradicted = {dataset for event in events for dataset in _contradicted(ids, event)}
    if contradicted:
        replay_events(ids, contradicted, related=True)


def _contradicted(ids: IdResolver, event: Event) -> set[int]:
    changed = names_of_changes(event)
    named = changed or {one.dataset for one in (*event.inputs, *(output.description for output in event.outputs))}
    owners = {one.dataset for name in named for one in ids.meanings(name)}
    if changed and _changed_at_once(ids, event, owners):
        return owners
    # A later event than all renames adds to what is there, in whichever order.
    return {one for one in owners if ids.fields.contradicted(one, BEGINNING if changed else event.at)}


def _changed_at_once(ids: IdResolver, event: Event, owners: Collection[int]) -> bool:
    """Whether another event changes a name of its datasets at the same moment."""
    ids.flush()
    about = (exists().where(one.run_id == _EVENT.run_id, one.dataset_id.in_(owners)) for one in _DATASETS_OF_RUNS)
    at_once = select(_EVENT.payload).where(_EVENT.at == event.at, _EVENT.digest != event.digest, or_(*about))
    others = (read_event(zlib.decompress(one)) for one in ids.connection.execute(at_once).scalars())
    return any(not names_of_changes(event).isdisjoint(names_of_changes(other)) for other in others)


def _of_changed_names(ids: IdResolver, events: Collection[EventOfRun]) -> set[int]:
    """The datasets that are there still of the names in changes of names."""
    names = {name for event, _ in events for name in names_of_changes(event)}
    return {one.dataset for name in names for one in ids.meanings(name)}


def _named(ids: IdResolver, ordered: Collection[EventOfRun]) -> set[int]:
    """Resolve the names again; return the datasets to read again too: joined ones, and those of later events."""
    events = (event for event, _ in ordered)
    for _, together in groupby(events, key=lambda one: (one.at, one.renames or one.digest)):
        group = list(together)
        late = _across_renames(ids, group)
        if not late:
            resolve_names(ids, group)
            late = ids.merged_with_renames | _across_renames(ids, group)
        if late:
            return late | ids.named_datasets
    late = set[int]().union(*(joined_twins(ids, event) for event, _ in ordered))
    return late | ids.named_datasets if late else late


def _across_renames(ids: IdResolver, events: Collection[Event]) -> set[int]:
    return set[int]().union(*(datasets_across_renames(ids, event) for event in events))


def _remove(ids: IdResolver, datasets: Collection[int]) -> list[EventOfRun]:
    """Remove datasets, their fields, names and lineage; return the events that name them."""
    events = _events(ids, datasets)
    for dataset in datasets:
        pairs = pairs_of_dataset(ids.connection, dataset)
        ids.rows.recompute(retract_lineage(ids.connection, pairs))
    ids.rows.recompute(retract_replacements(ids.connection, datasets))
    named = select(schema.dataset_name.c.id).where(schema.dataset_name.c.dataset_id.in_(datasets))
    link = schema.symlink
    ids.connection.execute(delete(link).where(or_(link.c.name_id.in_(named), link.c.other_id.in_(named))))
    of_dataset = (
        schema.dataset_name,
        schema.run_dataset,
        schema.dataset_change,
        schema.field_rename,
        schema.field_twin,
        schema.field,
        schema.field_description,
        schema.facet,
    )
    for table in of_dataset:
        ids.connection.execute(delete(table).where(table.c.dataset_id.in_(datasets)))
    ids.connection.execute(delete(schema.dataset).where(schema.dataset.c.id.in_(datasets)))
    ids.forget()
    ids.merged_with_renames.clear()
    return events


def _put_back(ids: IdResolver, user_tags: Collection[UserTag]) -> None:
    """Put tags of people on the datasets that their names mean now."""
    for one in user_tags:
        if of_name := ids.meanings(one.dataset):
            owner = max(of_name, key=attrgetter("since")).dataset
            field_id = ids.fields.id(owner, one.field, FOREVER - 1) if one.field else 0
            put_tags(
                ids.connection, [((owner, 0), one.at, Tagging(field_id, one.tag, one.value, one.source, one.path))]
            )


def _events(ids: IdResolver, datasets: Collection[int]) -> list[EventOfRun]:
    runs = union(*(select(one.run_id).where(one.dataset_id.in_(datasets)) for one in _DATASETS_OF_RUNS))
    of_runs = select(_EVENT.payload, _EVENT.run_id).where(_EVENT.run_id.in_(runs))
    return [(read_event(zlib.decompress(row.payload)), row.run_id) for row in ids.connection.execute(of_runs)]
