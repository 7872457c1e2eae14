"""``changes``: server-sent events when lineage changes.

Each server process polls the store, so that its streams have the events that other processes wrote as well.
"""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator
from dataclasses import replace
from hashlib import blake2b
from typing import Annotated, Any

import orjson
from anyio import Event, move_on_after
from cryptography.fernet import Fernet, InvalidToken
from fastapi import APIRouter, Header
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from headwater.answers.documents import Document, of_dataset, of_job
from headwater.errors import QuestionError, StoreError
from headwater.model.time import iso
from headwater.server.auth.access import Caller
from headwater.server.columns import list_schemas
from headwater.server.columns.replies import LineageQuestion, Question
from headwater.server.routes import GuardedRoute
from headwater.store.questions import Change, changes_after, latest_event

router = APIRouter(prefix="/api/v2", tags=["columns"], route_class=GuardedRoute, responses={400: {}})
EVERY = 1.0  # seconds between two looks at the store
GRACE = 5.0  # seconds that a stream may take to end when the server does
HEARTBEAT = 15  # seconds; proxies close what is silent for longer, often after 60
_MOST = 2**63 - 1  # of an id
_LONGEST = 20  # digits of one

STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": list_schemas.Change,
        "description": "Events `lineage` with such data, after one `begin` without any.",
    }
}

LastEvent = Annotated[
    str | None,
    Header(alias="Last-Event-ID", description="The id of the last event that was read: the stream starts after it."),
]


@router.get("/changes", response_class=EventSourceResponse, operation_id="changes", responses=STREAMED)
async def changes(question: LineageQuestion, last_event_id: LastEvent = None) -> EventSourceResponse:
    """Stream an event for each output of a job whose lineage changed, or became known.

    The first event, ``begin``, says where the stream starts. A client that comes back with the last id that it read
    misses nothing; it may get a change twice. The stream ends with the server, and within five seconds when its key
    is revoked or expires.
    """
    latest = await asyncio.to_thread(latest_event, question.store)
    begin = event_of(last_event_id, question.caller) if last_event_id else latest
    ending = Event()
    stream = _stream(question, begin, ending)
    return EventSourceResponse(stream, ping=HEARTBEAT, shutdown_event=ending, shutdown_grace_period=GRACE)


async def _stream(question: Question, begin: int, ending: Event) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent("{}", event="begin", id=stream_id(begin, question.caller))
    read = begin
    while not ending.is_set() and await asyncio.to_thread(_admitted, question):
        try:
            latest, found = await asyncio.to_thread(changes_after, question.store, read)
        except StoreError:
            # A database that restarts; the stream goes on where it was.
            latest, found = read, ()
        for event in _events(question, found, latest):
            yield event
        if latest == read:
            with move_on_after(EVERY):
                await ending.wait()
        read = latest


def _admitted(question: Question) -> bool:
    """Whether the key or token that began the stream is still valid, as far as it can be looked up now."""
    try:
        question.server.authentication.caller(question.request)
    except HTTPException:
        return False
    except StoreError:
        pass
    return True


def _events(question: Question, changes: tuple[Change, ...], latest: int) -> list[ServerSentEvent]:
    """Return events of which only the last has an id: a client that is cut off before it gets all of them again."""
    hides = question.redaction.hides
    seen = (replace(one, run="") if hides(one.job) else one for one in changes if not hides(one.output))
    texts = [orjson.dumps(of_change(question.redacted(one))).decode() for one in seen]
    ids = [None] * (len(texts) - 1) + [stream_id(latest, question.caller)]
    return [ServerSentEvent(text, event="lineage", id=id_) for text, id_ in zip(texts, ids, strict=False)]


def of_change(change: Change) -> Document:
    """Return a change: the output, the run, the moment, and the numbers of edges."""
    return {
        "change": "first" if change.first else "changed",
        "job": of_job(change.job),
        "output": of_dataset(change.output),
        "run": change.run,
        "at": iso(change.at),
        "edges": {"now": change.edges, "added": change.added, "removed": change.removed},
    }


def stream_id(event: int, caller: Caller) -> str:
    """Return the id of an event of the stream: those of the store count what everybody writes, so some are sealed."""
    return str(event) if caller.sees_all or not event else _seal(caller).encrypt(str(event).encode()).decode()


def event_of(text: str, caller: Caller) -> int:
    """Return the event with an id of the stream.

    Raises:
        QuestionError: the caller got no such id.
    """
    try:
        plain = text if caller.sees_all or text == "0" else _seal(caller).decrypt(text).decode()
    except InvalidToken:
        plain = ""
    number = int(plain) if plain.isascii() and plain.isdigit() and len(plain) <= _LONGEST else _MOST + 1
    if number > _MOST:
        raise QuestionError(f"Last-Event-ID is {text[:50]!r}: expected the id of an event of this stream.")
    return number


def _seal(caller: Caller) -> Fernet:
    return Fernet(urlsafe_b64encode(blake2b(caller.secret, digest_size=32, person=b"stream").digest()))
