"""How many events, jobs, datasets and sources there were in each of some spans of time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from sqlalchemy import Connection, Select, case, func, select

from headwater.store import schema
from headwater.store.catalog import moments
from headwater.store.catalog.jobs import shown as shown_jobs
from headwater.store.catalog.sources import every as known_sources
from headwater.store.questions.names import listed
from headwater.store.read_model.pages import seen
from headwater.store.read_model.visibility import Sees

_EVENT = schema.event
_RUN = schema.run
_JOB = schema.job
_DATASET = schema.dataset


@dataclass(frozen=True, slots=True)
class EventCounts:
    """The events of each type."""

    fail: int = 0
    start: int = 0
    complete: int = 0
    abort: int = 0


def events(connection: Connection, edges: Sequence[int], sees: Sees = None) -> tuple[EventCounts, ...]:
    """The events between each moment and the next; one less than there are moments."""
    counts = (func.count().filter(_EVENT.c.type == one) for one in ("FAIL", "START", "COMPLETE", "ABORT"))
    question = select(*counts)
    if sees is not None:
        question = question.join_from(_EVENT, _RUN, _RUN.c.id == _EVENT.c.run_id).join(_JOB, _JOB.c.id == _RUN.c.job_id)
        question = question.where(seen(connection, _JOB.c.namespace, sees))
    # A question for each span: to sort the events into spans takes longer than to count them.
    spans = (question.where(begin <= _EVENT.c.at, end > _EVENT.c.at) for begin, end in pairwise(edges))
    return tuple(EventCounts(*map(int, connection.execute(one).one())) for one in spans)


def datasets(connection: Connection, ends: Sequence[int], sees: Sees = None) -> tuple[int, ...]:
    """How many of the datasets that are listed were known before each moment; all of them before the last."""
    every = listed(connection, select(_DATASET.c.id, _DATASET.c.first_at, _DATASET.c.last_at))
    every = every.where(seen(connection, _DATASET.c.namespace, sees))
    return _before(connection, every, ends, moments.of_datasets)


def jobs(connection: Connection, ends: Sequence[int], sees: Sees = None) -> tuple[int, ...]:
    """How many of the jobs that are listed were known before each moment; all of them before the last."""
    every = shown_jobs(select(_JOB.c.id, _JOB.c.first_at, _JOB.c.last_at))
    every = every.where(seen(connection, _JOB.c.namespace, sees))
    return _before(connection, every, ends, moments.of_jobs)


def sources(connection: Connection, ends: Sequence[int], sees: Sees = None) -> tuple[int, ...]:
    """How many of the sources that are listed were known before each moment; all of them before the last."""
    known = known_sources(connection, sees).subquery()
    every = select(known.c.name, known.c.created_at.label("first_at"))
    return _before(connection, every, ends, lambda _, rows: {row.name: (0, 0) for row in rows})


Spans = Callable[[Connection, Sequence[Any]], Mapping[Any, moments.Span]]
"""When things of which no event says when were first and last named by others."""


def _before(connection: Connection, question: Select[Any], ends: Sequence[int], spans: Spans) -> tuple[int, ...]:
    """An event may be of the future: what it names is listed now, and counted at the end of now."""
    every = question.subquery()
    at = every.c.first_at
    known = (func.coalesce(func.sum(case((at < end, 1), else_=0)), 0) for end in ends[:-1])
    *counts, total = connection.execute(select(*known, func.count()).select_from(every)).one()
    undated = connection.execute(select(every).where(at.is_(None))).all()
    named = [first for first, _ in spans(connection, undated).values()]
    earlier = (int(count) + sum(first < end for first in named) for count, end in zip(counts, ends, strict=False))
    return (*earlier, int(total))
