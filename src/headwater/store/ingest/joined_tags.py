"""The tags of two datasets that turned out to be one."""

from sqlalchemy import delete, select

from headwater.model.time import BEGINNING
from headwater.store import schema
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.taggings import API, FACET, Tagging, ToldTags, put

_TAGGING = schema.tagging
_FIELD = schema.field


def merge_tags(writer: Writer, kept: int, gone: int) -> None:
    """Gives the tags of a dataset to another which it turned out to be; to be called before its facets and fields."""
    connection, tagging, facet = writer.connection, _TAGGING, schema.facet
    mine = select(tagging, _FIELD.c.name.label("field")).outerjoin(_FIELD, _FIELD.c.id == tagging.c.field_id)
    told: set[Tagging] = set()
    for row in connection.execute(mine.where(tagging.c.dataset_id == gone)).all():
        field_id = writer.field(kept, row.field, BEGINNING) if row.field else 0
        tag = Tagging(field_id, row.tag, row.value, row.source)
        if row.source == API:
            put(connection, [((kept, 0), row.at, tag)])
        else:
            told.add(tag)
    last = select(facet.c.at, facet.c.event_digest).where(facet.c.dataset_id == gone, facet.c.name == FACET)
    found = connection.execute(last).first()
    if found is not None:
        writer.pending.tags((kept, 0), ToldTags(found.at, found.event_digest, frozenset(told)))
    connection.execute(delete(tagging).where(tagging.c.dataset_id == gone))
