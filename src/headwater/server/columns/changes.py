"""``changes``: server-sent events when lineage changes.

Each server process looks at the store itself, so that it tells of what other processes took in as well.
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
from headwater.server.columns import list_schemas
from headwater.server.columns.replies import Asked, Question
from headwater.server.routes import GuardedRoute
from headwater.store.questions import Change, changes_after, iso, latest_event

router = APIRouter(prefix="/api/v2", tags=["columns"], route_class=GuardedRoute, responses={400: {}})
EVERY = 1.0  # seconds between two looks at the store
GRACE = 5.0  # seconds that a stream may take to end when the server does
HEARTBEAT = 15  # seconds; proxies close what is silent for longer, often after 60
_MOST = 2**63 - 1  # of an id
_LONGEST = 20  # digits of one
_HALF = 2**32
_ROUNDS = range(4)  # of keyed functions; a permutation that nobody tells from chance (Luby and Rackoff)

STREAMED: dict[int | str, dict[str, Any]] = {
    200: {
        "model": list_schemas.Change,
        "description": "Events `lineage` with such data, after one `begin` without any.",
    }
}

LastEvent = Annotated[
    str | None, Header(alias="Last-Event-ID", description="The id of the last event that was read: tells all after it.")
]


@router.get("/changes", response_class=EventSourceResponse, operation_id="changes", responses=STREAMED)
async def changes(asked: Asked, last_event_id: LastEvent = None) -> EventSourceResponse:
    """A stream of events, each a job's output whose lineage changed or was first told.

    The first event, ``begin``, says from where on the stream tells. A client that comes back with the last id that it
    read misses nothing; it may be told of a change twice. It ends with the server, and within five seconds when its key
    is revoked or expires.
    """
    latest = await asyncio.to_thread(latest_event, asked.store)
    begin = _id(last_event_id, asked, latest) if last_event_id else latest
    ending = Event()
    stream = _stream(asked, begin, ending)
    return EventSourceResponse(stream, ping=HEARTBEAT, shutdown_event=ending, shutdown_grace_period=GRACE)


async def _stream(asked: Question, begin: int, ending: Event) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent("{}", event="begin", id=_shown_id(begin, asked))
    read = begin
    while not ending.is_set() and await asyncio.to_thread(_admitted, asked):
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


def _admitted(asked: Question) -> bool:
    """Whether the key or token that began the stream is still valid, as far as it can be looked up now."""
    try:
        asked.server.authentication.caller(asked.request)
    except HTTPException:
        return False
    except StoreError:
        pass
    return True


def _told(asked: Question, found: tuple[Change, ...], latest: int) -> list[ServerSentEvent]:
    """Events of which only the last has an id: who is cut off before it is told all of them again."""
    seen = [asked.shown(one) for one in found if not asked.redaction.hides(one.output)]
    texts = [orjson.dumps(of_change(one)).decode() for one in seen]
    ids = [None] * (len(texts) - 1) + [_shown_id(latest, asked)]
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


def _shown_id(event: int, asked: Question) -> str:
    """The id of an event of the stream. Those of the store count what everybody writes, so some callers get others."""
    return str(event if asked.caller.sees_all else Permutation(asked.caller.secret).of(event))


def _id(text: str, asked: Question, latest: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST else _MOST + 1
    if not asked.caller.sees_all and 0 < number <= 2**64 - 1:
        number = Permutation(asked.caller.secret).before(number)
        number = number if number <= latest else _MOST + 1
    if number > _MOST:
        raise QuestionError(f"Last-Event-ID {text[:50]!r} is none of ours: expected the id of an event of this stream.")
    return number


@dataclass(frozen=True, slots=True)
class Permutation:
    """A permutation of the numbers from 1 to 2**64 - 1 that a secret chooses; 0 stays what it is.

    Of what counts something whoever has not the secret learns neither order nor distance.
    """

    secret: bytes

    def of(self, number: int) -> int:
        """The number that stands for another."""
        return self._walked(number, forward=True)

    def before(self, number: int) -> int:
        """The number that one stands for."""
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
        told = bytes([step]) + half.to_bytes(4, "big")
        return int.from_bytes(blake2b(told, digest_size=4, key=self.secret, person=b"stream").digest(), "big")
