"""Request bodies: unpacked, and never larger than allowed, however small they were packed."""

import zlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headwater.server.problems import problem

GZIP = 16 + zlib.MAX_WBITS


class Bodies:
    """ASGI middleware that counts the bytes of bodies and unpacks gzip (RFC 9110, section 8.4.1)."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        encoding = Headers(scope=scope).get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", "gzip"):
            refusal = problem(415, f"Content-Encoding {encoding[:50]!r} is not known here: expected gzip, or none.")
            await refusal(scope, receive, send)
            return
        body = _Body(receive, self._most, packed=encoding == "gzip")
        if body.packed:
            _unpack_headers(scope)
        await self._app(scope, body.next, send)


class _Body:
    def __init__(self, receive: Receive, most: int, *, packed: bool) -> None:
        self.packed = packed
        self._receive = receive
        self._most = most
        self._left = most
        self._unpacking = zlib.decompressobj(GZIP)

    async def next(self) -> Message:
        message = await self._receive()
        if message["type"] != "http.request":
            return message
        part = message.get("body", b"")
        part = self._unpack(part) if self.packed else part
        self._left -= len(part)
        if self._left < 0:
            raise HTTPException(
                413, f"The body has more than {self._most:,} bytes. Send fewer events at once, or raise --body-limit."
            )
        if self.packed and not message.get("more_body", False) and not self._unpacking.eof:
            raise HTTPException(400, "The body ends before its gzip data does. Send it whole.")
        return {**message, "body": part}

    def _unpack(self, part: bytes) -> bytes:
        try:
            return self._unpacking.decompress(part, self._left + 1)
        except zlib.error as fault:
            raise HTTPException(400, f"The body is not gzip, as its Content-Encoding says ({fault}).") from None


def _unpack_headers(scope: Scope) -> None:
    """Takes out what is said of the packed body; in place, because the route is noted in the scope for all to see."""
    scope["headers"] = list(scope["headers"])
    headers = MutableHeaders(scope=scope)
    del headers["content-encoding"]
    del headers["content-length"]
