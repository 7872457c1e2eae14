"""Tags of facets (TagsDatasetFacet, TagsJobFacet 1-0-0) and of people, and their rows.

A facet's tags give way to those of a later facet; tags that people put stay until they take them back. A tag on a field
that nothing else names adds the field: whether its schema comes later does not matter.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Insert, and_, bindparam, delete, select

from headwater.model import Dataset
from headwater.model.names import key_of
from headwater.openlineage.reading.events import Event
from headwater.openlineage.reading.facets import dataset
from headwater.openlineage.reading.json_values import Record, read_json, record, records, text
from headwater.openlineage.reading.merged_facets import dataset_entries
from headwater.store import schema
from headwater.store.sql.database import Upsert
from headwater.store.sql.databases import Addition, rows_for

API, FILE = "API", "FILE"
"""The sources of tags that people put, and no facet: one by one, and by a file that is applied as a whole."""

PEOPLE = (API, FILE)

FACET = "tags"
"""The facet's name: TagsDatasetFacet and TagsJobFacet 1-0-0."""

Owner = tuple[int, int]
"""The id of a dataset and 0, or 0 and the id of a job."""

_TAGGING = schema.tagging
_TEXT = schema.tag_text
_FIELD = schema.field
_OWNED = (_TAGGING.c.dataset_id == bindparam("dataset"), _TAGGING.c.job_id == bindparam("job"))
_OF_FACETS = and_(*(_TAGGING.c.source != one for one in PEOPLE))
_FORGET = delete(_TAGGING).where(*_OWNED, _OF_FACETS)


class Tagging(NamedTuple):
    """A tag on a dataset or job, or on a field (0 for none), or on one within that field, by its path."""

    field_id: int
    tag: str
    value: str = ""
    source: str = API
    path: str = ""

    @property
    def key(self) -> tuple[int, str, bytes]:
        """The key of which there is at most one tag; tags that differ in case only are one."""
        return self.field_id, self.path, tag_key(self.tag)


class FacetTags(NamedTuple):
    """All the tags of a facet, with the moment and the digest of its event."""

    at: int
    digest: bytes
    tags: frozenset[Tagging]

    def after(self, other: "FacetTags | None") -> "FacetTags":
        """The later of two; of one event, which may name a dataset several times, both."""
        if other is None or other[:2] < self[:2]:
            return self
        return other if other[:2] > self[:2] else self._replace(tags=self.tags | other.tags)


class UserTag(NamedTuple):
    """A tag that somebody put, by names: for when the ids of dataset and field are about to change."""

    dataset: Dataset
    field: str
    tag: str
    value: str
    at: int
    source: str = API
    path: str = ""


def dataset_tags(event: Event) -> Iterator[tuple[Dataset, list[tuple[str, Tagging]]]]:
    """Yield the tags in the facets of each entry of an event, with the names of the fields that they are on."""
    for item in dataset_entries(read_json(event.text)):
        if tags := _tags(item):
            yield dataset(item), tags


def job_tags(event: Event) -> FacetTags:
    """Return the tags of an event's job."""
    tags = _tags(record(read_json(event.text), "job"))
    return FacetTags(event.at, event.digest, frozenset(tag for _, tag in tags))


def _tags(item: Record) -> list[tuple[str, Tagging]]:
    return [(text(one, "field"), _tagging(one)) for one in records(item, "facets", FACET, "tags") if text(one, "key")]


def _tagging(tag: Record) -> Tagging:
    source = text(tag, "source")
    # A tag of people in a facet stays the facet's: the next facet takes it back.
    return Tagging(0, text(tag, "key"), text(tag, "value"), source.lower() if source in PEOPLE else source)


def remove_tags(connection: Connection, datasets: Collection[int]) -> list[UserTag]:
    """Remove the tags of datasets that are to be read again from their events; return those that people put."""
    owner, tagging = schema.dataset, _TAGGING
    put_by_people = select(tagging, owner.c.namespace, owner.c.name.label("dataset"), _FIELD.c.name.label("field"))
    put_by_people = put_by_people.join(owner, owner.c.id == tagging.c.dataset_id)
    put_by_people = put_by_people.outerjoin(_FIELD, _FIELD.c.id == tagging.c.field_id)
    mine = tagging.c.dataset_id.in_(datasets)
    rows = connection.execute(put_by_people.where(mine, tagging.c.source.in_(PEOPLE))).all()
    connection.execute(delete(tagging).where(mine))
    return [
        UserTag(Dataset(row.namespace, row.dataset), row.field or "", row.tag, row.value, row.at, row.source, row.path)
        for row in rows
    ]


