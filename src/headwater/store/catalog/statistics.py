"""How many events, jobs, datasets and sources there were in each of some spans of time."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from sqlalchemy import ColumnElement, Connection, case, func, select, union_all

from headwater.store import schema
from headwater.store.catalog.pages import Sees, seen
from headwater.store.events import NO_JOB

_EVENT = schema.event
_RUN = schema.run
_JOB = schema.job
_DATASET = schema.dataset
_SOURCE = schema.source


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
    """How many datasets were known before each moment."""
    mine = seen(connection, _DATASET.c.namespace, sees) & _DATASET.c.hidden_at.is_(None)
    return _before(connection, _DATASET.c.first_at, ends, mine)


def jobs(connection: Connection, ends: Sequence[int], sees: Sees = None) -> tuple[int, ...]:
    """How many jobs were known before each moment."""
    mine = seen(connection, _JOB.c.namespace, sees) & _JOB.c.hidden_at.is_(None) & (_JOB.c.name != NO_JOB.name)
    return _before(connection, _JOB.c.first_at, ends, mine)


def sources(connection: Connection, ends: Sequence[int], sees: Sees = None) -> tuple[int, ...]:
    """How many sources were known before each moment."""
    told = select(_DATASET.c.source.label("name"), _DATASET.c.first_at.label("at"))
    told = told.where(_DATASET.c.source.is_not(None), seen(connection, _DATASET.c.namespace, sees))
    every = union_all(select(_SOURCE.c.name, _SOURCE.c.created_at.label("at")), told).subquery()
    first = select(func.min(every.c.at).label("at")).group_by(every.c.name).subquery()
    return _before(connection, first.c.at, ends, first.c.at.is_not(None))


def _before(
    connection: Connection, at: ColumnElement[int], ends: Sequence[int], mine: ColumnElement[bool]
) -> tuple[int, ...]:
    counts = (func.coalesce(func.sum(case((at < end, 1), else_=0)), 0) for end in ends)
    return tuple(int(count) for count in connection.execute(select(*counts).where(mine)).one())
