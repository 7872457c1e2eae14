"""Connections of a server process: so many and no more, and none that waits for ever.

uvicorn gives an idle connection five seconds after an answer, but one that has sent half a head, or nothing yet, all
the time it likes; and an answer that nobody reads.
"""

import asyncio
import resource
from contextlib import suppress
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 20.0
"""For the head of a request, from the first byte of it, or from the beginning of the connection."""

HANDSHAKE_SECONDS = 5.0
"""For the handshake of TLS, before which there is no protocol yet: asyncio waits a minute."""

STALLED_SECONDS = 60.0
"""For 48 KiB of an answer to be read, which is what asyncio waits for before it asks for more."""

_OTHER_FILES = 256  # the store, the log, the processes of one server, libraries
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_TOO_MANY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n"


class EventLoop(asyncio.SelectorEventLoop):
    """The event loop of a server, which closes a connection of TLS that does not complete its handshake in time.

    uvicorn has no setting for this.
    """

    async def create_server(self, *arguments: Any, **settings: Any) -> asyncio.Server:
        """Create a server as asyncio does."""
        if settings.get("ssl") is not None:
            settings.setdefault("ssl_handshake_timeout", HANDSHAKE_SECONDS)
        return await super().create_server(*arguments, **settings)


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 on a connection; ``limit_concurrency`` of the configuration is how many there may be.

    When there are more, that which has waited longest for a request is closed.
    """

    transport: asyncio.Transport

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        # uvicorn's own limit answers every request by 503 when it is reached, whoever holds the connections.
        self._most, self.limit_concurrency = self.limit_concurrency, None
        self._since = self.loop.time()
        self._begun = False
        self._head: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for a request, and makes room for itself."""
        super().connection_made(transport)
        self._head = self.loop.call_later(HEAD_SECONDS, self._give_up)
        if self._most is not None and len(self.connections) > self._most:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the clocks."""
        super().connection_lost(exc)
        self._wait_for_head(waits=False)
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        """Takes a part of a request."""
        super().data_received(data)
        self._begun = True
        self._wait_for_head(waits=self._idle)

    def on_response_complete(self) -> None:
        """Waits for the next request."""
        self._since, self._begun = self.loop.time(), False
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Waits for the client to read."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Writes again."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    @property
    def _idle(self) -> bool:
        """Whether no request is under way: its head has not come, or it was answered."""
        return self.cycle is None or self.cycle.response_complete

    def _wait_for_head(self, *, waits: bool) -> None:
        if not waits and self._head is not None:
            self._head.cancel()
            self._head = None
        if waits and self._head is None and not self.transport.is_closing():
            self._head = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self._head = None
        if self._idle:
            self._close(_TOO_SLOW if self._begun else b"")

    def _make_room(self) -> None:
        waiting = [
            one for one in self.connections if isinstance(one, BoundedProtocol) and one is not self and one._idle
        ]
        oldest = min(waiting, key=lambda one: one._since, default=None)
        if oldest is None:
            self._close(_TOO_MANY)
        else:
            oldest._close(b"")

    def _close(self, last_words: bytes) -> None:
        # Where a client has already closed there is nobody to say it to.
        with suppress(RuntimeError):
            if last_words:
                self.transport.write(last_words)
            self.transport.close()
        self.connections.discard(self)


def allow_files(connections: int) -> int:
    """So many connections as there can be open files, after the process has taken what it may have."""
    wanted = connections + _OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return connections if soft == resource.RLIM_INFINITY else max(1, min(connections, soft - _OTHER_FILES))