def tag_key(tag: str) -> bytes:
    """The key of a tag's name, whatever its case."""
    return key_of(tag.casefold())


def write_tags(connection: Connection, tags: Mapping[Owner, FacetTags]) -> None:
    """Write the tags of facets, except where the store has a later facet; to be called before facets are written."""
    latest = _latest_facets(connection, list(tags))
    changed = {
        owner: one for owner, one in tags.items() if latest.get(owner, (one.at, one.digest)) <= (one.at, one.digest)
    }
    outdated = [owner for owner, one in changed.items() if latest.get(owner) != (one.at, one.digest)]
    if outdated:
        connection.execute(_FORGET, [{"dataset": dataset, "job": job} for dataset, job in outdated])
    put_tags(connection, [(owner, one.at, tag) for owner, one in changed.items() for tag in _distinct(one.tags)])


def put_tags(connection: Connection, tags: Sequence[tuple[Owner, int, Tagging]]) -> None:
    """Write tags with the moment they were put; those of people replace those of facets, and stay."""
    texts = {(tag.tag, tag.value): tag_key(tag.tag) for _, _, tag in tags}
    _add_texts(connection, [(key_of(*text_of_tag), key, *text_of_tag) for text_of_tag, key in texts.items()])
    for is_people, put in ((True, _PUT_BY_PEOPLE), (False, _PUT_BY_FACET)):
        some = [one for one in tags if (one[2].source in PEOPLE) == is_people]
        # Datasets that are merged may have one tag each: of equal ones the last stays, as a statement takes a row once.
        put(connection, list({(owner, tag.key): _row(owner, at, tag) for owner, at, tag in some}.values()))


def _row(owner: Owner, at: int, tag: Tagging) -> tuple[Any, ...]:
    return (*owner, tag.field_id, tag.path, tag_key(tag.tag), tag.tag, tag.value, tag.source, at)


def _latest_facets(connection: Connection, owners: list[Owner]) -> dict[Owner, tuple[int, bytes]]:
    """The moment and the event of the latest facet with tags of each owner."""
    facet = schema.facet
    question = select(facet).where(facet.c.name == FACET)
    found: dict[Owner, tuple[int, bytes]] = {}
    for mine, other, ids in (
        (facet.c.dataset_id, facet.c.job_id, [owner for owner, _ in owners if owner]),
        (facet.c.job_id, facet.c.dataset_id, [job for _, job in owners if job]),
    ):
        of_kind = question.where(other == 0)
        rows = rows_for(connection, ids, lambda some, of=of_kind, on=mine: of.where(on.in_(some)))  # type: ignore[misc]
        found |= {(row.dataset_id, row.job_id): (row.at, row.event_digest) for row in rows}
    return found


def _distinct(tags: frozenset[Tagging]) -> list[Tagging]:
    """Of equal tags of one field the one with the greatest value."""
    return list({tag.key: tag for tag in sorted(tags)}.values())


def _add_texts(connection: Connection, rows: Sequence[tuple[bytes, bytes, str, str]]) -> None:
    """Add tags with their values that are not there yet, each with its key and that of the tag."""
    mine = {row[0]: row for row in rows}
    present = rows_for(connection, mine, lambda some: select(_TEXT.c.key).where(_TEXT.c.key.in_(some)))
    new = mine.keys() - {row.key for row in present}
    _NEW_TEXT(connection, [mine[key] for key in sorted(new)])


_KEY = ("dataset_id", "job_id", "field_id", "path", "tag_key")
_VALUES = ("tag", "value", "source", "at")


def _replace(new: Upsert) -> Insert:
    return new.on_conflict_do_update(index_elements=_KEY, set_={name: new.excluded[name] for name in _VALUES})


def _replace_lesser(new: Upsert) -> Insert:
    greater = and_(_OF_FACETS, new.excluded.value > _TAGGING.c.value)
    values = {name: new.excluded[name] for name in _VALUES}
    return new.on_conflict_do_update(index_elements=_KEY, set_=values, where=greater)


_PUT_BY_PEOPLE = Addition(_TAGGING, (*_KEY, *_VALUES), _replace)
_PUT_BY_FACET = Addition(_TAGGING, (*_KEY, *_VALUES), _replace_lesser)
_NEW_TEXT = Addition(_TEXT, ("key", "tag_key", "tag", "value"), lambda new: new.on_conflict_do_nothing())
