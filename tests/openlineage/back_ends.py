"""A back end on this machine that answers with the bytes and as slowly as a test wants."""

import json
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

OK = b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"


def status(code: int, body: bytes = b"no", *headers: str) -> bytes:
    """An answer with this status."""
    lines = [f"HTTP/1.1 {code} X", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@dataclass
class Raw:
    """A back end's requests so far and its answers: the next of ``answers``, then 201; each after ``seconds``."""

    answers: list[bytes] = field(default_factory=list)
    seconds: float = 0.0
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)
    acknowledged: list[int] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def received(self) -> list[int]:
        """The numbers of the events that were posted, whatever the answer was."""
        return [number_of(body) for method, _, body in self.requests if method == "POST"]

    def config(self, **more: Any) -> dict[str, Any]:
        """The configuration of a client."""
        return {"transport": {"type": "http", "url": self.url, **more}}


def number_of(body: bytes | str) -> int:
    """The number that an event's run has for its id."""
    return UUID(json.loads(body)["run"]["runId"]).int


@contextmanager
def listening(raw: Raw) -> Iterator[Raw]:
    """Have it answer at its port, or at a free one, until the end of the block; connections are cut then."""
    connections: list[socket.socket] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            connections.append(self.connection)
            while _answer(raw, self.rfile.readline, self.rfile.read, self.wfile.write):
                pass

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """A client that is gone is no news."""

    server = Server(("127.0.0.1", raw.port), Handler)
    raw.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield raw
    finally:
        server.shutdown()
        server.server_close()
        for one in connections:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


def _answer(
    raw: Raw, readline: Callable[[], bytes], read: Callable[[int], bytes], write: Callable[[bytes], Any]
) -> bool:
    words = readline().split()
    if len(words) < 2:
        return False
    length = 0
    while (line := readline().strip().lower()) != b"":
        length = int(line.partition(b":")[2]) if line.startswith(b"content-length:") else length
    body = read(length)
    raw.requests.append((words[0].decode(), words[1].decode(), body))
    time.sleep(raw.seconds)
    answer = raw.answers.pop(0) if raw.answers else OK
    if answer is OK:  # noted first: who gets the answer looks for it at once
        raw.acknowledged.append(number_of(body))
    if answer:
        write(answer)
    return answer is OK
