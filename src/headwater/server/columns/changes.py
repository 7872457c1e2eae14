"""``changes``: server-sent events when lineage changes.

Each server process polls the store, so that its streams have the events that other processes wrote as well.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, Any

import orjson
from anyio import Event, move_on_after
from fastapi import APIRouter, Header
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from headwater.answers.documents import Document, of_dataset, of_job
from headwater.errors import QuestionError, StoreError
from headwater.model.time import iso
from headwater.server.columns import list_schemas
from headwater.server.columns.replies import AskedQuestion, Question
from headwater.server.routes import GuardedRoute
from headwater.store.questions import Change, changes_after, latest_event

router = APIRouter(prefix="/api/v2", tags=["columns"], route_class=GuardedRoute, responses={400: {}})
EVERY = 1.0  # seconds between two looks at the store
GRACE = 5.0  # seconds that a stream may take to end when the server does
HEARTBEAT = 15  # seconds; proxies close what is silent for longer, often after 60
_MOST = 2**63 - 1  # of an id
_LONGEST = 20  # digits of one
_HALF = 2**32
_ROUNDS = range(4)  # of keyed functions; a permutation that looks random (Luby and Rackoff)

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
async def changes(question: AskedQuestion, last_event_id: LastEvent = None) -> EventSourceResponse:
    """Stream an event for each output of a job whose lineage changed, or became known.

    The first event, ``begin``, says where the stream starts. A client that comes back with the last id that it read
    misses nothing; it may get a change twice. The stream ends with the server, and within five seconds when its key
    is revoked or expires.
    """
    latest = await asyncio.to_thread(latest_event, question.store)
    begin = _id(last_event_id, question, latest) if last_event_id else latest
    ending = Event()
    stream = _stream(question, begin, ending)
    return EventSourceResponse(stream, ping=HEARTBEAT, shutdown_event=ending, shutdown_grace_period=GRACE)


async def _stream(question: Question, begin: int, ending: Event) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent("{}", event="begin", id=_shown_id(begin, question))
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


def _events(question: Question, found: tuple[Change, ...], latest: int) -> list[ServerSentEvent]:
    """Return events of which only the last has an id: a client that is cut off before it gets all of them again."""
    seen = [question.redacted(one) for one in found if not question.redaction.hides(one.output)]
    texts = [orjson.dumps(of_change(one)).decode() for one in seen]
    ids = [None] * (len(texts) - 1) + [_shown_id(latest, question)]
    return [ServerSentEvent(text, event="lineage", id=id_) for text, id_ in zip(texts, ids, strict=False)]


def of_change(one: Change) -> Document:
    """Return a change: the output, the run, the moment, and the numbers of edges."""
    return {
        "change": "first" if one.first else "changed",
        "job": of_job(one.job),
        "output": of_dataset(one.output),
        "run": one.run,
        "at": iso(one.at),
        "edges": {"now": one.edges, "added": one.added, "removed": one.removed},
    }


def _shown_id(event: int, question: Question) -> str:
    """The id of an event of the stream. Those of the store count what everybody writes, so some callers get others."""
    return str(event if question.caller.sees_all else Permutation(question.caller.secret).of(event))


def _id(text: str, question: Question, latest: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST else _MOST + 1
    if not question.caller.sees_all and 0 < number <= 2**64 - 1:
        number = Permutation(question.caller.secret).before(number)
        number = number if number <= latest else _MOST + 1
    if number > _MOST:
        raise QuestionError(f"Last-Event-ID is {text[:50]!r}: expected the id of an event of this stream.")
    return number


@dataclass(frozen=True, slots=True)
class Permutation:
    """A permutation of the numbers from 1 to 2**64 - 1, keyed with a secret; 0 stays 0.

    Without the secret neither the order of two numbers nor their distance can be read from their images.
    """

    secret: bytes

    def of(self, number: int) -> int:
        """Return the image of a number."""
        return self._walked(number, forward=True)

    def before(self, number: int) -> int:
        """Return the number of which this is the image."""
        return self._walked(number, forward=False)

    def _walked(self, number: int, *, forward: bool) -> int:
        if number == 0:
            return 0
        found = self._permuted(number, forward=forward)
        # What stands for 0 elsewhere has another number before it: the walk goes on to that.
        return found if found else self._permuted(found, forward=forward)

    def _permuted(self, number: int, *, forward: bool) -> int:
        left, right = divmod(number, _HALF)
        for step in _ROUNDS if forward else reversed(_ROUNDS):
            if forward:
                left, right = right, left ^ self._mixed(step, right)
            else:
                left, right = right ^ self._mixed(step, left), left
        return left * _HALF + right

    def _mixed(self, step: int, half: int) -> int:
        message = bytes([step]) + half.to_bytes(4, "big")
        return int.from_bytes(blake2b(message, digest_size=4, key=self.secret, person=b"stream").digest(), "big")
