"""Moments as people name them, and which state a store is in."""

import re
from uuid import UUID

from sqlalchemy import Connection, func, or_, select

from headwater.errors import QuestionError, UnknownName
from headwater.model.time import parse_iso
from headwater.store import schema
from headwater.store.read_model.visibility import runs_seen
from headwater.store.store import Store

_RUN = schema.run
_LINEAGE = schema.lineage
_LATEST = [
    select(column).order_by(schema.event.c.id.desc()).limit(1) for column in (schema.event.c.id, schema.event.c.digest)
]
_HIDDEN = [
    select(number).where(hidden.is_not(None))
    for hidden in (schema.dataset.c.hidden_at, schema.job.c.hidden_at)
    for number in (func.count(), func.max(hidden))
]
_STATE = select(*(one.scalar_subquery() for one in (*_LATEST, *_HIDDEN)))
_LOST_PLUS = re.compile(r"(?<=[\d.]) (?=\d\d:?\d\d$)")  # "+" in a URL's query means a space


def moment_of(store: Store, text: str) -> int:
    """A moment in microseconds since 1970: of an ISO 8601 time (UTC unless it says else), or of a run.

    That of a run is the first at which all lineage of the run, and of those it started, held.

    Raises:
        QuestionError: it is neither.
        UnknownName: no run of that id has an event.
    """
    try:
        run = str(UUID(text))
    except ValueError:
        return _of_time(text)
    with store.read() as connection:
        found = _of_run(connection, run)
    if found is None:
        raise UnknownName(f"No run has the id {run}: expected one that the store knows, or a time.")
    return found


def state_of(connection: Connection) -> str:
    """A text that is another whenever an answer may be another: for as long as it stays, answers stay.

    It looks at the latest event, and at what deletions leave behind; neither reads more than a few pages.
    """
    return repr(tuple(connection.execute(_STATE).one()))


def _of_time(text: str) -> int:
    try:
        return parse_iso(_LOST_PLUS.sub("+", text))
    except (ValueError, OverflowError):
        raise QuestionError(
            f"{text[:100]!r} is no moment: expected an ISO 8601 time such as 2026-01-31T12:00:00Z, or the id of a run."
        ) from None


def _of_run(connection: Connection, run: str) -> int | None:
    known = select(_RUN.c.id, _RUN.c.state_at, _RUN.c.state).where(or_(_RUN.c.uuid == run, _RUN.c.shown == run))
    mine = connection.execute(known.where(runs_seen(connection)).order_by(_RUN.c.id).limit(1)).first()
    if mine is None:
        return None
    family = select(_RUN.c.id).where(or_(_RUN.c.id == mine.id, _RUN.c.parent_id == mine.id))
    held = connection.execute(select(func.max(_LINEAGE.c.at)).where(_LINEAGE.c.run_id.in_(family))).scalar()
    return held if held is not None else mine.state_at if mine.state else None
