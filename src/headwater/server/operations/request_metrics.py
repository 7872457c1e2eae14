"""A line in the log and metrics for each request, without any of its content."""

import logging
import re
import time
import uuid
from dataclasses import dataclass, field

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.operations.metrics import Metrics
from headwater.server.problems import problem

_ID = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_QUIET = ("/health", "/ready", "/metrics")
_log = structlog.wrap_logger(logging.getLogger("headwater.requests"))


class RequestMetrics:
    """ASGI middleware, the outermost: it gives each request an id, counts and logs it, and answers when all else fails.

    The id is that of ``X-Request-ID``, if it has the form of one, and goes back in the same header.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope.setdefault("state", {})
        header = Headers(scope=scope).get("x-request-id", "")
        response = _Response(send, header if _ID.fullmatch(header) else uuid.uuid4().hex)
        try:
            await self._app(scope, receive, response.send)
        except ClientDisconnect:
            pass  # before the whole body had come: there is nobody to answer
        except Exception:
            _log.exception("failed", request_id=response.id, route=_route(scope))
            if not response.status:
                again = f"The server failed; its log says why, under the request id {response.id}."
                await problem(500, again)(scope, receive, response.send)
        finally:
            self._note(scope, response)

    def _note(self, scope: Scope, response: "_Response") -> None:
        route, seconds = _route(scope), time.perf_counter() - response.began
        self._metrics.count_request(route, scope["method"], response.status, seconds)
        (_log.debug if route in _QUIET else _log.info)(
            "request",
            method=scope["method"],
            route=route,
            status=response.status,
            ms=round(seconds * 1000, 1),
            caller=scope["state"].get("caller", "-"),
            request_id=response.id,
        )


@dataclass(slots=True)
class _Response:
    """A response; its status is 0 when the client went away before one was sent."""

    forward: Send
    id: str
    status: int = 0
    began: float = field(default_factory=time.perf_counter)

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)["X-Request-ID"] = self.id
        await self.forward(message)


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", "") or "unmatched"
