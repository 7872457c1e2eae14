"""Datasets, columns and jobs by names, tags, descriptions and SQL, in this order and in pages; and typing errors."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, literal, or_, select, true

from headwater.model import Job
from headwater.openlineage.reading.events import NO_JOB
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import Column, FoundPage, KnownDataset, Sees
from headwater.store.questions.names import listed
from headwater.store.read_model.pages import seen
from headwater.store.read_model.visibility import described_fields
from headwater.store.schema.text_index import described_with_words, tagged_with_words, with_words, words_of
from headwater.store.sql.databases import rows_for
from headwater.store.store import Store

_DATASET, _JOB, _FIELD, _NAME, _TAGGING = schema.dataset, schema.job, schema.field, schema.dataset_name, schema.tagging
_BEFORE, _AROUND = 60, 160
_SPACE = re.compile(r"\s+")


JOB_NAMES, TEXTS = (1, 0), (2, 0)
"""Where the names of jobs begin among the results, and what is not found by its name."""


class Place(str, Enum):
    """Where the words were found."""

    NAME = "name"
    TAG = "tag"
    DESCRIPTION = "description"
    SQL = "sql"


@dataclass(frozen=True, slots=True)
class FoundText:
    """A dataset, a column or a job, where the words were found, and a piece of that text."""

    about: KnownDataset | Column | Job
    place: Place
    excerpt: str = ""


class _Stage(NamedTuple):
    """The datasets, fields or jobs that one condition finds: the question, and what makes them of their ids."""

    question: Select[Any]
    found: Callable[[Connection, Sequence[int]], dict[int, FoundText]]


def find_texts(
    store: Store, query: str, most: int, *, after: tuple[int, int] = (0, 0), sees: Sees = None
) -> FoundPage[FoundText]:
    """Return what has a name that contains a text, or has all of its words, or beginnings of words, in a tag or a text.

    Each thing is found once, in the first of these places. Of what may not be seen nothing is found. The place in a
    page is a stage of the search and an id, so that what comes meanwhile moves nothing.
    """
    first, last = after
    found: list[tuple[int, int, FoundText]] = []
    with store.read() as connection:
        for number, stage in enumerate(_stages(connection, query, sees)):
            if number < first or len(found) > most:
                continue
            ids = _next_ids(connection, stage, last if number == first else 0, most + 1 - len(found))
            known = stage.found(connection, ids)
            found += [(number, id_, known[id_]) for id_ in ids]
    page = found[:most]
    return FoundPage(tuple(one for *_, one in page), page[-1][:2] if len(found) > most else None)


def _next_ids(connection: Connection, stage: _Stage, last: int, most: int) -> Sequence[int]:
    [id_] = stage.question.selected_columns
    return connection.execute(stage.question.where(id_ > last).order_by(id_).limit(most)).scalars().all()


def _stages(connection: Connection, query: str, sees: Sees) -> Iterator[_Stage]:
    datasets, fields, jobs = (visible_ids(connection, kind, sees) for kind in (_DATASET, _FIELD, _JOB))
    part = query.casefold().replace("/", ".")
    mine = select(_NAME.c.dataset_id).where(_NAME.c.folded.contains(part, autoescape=True))
    mine = mine.where(seen(connection, _NAME.c.namespace, sees))
    of_datasets: list[ColumnElement[bool]] = [_DATASET.c.id.in_(mine)]
    of_jobs: list[ColumnElement[bool]] = [func.lower(_JOB.c.name).contains(query.lower(), autoescape=True)]
    yield _Stage(datasets.where(*of_datasets), _datasets)
    yield _Stage(jobs.where(*of_jobs), _jobs)
    words = words_of(query)
    if not words:
        return
    tagged = {one: tagged_with_words(connection, words, one) for one in _TAGGING.c if one.name.endswith("_id")}
    on_dataset = tagged[_TAGGING.c.dataset_id].where(_TAGGING.c.field_id == 0)
    yield _Stage(_once(datasets, of_datasets, _DATASET.c.id.in_(on_dataset)), _tagged(_TAGGING.c.dataset_id, words))
    of_fields: list[ColumnElement[bool]] = []
    on_field = _FIELD.c.id.in_(tagged[_TAGGING.c.field_id])
    yield _Stage(_once(fields, of_fields, on_field), _tagged(_TAGGING.c.field_id, words))
    yield _Stage(_once(jobs, of_jobs, _JOB.c.id.in_(tagged[_TAGGING.c.job_id])), _tagged(_TAGGING.c.job_id, words))
    described = _DATASET.c.id.in_(with_words(connection, _DATASET, words))
    yield _Stage(_once(datasets, of_datasets, described), _with_texts(_DATASET, words))
    described = _FIELD.c.id.in_(described_with_words(connection, words, _FIELD.c.id))
    yield _Stage(_once(fields, of_fields, described), _with_texts(schema.field_description, words))
    described = _JOB.c.id.in_(with_words(connection, _JOB, words))
    yield _Stage(_once(jobs, of_jobs, described), _with_texts(_JOB, words))


def _once(question: Select[Any], before: list[ColumnElement[bool]], condition: ColumnElement[bool]) -> Select[Any]:
    """The question for what meets a condition and none of those before, to which it is added."""
    found = question.where(condition, *(~one for one in before))
    before.append(condition)
    return found


def visible_ids(connection: Connection, kind: Table, sees: Sees) -> Select[Any]:
    """Return the question for the ids of datasets, fields or jobs that lists show to somebody."""
    if kind is _JOB:
        known = select(_JOB.c.id).where(_JOB.c.name != NO_JOB.name, _JOB.c.hidden_at.is_(None))
        return known.where(seen(connection, _JOB.c.namespace, sees))
    datasets = listed(connection, select(_DATASET.c.id)).where(seen(connection, _DATASET.c.namespace, sees))
    fields = select(_FIELD.c.id).where(_FIELD.c.dataset_id.in_(datasets), described_fields(connection))
    return datasets if kind is _DATASET else fields


def _datasets(connection: Connection, ids: Sequence[int]) -> dict[int, FoundText]:
    return {id_: FoundText(one, Place.NAME) for id_, one in names.datasets(connection, ids).items()}


def _jobs(connection: Connection, ids: Sequence[int]) -> dict[int, FoundText]:
    return {id_: FoundText(one, Place.NAME) for id_, one in names.jobs(connection, ids).items()}


def _tagged(
    owner: ColumnElement[int], words: Sequence[str]
) -> Callable[[Connection, Sequence[int]], dict[int, FoundText]]:
    def found(connection: Connection, ids: Sequence[int]) -> dict[int, FoundText]:
        known: dict[int, Any] = _named(connection, owner, ids)
        tags: dict[int, str] = {}
        question = select(owner.label("owner"), _TAGGING.c.tag, _TAGGING.c.value).order_by(_TAGGING.c.tag)
        whole = _TAGGING.c.field_id == 0 if owner is _TAGGING.c.dataset_id else true()
        for row in rows_for(connection, ids, lambda some: question.where(and_(owner.in_(some), whole))):
            text = f"{row.tag}={row.value}" if row.value else row.tag
            if row.owner not in tags and all(_begins(text, word) for word in words):
                tags[row.owner] = text
        return {id_: FoundText(one, Place.TAG, tags.get(id_, "")) for id_, one in known.items()}

    return found


def _named(connection: Connection, owner: ColumnElement[int], ids: Sequence[int]) -> dict[int, Any]:
    if owner is _TAGGING.c.field_id:
        return {**names.columns(connection, ids)}
    return {**(names.jobs if owner is _TAGGING.c.job_id else names.datasets)(connection, ids)}


def _with_texts(table: Any, words: Sequence[str]) -> Callable[[Connection, Sequence[int]], dict[int, FoundText]]:
    def found(connection: Connection, ids: Sequence[int]) -> dict[int, FoundText]:
        known: dict[int, Any] = _OF_TEXTS[table](connection, ids)
        sql = table.c.sql if table is _JOB else literal("").label("sql")
        question = select(table.c.id, table.c.description, sql)
        rows = rows_for(connection, ids, lambda some: question.where(table.c.id.in_(some)))
        return {row.id: _in_text(known[row.id], row.description or "", row.sql or "", words) for row in rows}

    return found


def _in_text(about: KnownDataset | Column | Job, description: str, sql: str, words: Sequence[str]) -> FoundText:
    described = not sql or all(_begins(description, word) for word in words)
    place, text = (Place.DESCRIPTION, description) if described else (Place.SQL, sql)
    places = [found.start() for word in words if (found := _beginning(word).search(text))]
    begin = max(min(places, default=0) - _BEFORE, 0)
    return FoundText(about, place, _SPACE.sub(" ", text[begin : begin + _AROUND]).strip())


_OF_TEXTS: Mapping[Any, Callable[[Connection, Sequence[int]], dict[int, Any]]] = {
    _DATASET: names.datasets,
    schema.field_description: names.columns,
    _JOB: names.jobs,
}


def _begins(text: str, word: str) -> bool:
    return _beginning(word).search(text) is not None


def _beginning(word: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W_]){re.escape(word)}", re.IGNORECASE)


_WORD = re.compile(r"[^\W_]+")
_PART = re.compile(r"[A-Z]+[a-z]*|[a-z]+")  # of a name in camel case
_NAMES = 100_000  # of each kind; comparing a word takes 2 to 4 µs
_LENGTHS = range(4, 60)  # shorter words are like too many
_LIKE = 0.75


def corrected(store: Store, text: str, sees: Sees = None) -> str | None:
    """Return a text with the words that are in no name or tag replaced by those there that are most like them.

    None where no word is replaced. Names and tags that may not be seen are as if they were not there.
    """
    with store.read() as connection:
        known = {word.lower() for name in _names(connection, sees) for word in _words(name)}
    everything = "\n".join(known)

    def nearest(match: re.Match[str]) -> str:
        word = match[0].lower()
        if len(word) not in _LENGTHS or word in everything:
            return match[0]
        return next(iter(get_close_matches(word, known, n=1, cutoff=_LIKE)), match[0])

    other = _WORD.sub(nearest, text)
    return other if other != text else None


def _words(name: str) -> Iterator[str]:
    for word in _WORD.findall(name):
        yield word
        if not word.islower():
            yield from _PART.findall(word)


def _names(connection: Connection, sees: Sees) -> Iterator[str]:
    for question in _questions(connection, sees):
        yield from connection.execute(question.limit(_NAMES)).scalars()


def _questions(connection: Connection, sees: Sees) -> Iterator[Select[Any]]:
    field, name, job, tagging = schema.field, schema.dataset_name, schema.job, schema.tagging
    datasets, jobs = (visible_ids(connection, kind, sees) for kind in (schema.dataset, job))
    if sees is None:
        yield select(schema.field_name.c.name)
    else:
        yield select(field.c.name).where(field.c.dataset_id.in_(datasets), described_fields(connection)).distinct()
    visible = (name.c.dataset_id.in_(datasets), seen(connection, name.c.namespace, sees))
    yield select(name.c.name).where(*visible).order_by(name.c.id.desc())
    yield select(job.c.name).where(job.c.id.in_(jobs)).order_by(job.c.id.desc())
    tagged = or_(tagging.c.dataset_id.in_(datasets), tagging.c.job_id.in_(jobs))
    yield select(tagging.c.tag).where(tagged).distinct()
