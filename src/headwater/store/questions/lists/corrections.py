"""Typing errors: the words of a search as names and tags spell them."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from sqlalchemy import Connection, Select, or_, select

from headwater.store import schema
from headwater.store.questions.answers import Sees
from headwater.store.questions.lists.text_search import visible_ids
from headwater.store.read_model.pages import seen
from headwater.store.read_model.visibility import described_fields
from headwater.store.store import Store

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

    def nearest(found: re.Match[str]) -> str:
        word = found[0].lower()
        if len(word) not in _LENGTHS or word in everything:
            return found[0]
        return next(iter(get_close_matches(word, known, n=1, cutoff=_LIKE)), found[0])

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
