"""Reading again the events that an older headwater took, which kept neither facets nor tags nor descriptions of them.

It goes on in small transactions beside servers, and where it ended when it was stopped: what an event says may be told
twice, because the latest word counts.
"""

import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, select, update

from headwater.errors import EventError
from headwater.openlineage.reading.events import Event, read_event
from headwater.store import schema
from headwater.store.ingest.describing import describe
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.loading import load
from headwater.store.ingest.recording import describe_job
from headwater.store.ingest.settling import settle
from headwater.store.ingest.stamping import stamp
from headwater.store.ingest.taggings import untold
from headwater.store.store import Store

AT_ONCE = 200
"""Events in one transaction: others wait for it."""

_EVENT = schema.event
_PLACE = schema.catch_up


def catch_up(store: Store) -> int:
    """Reads all of them again; how many there were.

    Raises:
        StoreError: the store cannot be written; what was read by then is kept.
    """
    return sum(iter(lambda: step(store), 0))


def step(store: Store) -> int:
    """Reads the next of them again, in one transaction; how many, 0 when none is left.

    Raises:
        StoreError: nothing was written.
    """
    if not remaining(store):
        return 0
    with store.write() as connection:
        place = connection.execute(select(_PLACE)).first()
        rows = [] if place is None else _next(connection, place)
        if rows:
            _tell(Writer(connection), rows)
            connection.execute(update(_PLACE).values(after=rows[-1].id))
        else:
            connection.execute(delete(_PLACE))
    return len(rows)


def remaining(store: Store) -> bool:
    """Whether there are events to be read again.

    Raises:
        StoreError: the store cannot be read.
    """
    with store.read() as connection:
        return connection.execute(select(_PLACE)).first() is not None


def _next(connection: Connection, place: Row[Any]) -> list[Row[Any]]:
    question: Select[Any] = select(_EVENT.c.id, _EVENT.c.run_id, _EVENT.c.payload)
    mine = question.where(_EVENT.c.id > place.after, _EVENT.c.id <= place.until)
    return list(connection.execute(mine.order_by(_EVENT.c.id).limit(AT_ONCE)).all())


def _tell(writer: Writer, rows: list[Row[Any]]) -> None:
    events = list(_events(rows))
    load(writer, [event for event, _ in events])
    for event, run_id in events:
        describe_job(writer, event, run_id)
        describe(writer, event, run_id)
        _flag(writer, event, run_id)
    # Tags that a newer headwater took from one of these people may have taken off since.
    writer.pending.keep_tags(writer.connection, untold)
    settle(writer)
    stamp(writer)


def _flag(writer: Writer, event: Event, run_id: int) -> None:
    """Lets the replacements of an event count, which older stores knew nothing of."""
    if event.replaces:
        mine = _EVENT.c.digest == event.digest
        writer.connection.execute(update(_EVENT).where(mine).values(has_lineage=True))
        writer.unsettled.add(run_id)


def _events(rows: list[Row[Any]]) -> Iterator[tuple[Event, int]]:
    for row in rows:
        with suppress(EventError):  # of what was taken once, and would not be now
            yield read_event(zlib.decompress(row.payload)), row.run_id
