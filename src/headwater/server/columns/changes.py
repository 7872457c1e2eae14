"""``changes``: server-sent events when lineage changes.

Each server process looks at the store itself, so that it tells of what other processes took in as well.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import orjson
from anyio import Event, move_on_after
from fastapi import APIRouter, Header
from sse_starlette import EventSourceResponse, ServerSentEvent

from headwater.answers.documents import Document, of_dataset, of_job
from headwater.answers.hiding import is_hidden
from headwater.errors import QuestionError, StoreError
from headwater.server.columns.described import described
from headwater.server.columns.replies import Asked, Question
from headwater.server.routes import GuardedRoute
from headwater.store.questions import Change, changes_after, iso, latest_event

router = APIRouter(prefix="/api/v2", tags=["columns"], route_class=GuardedRoute)
EVERY = 1.0  # seconds between two looks at the store
GRACE = 5.0  # seconds that a stream may take to end when the server does
HEARTBEAT = 15  # seconds; proxies close what is silent for longer, often after 60
_MOST = 2**63 - 1  # of an id

LastEvent = Annotated[
    str | None, Header(alias="Last-Event-ID", description="The id of the last event that was read: tells all after it.")
]


@router.get("/changes", response_class=EventSourceResponse, **described("changes"))
async def changes(asked: Asked, last_event_id: LastEvent = None) -> EventSourceResponse:
    """A stream of events, each a job's output whose lineage changed or was first told.

    The first event, ``begin``, says from where on the stream tells. A client that comes back with the last id that it
    read misses nothing; it may be told of a change twice.
    """
    begin = _id(last_event_id) if last_event_id else await asyncio.to_thread(latest_event, asked.store)
    ending = Event()
    stream = _stream(asked, begin, ending)
    return EventSourceResponse(stream, ping=HEARTBEAT, shutdown_event=ending, shutdown_grace_period=GRACE)


async def _stream(asked: Question, begin: int, ending: Event) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent("{}", event="begin", id=str(begin))
    read = begin
    while not ending.is_set():
        try:
            latest, found = await asyncio.to_thread(changes_after, asked.store, read)
        except StoreError:
            # A database that restarts; the stream goes on where it was.
            latest, found = read, ()
        for event in _told(asked, found, latest):
            yield event
        if latest == read:
            with move_on_after(EVERY):
                await ending.wait()
        read = latest


def _told(asked: Question, found: tuple[Change, ...], latest: int) -> list[ServerSentEvent]:
    """Events of which only the last has an id: who is cut off before it is told all of them again."""
    seen = [asked.shown(one) for one in found if not is_hidden(one.output, asked.caller.sees)]
    texts = [orjson.dumps(of_change(one)).decode() for one in seen]
    ids = [None] * (len(texts) - 1) + [str(latest)]
    return [ServerSentEvent(text, event="lineage", id=id_) for text, id_ in zip(texts, ids, strict=False)]


def of_change(one: Change) -> Document:
    """What changed, by which run, from when on, and how many edges there are, came and went."""
    return {
        "change": "first" if one.first else "changed",
        "job": of_job(one.job),
        "output": of_dataset(one.output),
        "run": one.run,
        "at": iso(one.at),
        "edges": {"now": one.edges, "added": one.added, "removed": one.removed},
    }


def _id(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > _MOST:
        raise QuestionError(f"Last-Event-ID {text[:50]!r} is none of ours: expected the id of an event of this stream.")
    return int(text)
