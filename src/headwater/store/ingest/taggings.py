"""The rows of tags: what a facet says gives way to a later facet, what people say stays until they take it back."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Insert, and_, bindparam, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from headwater.model.name_keys import key_of
from headwater.store import schema
from headwater.store.sql.rows import rows_for
from headwater.store.sql.text_search import add_tag_texts

API = "API"
"""The source of tags that people put, and no facet."""

FACET = "tags"
"""The facet's name: TagsDatasetFacet and TagsJobFacet 1-0-0."""

Owner = tuple[int, int]
"""The id of a dataset and 0, or 0 and the id of a job."""

_TAGGING = schema.tagging
_OWNED = (_TAGGING.c.dataset_id == bindparam("dataset"), _TAGGING.c.job_id == bindparam("job"))
_FORGET = delete(_TAGGING).where(*_OWNED, _TAGGING.c.source != API)


class Tagging(NamedTuple):
    """A tag on a dataset or job, or on a field (0 for none)."""

    field_id: int
    tag: str
    value: str = ""
    source: str = API

    @property
    def key(self) -> tuple[int, bytes]:
        """What there is at most one tag of; tags that differ in case only are one."""
        return self.field_id, tag_key(self.tag)


class ToldTags(NamedTuple):
    """All the tags that a facet gives, when it was told, and by which event."""

    at: int
    digest: bytes
    tags: frozenset[Tagging]

    def after(self, known: "ToldTags | None") -> "ToldTags":
        """The later of two; of one event, which may tell facets under several names, both."""
        if known is None or known[:2] < self[:2]:
            return self
        return known if known[:2] > self[:2] else self._replace(tags=self.tags | known.tags)


def tag_key(tag: str) -> bytes:
    """The key of a tag's name, whatever its case."""
    return key_of(tag.casefold())


def write_tags(connection: Connection, told: Mapping[Owner, ToldTags]) -> None:
    """Writes the tags of facets, except where a later facet has been told; to be called before the facets are noted."""
    known = _known(connection, list(told))
    news = {owner: one for owner, one in told.items() if known.get(owner, (one.at, one.digest)) <= (one.at, one.digest)}
    outdated = [owner for owner, one in news.items() if known.get(owner) != (one.at, one.digest)]
    if outdated:
        connection.execute(_FORGET, [{"dataset": dataset, "job": job} for dataset, job in outdated])
    put(connection, [(owner, one.at, tag) for owner, one in news.items() for tag in _distinct(one.tags)])


def put(connection: Connection, tags: Sequence[tuple[Owner, int, Tagging]]) -> None:
    """Writes tags with the moment they were put; those of people replace those of facets, and stay."""
    rows = [
        {
            "dataset_id": owner[0],
            "job_id": owner[1],
            "field_id": tag.field_id,
            "tag_key": tag_key(tag.tag),
            "tag": tag.tag,
            "value": tag.value,
            "source": tag.source,
            "at": at,
        }
        for owner, at, tag in tags
    ]
    texts = {(tag.tag, tag.value): tag_key(tag.tag) for _, _, tag in tags}
    add_tag_texts(connection, [(key_of(*said), key, *said) for said, key in texts.items()])
    for statement, some in (
        (_put_by_people(connection.dialect.name), [row for row in rows if row["source"] == API]),
        (_put_by_facet(connection.dialect.name), [row for row in rows if row["source"] != API]),
    ):
        if some:
            connection.execute(statement, some)


def _known(connection: Connection, owners: list[Owner]) -> dict[Owner, tuple[int, bytes]]:
    """When, and by which event, the tags of some owners were last told."""
    facet = schema.facet
    question = select(facet).where(facet.c.name == FACET)
    found: dict[Owner, tuple[int, bytes]] = {}
    for mine, other, ids in (
        (facet.c.dataset_id, facet.c.job_id, [dataset for dataset, _ in owners if dataset]),
        (facet.c.job_id, facet.c.dataset_id, [job for _, job in owners if job]),
    ):
        of_kind = question.where(other == 0)
        rows = rows_for(connection, ids, lambda some, of=of_kind, on=mine: of.where(on.in_(some)))  # type: ignore[misc]
        found |= {(row.dataset_id, row.job_id): (row.at, row.event_digest) for row in rows}
    return found


def _distinct(tags: frozenset[Tagging]) -> list[Tagging]:
    """Of equal tags of one field the one with the greatest value."""
    return list({tag.key: tag for tag in sorted(tags)}.values())


_KEY = ["dataset_id", "job_id", "field_id", "tag_key"]
_SAID = ("tag", "value", "source", "at")


@cache
def _put_by_people(dialect: str) -> Insert:
    statement = _inserting(dialect)
    return statement.on_conflict_do_update(index_elements=_KEY, set_={name: statement.excluded[name] for name in _SAID})


@cache
def _put_by_facet(dialect: str) -> Insert:
    statement = _inserting(dialect)
    greater = and_(_TAGGING.c.source != API, statement.excluded.value > _TAGGING.c.value)
    said: dict[str, Any] = {name: statement.excluded[name] for name in _SAID}
    return statement.on_conflict_do_update(index_elements=_KEY, set_=said, where=greater)


def _inserting(dialect: str) -> "postgresql.Insert | sqlite.Insert":
    return postgresql.insert(_TAGGING) if dialect == "postgresql" else sqlite.insert(_TAGGING)
