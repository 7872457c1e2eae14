"""A time limit for answers to reads; writes are never cut short."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.problems import RETRY, problem

_READS = ("GET", "HEAD")


class Deadline:
    """ASGI middleware that answers a read by 503 when its answer has not begun in time."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in _READS:
            await self._app(scope, receive, send)
            return
        answer = _Answer(send)
        working = asyncio.ensure_future(self._app(scope, receive, answer.send))
        try:
            await asyncio.wait({working}, timeout=self._seconds)
            if working.done() or answer.begun:
                await working
                return
        except asyncio.CancelledError:
            working.cancel()
            raise
        answer.abandoned = True
        # A thread that reads the store cannot be stopped; the database ends its query after the same time.
        working.cancel()
        working.add_done_callback(_forget)
        late = f"There was no answer within {self._seconds:g} s. Ask for less, or raise --time-limit."
        await problem(503, late, RETRY)(scope, receive, send)


def _forget(working: "asyncio.Future[None]") -> None:
    """Retrieve the error of an abandoned task: asyncio logs those that nothing retrieves."""
    if not working.cancelled():
        working.exception()


class _Answer:
    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False
        self.abandoned = False

    async def send(self, message: Message) -> None:
        if not self.abandoned:
            self.begun = True
            await self._send(message)
