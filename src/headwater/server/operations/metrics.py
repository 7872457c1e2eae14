"""The metrics of a server for Prometheus, with several processes their sum; and a line in the log for each request.

That has none of the content of a request.
"""

import logging
import os
import re
import time
import uuid
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.problems import problem

SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable with the folder where processes share their metrics; prometheus-client reads it, too."""

_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The metrics of one application."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "headwater_requests", "Requests that were answered.", ("route", "method", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "headwater_request_seconds",
            "From a request to the end of its answer.",
            ("route", "method"),
            registry=self._registry,
            buckets=_SECONDS,
        )
        self._events = Counter(
            "headwater_events", "Events, by what became of them.", ("outcome",), registry=self._registry
        )
        self._waiting = Gauge(
            "headwater_intake_waiting",
            "Requests whose events wait to be written.",
            registry=self._registry,
            multiprocess_mode="livesum",
        )
        self._transactions = Histogram(
            "headwater_transaction_seconds", "Writing transactions.", registry=self._registry, buckets=_SECONDS
        )
        if not shared_folder():
            ProcessCollector(registry=self._registry)
            PlatformCollector(registry=self._registry)

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request by the template of its route: text that clients make up must not become a label."""
        method = method if method in _METHODS else "other"
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)

    def count_stored(self, events: int) -> None:
        """Count events that are durable."""
        self._events.labels("taken").inc(events)

    def count_refused(self, events: int) -> None:
        """Count events that were refused."""
        self._events.labels("refused").inc(events)

    def set_waiting(self, requests: int) -> None:
        """Set the number of requests whose events wait to be written."""
        self._waiting.set(requests)

    def time_transaction(self) -> AbstractContextManager[object]:
        """Time a writing transaction."""
        return self._transactions.time()

    def page(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        if not shared_folder():
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)

    def close(self) -> None:
        """Remove the gauges of this process from the sum."""
        if shared_folder():
            mark_process_dead(os.getpid())  # type: ignore[no-untyped-call]


def shared_folder() -> Path | None:
    """Return the folder that the processes of this server share, when there are several."""
    named = os.environ.get(SHARED_FOLDER)
    return Path(named) if named else None


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
