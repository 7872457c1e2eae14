"""Tags: what people say that they mean, and where they are put."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Connection, delete, func, insert, literal, or_, select, true, union_all, update

from headwater.store import schema
from headwater.store.ingest.tags import Owner, Tagging, put_tags, tag_key
from headwater.store.read_model.pages import Listing, Page, paged, seen
from headwater.store.read_model.visibility import Sees
from headwater.store.sql.databases import rows_for

_TAG = schema.tag
_TAGGING = schema.tagging


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag and what people say that it means."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of a dataset or a job, and those of its fields by id, each in alphabetical order."""

    own: tuple[str, ...] = ()
    fields: dict[int, tuple[str, ...]] = field(default_factory=dict)


def listing(connection: Connection, page: Page, sees: Sees = None) -> Listing[Tag]:
    """The tags by name: those that somebody described, and those that are only used.

    Who sees some namespaces only sees the tags that are on something in them: what others do changes nothing of that.
    """
    mine = select(_TAGGING.c.tag_key).where(_on_seen(connection, sees))
    used = select(func.min(_TAGGING.c.tag).label("name"), literal("").label("description"))
    used = used.where(_TAGGING.c.tag_key.not_in(select(_TAG.c.key)), _TAGGING.c.tag_key.in_(mine))
    described = select(_TAG.c.name, _TAG.c.description)
    described = described if sees is None else described.where(_TAG.c.key.in_(mine))
    every = union_all(described, used.group_by(_TAGGING.c.tag_key)).subquery()
    found = paged(connection, select(every).order_by(every.c.name), page)
    return Listing(tuple(Tag(row.name, row.description) for row in found.items), found.total)


def _on_seen(connection: Connection, sees: Sees) -> ColumnElement[bool]:
    if sees is None:
        return true()
    dataset, job = schema.dataset.c, schema.job.c
    return or_(
        _TAGGING.c.dataset_id.in_(select(dataset.id).where(seen(connection, dataset.namespace, sees))),
        _TAGGING.c.job_id.in_(select(job.id).where(seen(connection, job.namespace, sees))),
    )


def describe(connection: Connection, tag: Tag) -> Tag:
    """Makes a tag known; without a description it keeps the one that it has. As it is then."""
    mine = _TAG.c.key == tag_key(tag.name)
    known = connection.execute(select(_TAG.c.name, _TAG.c.description).where(mine)).first()
    if known is None:
        row = {"key": tag_key(tag.name), "name": tag.name, "description": tag.description}
        connection.execute(insert(_TAG), row)
        return tag
    if tag.description:
        connection.execute(update(_TAG).where(mine).values(description=tag.description))
    return Tag(known.name, tag.description or known.description)


def add(connection: Connection, owner: Owner, tags: Iterable[str], at: int, field_id: int = 0) -> None:
    """Puts tags on a dataset, a field of it, or a job; they stay until somebody takes them off."""
    put_tags(connection, [(owner, at, Tagging(field_id, tag)) for tag in tags])


def remove(connection: Connection, owner: Owner, tag: str, field_id: int = 0, path: str = "") -> None:
    """Takes a tag off, whoever put it; one that events have comes again with the next facet."""
    place = {"dataset_id": owner[0], "job_id": owner[1], "field_id": field_id, "path": path, "tag_key": tag_key(tag)}
    connection.execute(delete(_TAGGING).where(*(_TAGGING.c[name] == value for name, value in place.items())))


def of_datasets(connection: Connection, ids: Collection[int]) -> dict[int, Tags]:
    """The tags of datasets and of their fields."""
    return _of(connection, ids, _TAGGING.c.dataset_id)


def of_jobs(connection: Connection, ids: Collection[int]) -> dict[int, Tags]:
    """The tags of jobs."""
    return _of(connection, ids, _TAGGING.c.job_id)


def _of(connection: Connection, ids: Collection[int], owner: ColumnElement[int]) -> dict[int, Tags]:
    question = select(owner.label("owner"), _TAGGING.c.field_id, _TAGGING.c.tag).order_by(_TAGGING.c.tag)
    question = question.where(_TAGGING.c.path == "")
    found: dict[int, dict[int, list[str]]] = {one: {} for one in ids}
    for row in rows_for(connection, ids, lambda some: question.where(owner.in_(some))):
        found[row.owner].setdefault(row.field_id, []).append(row.tag)
    return {
        one: Tags(tuple(of_fields.pop(0, ())), {field_id: tuple(tags) for field_id, tags in of_fields.items()})
        for one, of_fields in found.items()
    }
