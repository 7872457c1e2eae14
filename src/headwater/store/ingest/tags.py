"""Tags that events tell (TagsDatasetFacet, TagsJobFacet 1-0-0), and what becomes of tags when datasets do.

A tag on a field that nothing else tells of makes the field known: whether its schema comes later does not matter.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from sqlalchemy import delete, select

from headwater.model import Dataset
from headwater.model.time import FOREVER
from headwater.openlineage.reading.dataset_facets import dataset
from headwater.openlineage.reading.events import Event
from headwater.openlineage.reading.json_text import read_json
from headwater.openlineage.reading.json_values import Record, record, records, text
from headwater.store import schema
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.meanings import Meaning
from headwater.store.ingest.symlinks import dataset_id, meanings
from headwater.store.ingest.taggings import API, FACET, Tagging, ToldTags, put

__all__ = ["FACET", "Aside", "restore", "set_aside", "tag_dataset", "tag_job"]

_TAGGING = schema.tagging
_FIELD = schema.field


class Aside(NamedTuple):
    """A tag that somebody put, by names: the ids of dataset and field are about to change."""

    dataset: Dataset
    field: str
    tag: str
    value: str
    at: int


def tag_dataset(writer: Writer, owner: int, event: Event, at: int) -> None:
    """Notes the tags that an event's facets give a dataset and its fields."""
    tags = set()
    for told in _told_of(writer, owner, event, at):
        name = text(told, "field")
        tags.add(_tagging(told, writer.field(owner, name, at) if name else 0))
    writer.pending.tags((owner, 0), ToldTags(at, event.digest, frozenset(tags)))


def tag_job(writer: Writer, job_id: int, event: Event) -> None:
    """Notes the tags that an event's facet gives its job."""
    told = _tags(record(read_json(event.text), "job"))
    tags = frozenset(_tagging(one, 0) for one in told)
    writer.pending.tags((0, job_id), ToldTags(event.at, event.digest, tags))


def set_aside(writer: Writer, datasets: Collection[int]) -> list[Aside]:
    """Takes the tags off some datasets that are about to be told again; those that people put are given back."""
    owner, tagging = schema.dataset, _TAGGING
    put_by_people = select(tagging, owner.c.namespace, owner.c.name.label("dataset"), _FIELD.c.name.label("field"))
    put_by_people = put_by_people.join(owner, owner.c.id == tagging.c.dataset_id)
    put_by_people = put_by_people.outerjoin(_FIELD, _FIELD.c.id == tagging.c.field_id)
    mine = tagging.c.dataset_id.in_(datasets)
    rows = writer.connection.execute(put_by_people.where(mine, tagging.c.source == API)).all()
    writer.connection.execute(delete(tagging).where(mine))
    return [Aside(Dataset(row.namespace, row.dataset), row.field or "", row.tag, row.value, row.at) for row in rows]


def restore(writer: Writer, aside: Iterable[Aside]) -> None:
    """Puts tags back, on the datasets that their names mean now."""
    for one in aside:
        known = meanings(writer, one.dataset)
        if known:
            owner = max(known, key=_since).dataset
            field_id = writer.field(owner, one.field, FOREVER - 1) if one.field else 0
            put(writer.connection, [((owner, 0), one.at, Tagging(field_id, one.tag, one.value))])


def _since(meaning: Meaning) -> int:
    return meaning.since


def _told_of(writer: Writer, owner: int, event: Event, at: int) -> Iterator[Record]:
    """The tags in the facets of all entries of an event that name a dataset."""
    value = read_json(event.text)
    for item in (*records(value, "inputs"), *records(value, "outputs"), record(value, "dataset")):
        tags = _tags(item)
        if tags and dataset_id(writer, dataset(item), at) == owner:
            yield from tags


def _tags(item: Record) -> list[Record]:
    return [one for one in records(item, "facets", FACET, "tags") if text(one, "key")]


def _tagging(told: Record, field_id: int) -> Tagging:
    source = text(told, "source")
    # What a facet says is of people stays a facet's: the next one takes it back.
    return Tagging(field_id, text(told, "key"), text(told, "value"), source.lower() if source == API else source)
