"""Telling all of some datasets again from their events: what a change of names needs that comes late.

Names first, in the order of time, then what is said of the datasets that they mean. There is no other code for it.
"""

import zlib
from collections.abc import Collection
from itertools import groupby
from operator import attrgetter

from sqlalchemy import Table, delete, or_, select

from headwater.model.time import FOREVER
from headwater.openlineage.reading.events import Event, read_event
from headwater.store import schema
from headwater.store.ingest.descriptions import describe
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.name_changes import datasets_across_renames, joined_twins, name
from headwater.store.ingest.retraction import pairs_of_dataset, retract_lineage, retract_replacements
from headwater.store.ingest.symlinks import meanings
from headwater.store.ingest.tags import Tagging, UserTag, put_tags, remove_tags

Told = tuple[Event, int]
"""An event and the id of its run."""


def replay_events(writer: Writer, datasets: Collection[int], *latest: Told) -> None:
    """Forgets some datasets and tells the events about them again, with a new one, in the order of their times."""
    writer.flush()
    told = {event.digest: (event, run) for event, run in latest}
    late: Collection[int] = datasets
    user_tags: list[UserTag] = []
    while late:
        user_tags += remove_tags(writer.connection, late)
        told |= {event.digest: (event, run) for event, run in _forgotten(writer, late)}
        # At one moment names change first: who uses a name then means what it has come to mean.
        ordered = sorted(told.values(), key=lambda one: (one[0].at, not one[0].renames, one[0].digest))
        late = _named(writer, ordered)
    writer.runs_to_summarize.update(run for _, run in ordered)
    for event, run in ordered:
        describe(writer, event, run)
    _put_back(writer, user_tags)


def _named(writer: Writer, ordered: Collection[Told]) -> set[int]:
    """Names the datasets again; those that must be forgotten too, because they are joined or known for later."""
    events = (event for event, _ in ordered)
    for _, together in groupby(events, key=lambda one: (one.at, one.renames or one.digest)):
        group = list(together)
        late = set[int]().union(*(datasets_across_renames(writer, event) for event in group))
        if not late:
            name(writer, group)
            late = set(writer.merged_with_renames)
        if late:
            return late | _all_named(writer)
    late = set[int]().union(*(joined_twins(writer, event) for event, _ in ordered))
    return late | _all_named(writer) if late else late


def _all_named(writer: Writer) -> set[int]:
    return {one.dataset for known in writer.names.values() for one in known}


def _forgotten(writer: Writer, datasets: Collection[int]) -> list[Told]:
    """Forgets datasets, their fields, names and lineage; gives the events that told of them."""
    events = _events(writer, datasets)
    for dataset in datasets:
        pairs = pairs_of_dataset(writer.connection, dataset)
        writer.runs_to_recompute |= retract_lineage(writer.connection, pairs)
    writer.runs_to_recompute |= retract_replacements(writer.connection, datasets)
    named = select(schema.dataset_name.c.id).where(schema.dataset_name.c.dataset_id.in_(datasets))
    link = schema.symlink
    writer.connection.execute(delete(link).where(or_(link.c.name_id.in_(named), link.c.other_id.in_(named))))
    of_dataset = (
        schema.dataset_name,
        schema.run_dataset,
        schema.dataset_change,
        schema.field_rename,
        schema.field_twin,
        schema.field,
        schema.facet,
    )
    for table in of_dataset:
        writer.connection.execute(delete(table).where(table.c.dataset_id.in_(datasets)))
    writer.connection.execute(delete(schema.dataset).where(schema.dataset.c.id.in_(datasets)))
    writer.forget()
    writer.merged_with_renames.clear()
    return events


def _put_back(writer: Writer, user_tags: Collection[UserTag]) -> None:
    """Put tags of people on the datasets that their names mean now."""
    for one in user_tags:
        if of_name := meanings(writer, one.dataset):
            owner = max(of_name, key=attrgetter("since")).dataset
            field_id = writer.field(owner, one.field, FOREVER - 1) if one.field else 0
            put_tags(writer.connection, [((owner, 0), one.at, Tagging(field_id, one.tag, one.value))])


def _events(writer: Writer, datasets: Collection[int]) -> list[Told]:
    runs = {run for table in (schema.run_dataset, schema.dataset_change) for run in _runs(writer, table, datasets)}
    event = schema.event.c
    known = select(event.payload, event.run_id).where(event.run_id.in_(runs))
    return [(read_event(zlib.decompress(row.payload)), row.run_id) for row in writer.connection.execute(known)]


def _runs(writer: Writer, table: Table, datasets: Collection[int]) -> set[int]:
    mine = select(table.c.run_id).where(table.c.dataset_id.in_(datasets))
    return set(writer.connection.execute(mine).scalars())
