"""A limit of time for answers to reads; what writes is never cut short."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.problems import RETRY, problem

_READS = ("GET", "HEAD")


class Deadline:
    """ASGI middleware: a read that has not begun to answer in time is answered by 503."""

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
        answer.given_up = True
        # A thread that asks the store cannot be stopped; the database ends its question after the same time.
        working.cancel()
        working.add_done_callback(_forget)
        late = f"No answer within {self._seconds:g} s. Ask for less, or raise --time-limit."
        await problem(503, late, RETRY)(scope, receive, send)


def _forget(working: "asyncio.Future[None]") -> None:
    """What becomes of it is of no interest, and asyncio need not complain of an error that nobody asks for."""
    if not working.cancelled():
        working.exception()


class _Answer:
    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False
        self.given_up = False

    async def send(self, message: Message) -> None:
        if not self.given_up:
            self.begun = True
            await self._send(message)
