"""Routes that look at who asks before anything of the body is read, and HEAD wherever there is GET.

FastAPI reads and parses a body before it calls the dependencies of a route: whoever has no key would have the server
unpack and parse what they like. So these routes find the caller, count the request and compare the scopes first.
"""

from collections.abc import Callable, Coroutine, Iterator
from typing import Any

from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.access import Caller, Requires
from headwater.server.request_bodies import limit_body

DESCRIPTION_LIMIT = 4 * 2**20
"""Bytes of the bodies that are parsed by FastAPI: somebody describes a dataset or a job, or begins a run."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class GuardedRoute(APIRoute):
    """A route whose `Requires` dependencies are checked before its body is read."""

    def get_route_handler(self) -> Handler:
        """The handler, which answers 401, 403 or 429 without a look at the body."""
        handle = super().get_route_handler()
        requirements = tuple(requirements_of(self.dependant))
        if not requirements:
            return handle
        limit = DESCRIPTION_LIMIT if self.body_field is not None else None

        async def guarded(request: Request) -> Response:
            if request.app.state.server.authentication.is_at_hand(request):
                _admit(request, requirements)
            else:  # a key is looked up in the store, a token's keys at its issuer
                await run_in_threadpool(_admit, request, requirements)
            if limit is not None:
                limit_body(request.scope, limit)
            return await handle(request)

        return guarded


def _admit(request: Request, requirements: tuple[Requires, ...]) -> None:
    """Finds the caller of a request, who is its ``state.identity`` from then on.

    Raises:
        HTTPException: 401 without a valid key or token, 403 with one that may not, 429 when there are too many
            requests.
    """
    caller: Caller = request.app.state.server.caller(request)
    for one in requirements:
        one.check(caller)
    request.state.identity = caller


def requirements_of(dependant: Dependant) -> Iterator[Requires]:
    """The requirements of a route, those of its dependencies included."""
    for one in dependant.dependencies:
        if isinstance(one.call, Requires):
            yield one.call
        yield from requirements_of(one)


class HeadRequests:
    """ASGI middleware: answers HEAD as GET, without the content (RFC 9110, section 9.3.2)."""

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
            return {"type": "http.disconnect"} if ended else await receive()  # a stream without end ends by it

        scope["method"] = "GET"  # in place, because the route is noted in the scope for all to see
        try:
            await self._app(scope, receive_until_ended, send_head)
        finally:
            scope["method"] = "HEAD"
