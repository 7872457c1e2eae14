"""One line in the log and one count for each request: never what is asked, sent or answered."""

import logging
import re
import time
import uuid
from dataclasses import dataclass, field

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.metrics import Metrics
from headwater.server.problems import problem

_ID = re.compile(r"[\w.:-]{1,100}", re.ASCII)
_QUIET = ("/health", "/ready", "/metrics")
_log = structlog.wrap_logger(logging.getLogger("headwater.requests"))


class Observed:
    """ASGI middleware, the outermost: gives each request an id, counts and logs it, and answers where all else failed.

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
        seen = _Seen(send, _request_id(scope))
        try:
            await self._app(scope, receive, seen.send)
        except ClientDisconnect:
            pass  # before all of the body had come: nobody is there to be answered
        except Exception:
            _log.exception("failed", request_id=seen.id, route=_route(scope))
            if not seen.status:
                again = f"The server failed; its log says why, under the request id {seen.id}."
                await problem(500, again)(scope, receive, seen.send)
        finally:
            self._note(scope, seen)

    def _note(self, scope: Scope, seen: "_Seen") -> None:
        route, seconds = _route(scope), time.perf_counter() - seen.began
        self._metrics.answered(route, scope["method"], seen.status, seconds)
        (_log.debug if route in _QUIET else _log.info)(
            "request",
            method=scope["method"],
            route=route,
            status=seen.status,
            ms=round(seconds * 1000, 1),
            caller=scope["state"].get("caller", "-"),
            request_id=seen.id,
        )


@dataclass(slots=True)
class _Seen:
    """What was sent of an answer; status 0 is none, because the client went away."""

    forward: Send
    id: str
    status: int = 0
    began: float = field(default_factory=time.perf_counter)

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            MutableHeaders(scope=message)["X-Request-ID"] = self.id
        await self.forward(message)


def _request_id(scope: Scope) -> str:
    given = Headers(scope=scope).get("x-request-id", "")
    return given if _ID.fullmatch(given) else uuid.uuid4().hex


def _route(scope: Scope) -> str:
    return getattr(scope.get("route"), "path", "") or "unmatched"
