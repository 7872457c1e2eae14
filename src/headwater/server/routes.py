"""Routes that check the caller before the body is read, and HEAD wherever there is GET.

FastAPI reads and parses a body before it calls the dependencies of a route: callers without a key could make the server
unpack and parse what they like. So these routes find the caller, count the request and compare the scopes first.
"""

from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.auth.access import Caller, Requires
from headwater.server.limits.request_bodies import limit_body

DESCRIPTION_LIMIT = 4 * 2**20
"""Bytes of the bodies that FastAPI parses: descriptions of datasets and jobs, and new runs."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class GuardedRoute(APIRoute):
    """A route whose `Requires` dependencies are checked before its body is read."""

    def get_route_handler(self) -> Handler:
        """Return the handler, which answers 401, 403 or 429 without reading the body."""
        handle = super().get_route_handler()
        requirements = tuple(requirements_of(self.dependant))
        if not requirements:
            return handle
        limit = DESCRIPTION_LIMIT if self.body_field is not None else None

        async def guarded(request: Request) -> Response:
            if request.app.state.server.authentication.is_cached(request):
                _admit(request, requirements)
            else:  # a key is looked up in the store, a token's keys at its issuer
                await run_in_threadpool(_admit, request, requirements)
            if limit is not None:
                limit_body(request.scope, limit)
            return await handle(request)

        return guarded


def _admit(request: Request, requirements: tuple[Requires, ...]) -> None:
    """Find the caller of a request, and store it as its ``state.identity``.

    Raises:
        HTTPException: 401 without a valid key or token, 403 with one that may not do this, 429 after too many
            requests.
    """
    caller: Caller = request.app.state.server.caller(request)
    for one in requirements:
        one.check(caller)
    request.state.identity = caller


def requirements_of(dependant: Dependant) -> Iterator[Requires]:
    """Return the requirements of a route, with those of its dependencies."""
    for one in dependant.dependencies:
        if isinstance(one.call, Requires):
            yield one.call
        yield from requirements_of(one)


class HeadRequests:
    """ASGI middleware that answers HEAD as GET, without the content (RFC 9110, section 9.3.2)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        ended = False

        async def send_head(message: Message) -> None:
            nonlocal ended
            if message["type"] == "http.response.start":
                await send(message)
            elif not ended:
                ended = True
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        async def receive_until_ended() -> Message:
            return {"type": "http.disconnect"} if ended else await receive()  # ends an endless stream

        scope["method"] = "GET"  # in place, because middleware reads the route from the same scope
        try:
            await self._app(scope, receive_until_ended, send_head)
        finally:
            scope["method"] = "HEAD"
