"""Datasets and jobs whose names contain a text, or whose SQL, descriptions or tags have its words."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, literal, or_, select, union_all

from headwater.openlineage.reading.events import NO_JOB
from headwater.store import schema
from headwater.store.questions.names import listed
from headwater.store.read_model.pages import seen
from headwater.store.read_model.visibility import Sees
from headwater.store.schema.text_index import described_with_words, tagged_with_words, with_words, words_of

DATASET = "DATASET"
JOB = "JOB"

_DATASET = schema.dataset
_FIELD = schema.field
_JOB = schema.job
_TAGGING = schema.tagging


@dataclass(frozen=True, slots=True)
class Hit:
    """A dataset or a job."""

    kind: str
    namespace: str
    name: str
    updated_at: int


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search: ``text`` in names, where ``%`` and ``_`` stand for any text and any character, and its words in texts.

    ``kind`` is DATASET, JOB or empty for both; ``before`` and ``after`` bound the time of the last event.
    """

    text: str
    kind: str = ""
    namespace: str | None = None
    before: int | None = None
    after: int | None = None
    by_time: bool = False
    sees: Sees = None


def search(connection: Connection, query: SearchQuery, most: int) -> tuple[Hit, ...]:
    """At most so many hits: those of names, then those of texts; each by name, or the last updated first.

    Texts are the SQL and the description of a job, the descriptions of a dataset and its columns, and tags (Marquez,
    SearchDao, has names alone).
    """
    parts = []
    if query.kind in ("", DATASET):
        parts.append(listed(connection, _part(connection, query, DATASET)))
    if query.kind in ("", JOB):
        parts.append(_part(connection, query, JOB).where(_JOB.c.name != NO_JOB.name, _JOB.c.hidden_at.is_(None)))
    every = union_all(*parts).subquery()
    by_name = (every.c.name, every.c.namespace, every.c.kind)
    order = (every.c.at.desc(), *by_name) if query.by_time else by_name
    rows = connection.execute(select(every).order_by(every.c.rank, *order).limit(most))
    return tuple(Hit(row.kind, row.namespace, row.name, row.at) for row in rows)


def _part(connection: Connection, query: SearchQuery, kind: str) -> Select[tuple[object, ...]]:
    table = _DATASET if kind == DATASET else _JOB
    at = func.coalesce(table.c.last_at, 0)
    named = func.lower(table.c.name).like(f"%{query.text.lower()}%")
    rank = case((named, 0), else_=1).label("rank")
    columns = (literal(kind).label("kind"), table.c.namespace, table.c.name, at.label("at"), rank)
    found = or_(named, *_texts(connection, query, kind))
    return select(*columns).where(found, seen(connection, table.c.namespace, query.sees), _bounds(query, kind))


def _texts(connection: Connection, query: SearchQuery, kind: str) -> list[ColumnElement[bool]]:
    """That a text of a dataset or a job has all the words, or a tag on it, or the description of a column."""
    words = words_of(query.text)
    if not words:
        return []
    table, tagged = (_DATASET, _TAGGING.c.dataset_id) if kind == DATASET else (_JOB, _TAGGING.c.job_id)
    found = [with_words(connection, table, words), tagged_with_words(connection, words, tagged)]
    if kind == DATASET:
        found.append(described_with_words(connection, words, _FIELD.c.dataset_id))
    return [table.c.id.in_(one) for one in found]


def _bounds(query: SearchQuery, kind: str) -> ColumnElement[bool]:
    table = _DATASET if kind == DATASET else _JOB
    at = func.coalesce(table.c.last_at, 0)
    bounds = [
        table.c.namespace == query.namespace if query.namespace else None,
        at < query.before if query.before is not None else None,
        at > query.after if query.after is not None else None,
    ]
    return and_(True, *(one for one in bounds if one is not None))
