"""Bodies of requests: decompressed piece by piece, within limits of size, time and memory.

Nothing is read before a route reads its body, which it does after checking the caller (`GuardedRoute`).
"""

import asyncio
import zlib
from collections.abc import Iterable
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.limits.memory_budget import MemoryBudget, Reservation, weight_of

GRACE = 20.0
"""Seconds for a body of any size; a larger one has more by `SLOWEST`."""

SLOWEST = 500
"""Bytes in a second, on average, of a body that takes longer than `GRACE` (Apache's mod_reqtimeout has the same)."""

LINGERING = 30.0
"""Seconds for which the rest of a body is read, and dropped, after an answer that did not need it."""

SILENCE = 5.0
"""Seconds without a byte after which that ends."""

PIECE = 2**20
"""Bytes that are unpacked at once."""

_GZIP = 16 + zlib.MAX_WBITS
_PLACE = "headwater.body"
_CLOSE = {"Connection": "close"}


class RequestSizeLimit:
    """ASGI middleware that counts, decompresses (gzip, RFC 9110, section 8.4.1) and times bodies.

    An answer that comes before the body has ended is sent at once, but the connection is closed only after the rest of
    the body was read and dropped: a client that sends first and reads then would find it reset, and no answer
    (RFC 9112, section 9.6).
    """

    def __init__(self, app: ASGIApp, limit: int, budget: MemoryBudget) -> None:
        self._app = app
        self._limit = limit
        self._budget = budget

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope["headers"]):
            await self._app(scope, receive, send)
            return
        body = _RequestBody(Headers(scope=scope), receive, self._limit, self._budget)
        scope[_PLACE] = body
        if body.packed:
            _unpack_headers(scope)
        try:
            await self._app(scope, body.receive, _Answer(send, body).send)
        finally:
            body.reservation.end()


def limit_body(scope: Scope, limit: int) -> None:
    """Lower the limit of a request's body."""
    body: _RequestBody | None = scope.get(_PLACE)
    if body is not None:
        body.limit = min(body.limit, limit)


def _has_body(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether the head of a request announces a body (RFC 9112, section 6.3)."""
    return any(name == b"transfer-encoding" or (name == b"content-length" and value != b"0") for name, value in headers)


class _RequestBody:
    def __init__(self, headers: Headers, source: Receive, limit: int, budget: MemoryBudget) -> None:
        self.limit = limit
        self.complete = False
        self._encoding = ", ".join(headers.getlist("content-encoding") or ["identity"]).strip().lower()
        self._two_lengths = "transfer-encoding" in headers and "content-length" in headers
        self._length = int(headers.get("content-length", "0"))
        self._awaits_go_ahead = headers.get("expect", "").lower() == "100-continue"
        self._source = source
        self.reservation = Reservation(budget)
        self._began: float | None = None
        self._arrived = self._unpacked = 0
        self._pending, self._more, self._full = b"", True, False
        self._inflating = zlib.decompressobj(_GZIP)

    @property
    def packed(self) -> bool:
        return self._encoding == "gzip"

    async def receive(self) -> Message:
        """Return the next piece of the body, or the message after it.

        Raises:
            HTTPException: 400, 408, 413, 415 or 503.
        """
        if self.complete:
            return await self._source()
        if not (self._pending or self._full):
            message = await self._arrival()
            if message["type"] != "http.request":
                self.complete = True
                return message
            self._pending, self._more = message.get("body", b""), message.get("more_body", False)
        piece = self._piece()
        await self._reserve(piece)
        self.complete = not (self._pending or self._full or self._more)
        if self.packed and self.complete and not self._inflating.eof:
            raise HTTPException(400, "The body ends before its gzip data does. Send it whole.")
        return {"type": "http.request", "body": piece, "more_body": not self.complete}

    async def discard(self) -> None:
        """Read and drop the rest, for a while."""
        if self._awaits_go_ahead and self._began is None:
            return  # it is not sent before it is asked for
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGERING):
                while not self.complete:
                    async with asyncio.timeout(SILENCE):
                        message = await self._source()
                    self.complete = message["type"] != "http.request" or not message.get("more_body", False)

    async def _arrival(self) -> Message:
        """Return the next message, within the limits of time and size."""
        now = asyncio.get_running_loop().time()
        if self._began is None:
            self._began = now
            if self._two_lengths:  # a proxy before this server may go by the other one: RFC 9112, section 6.1
                raise HTTPException(400, "The request has Content-Length and Transfer-Encoding: expected one.", _CLOSE)
            if self._encoding not in ("identity", "gzip"):
                raise HTTPException(415, f"The Content-Encoding is {self._encoding[:50]!r}: expected gzip, or none.")
            self._require_size(self._length)
        try:
            async with asyncio.timeout_at(self._began + GRACE + self._arrived / SLOWEST):
                message = await self._source()
        except TimeoutError:
            raise HTTPException(
                408,
                f"The body came too slowly: {self._arrived:,} bytes in {now - self._began:.0f} s, expected "
                f"{SLOWEST} a second after the first {GRACE:.0f} s. Send it again.",
                _CLOSE,
            ) from None
        self._arrived += len(message.get("body", b""))
        self._require_size(self._arrived)
        return message

    def _require_size(self, size: int) -> None:
        if size > self.limit:
            raise HTTPException(
                413,
                f"The body has more than {self.limit:,} bytes. Send fewer events at once, or raise --body-limit.",
            )

    def _piece(self) -> bytes:
        if not self.packed:
            piece, self._pending = self._pending, b""
            return piece
        try:
            piece = self._inflating.decompress(self._pending, PIECE)
        except zlib.error as fault:
            raise HTTPException(400, f"The body is not gzip, as its Content-Encoding says ({fault}).") from None
        self._full = len(piece) == PIECE  # there may be more even where all of the input was taken
        self._pending = self._inflating.unconsumed_tail
        rest = self._inflating.unused_data.lstrip(b"\0")
        if self._inflating.eof and rest:  # the next member of several (RFC 1952, section 2.2)
            self._inflating, self._pending = zlib.decompressobj(_GZIP), rest
        self._unpacked += len(piece)
        self._require_size(self._unpacked)
        return piece

    async def _reserve(self, piece: bytes) -> None:
        began = asyncio.get_running_loop().time()
        await self.reservation.add(weight_of(piece))
        if self.packed:
            await asyncio.sleep(0)  # others are answered between two pieces
        if self._began is not None:
            self._began += asyncio.get_running_loop().time() - began


class _Answer:
    """Forwards an answer, and keeps the connection until the client has sent its body."""

    def __init__(self, send: Send, body: _RequestBody) -> None:
        self._send = send
        self._body = body

    async def send(self, message: Message) -> None:
        early = not self._body.complete
        if early and message["type"] == "http.response.start":
            MutableHeaders(scope=message)["Connection"] = "close"
        if early and message["type"] == "http.response.body" and not message.get("more_body", False):
            await self._send({**message, "more_body": True})
            await self._body.discard()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)


def _unpack_headers(scope: Scope) -> None:
    """Remove the headers of the compressed body; in place, because middleware reads the route from the same scope."""
    scope["headers"] = list(scope["headers"])
    headers = MutableHeaders(scope=scope)
    del headers["content-encoding"]
    del headers["content-length"]
