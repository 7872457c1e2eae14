"""Which edges were written, in the order of writing: what a copy of them in memory is kept current by."""

import secrets
from collections.abc import Iterable
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, func, select

from headwater.store import schema
from headwater.store.sql.rows import add_rows

Pair = tuple[int, int]
"""A job and one of its output datasets."""

EVERYTHING: Pair = (0, 0)
"""Noted where datasets became one, or others: more than the edges of some pairs has changed then."""

MOST = 1_000
"""Changes that are followed one by one; behind more of them all edges are read again."""

_LOG = schema.edge_change
_LAST = select(_LOG.c.id, _LOG.c.mark).order_by(_LOG.c.id.desc()).limit(1)
_SINCE = select(_LOG.c.id, _LOG.c.mark, _LOG.c.job_id, _LOG.c.output_id).where(_LOG.c.id >= bindparam("since"))
_SINCE = _SINCE.order_by(_LOG.c.id).limit(MOST + 1)
_FIRST_EVENT = select(schema.event.c.digest).order_by(schema.event.c.id).limit(1)


class Version(NamedTuple):
    """A state of the edges: the last change, and a random number, which a restored store does not have.

    Before the first change the number is that of the first event.
    """

    id: int
    mark: int


def note(connection: Connection, pairs: Iterable[Pair]) -> None:
    """Says in the transaction that writes them that the edges of (job, output) pairs may be others now."""
    rows = [(secrets.randbits(62), job, output) for job, output in pairs]
    add_rows(connection, _LOG, ("mark", "job_id", "output_id"), rows)


def trim(connection: Connection) -> None:
    """Forgets all but the latest changes; who knows the state before them reads all edges again."""
    last = select(func.max(_LOG.c.id)).scalar_subquery()
    connection.execute(delete(_LOG).where(_LOG.c.id < last - MOST))


def version_of(connection: Connection) -> Version:
    """The state that a connection sees."""
    last = connection.execute(_LAST).first()
    return _before_the_first(connection) if last is None else Version(*last)


def changed_since(connection: Connection, version: Version) -> set[Pair] | None:
    """Whose edges may have changed since a state; None when there are too many, or the log does not know the state."""
    rows = connection.execute(_SINCE, {"since": version.id}).all()
    if version.id:
        known = bool(rows) and Version(rows[0].id, rows[0].mark) == version
        rows = rows[1:]
    else:
        known = version == _before_the_first(connection) and all(row.id == 1 for row in rows[:1])
    return {(row.job_id, row.output_id) for row in rows} if known and len(rows) < MOST else None


def _before_the_first(connection: Connection) -> Version:
    return Version(0, int.from_bytes((connection.execute(_FIRST_EVENT).scalar() or b"")[:8]))
