"""Clients that take their time: half heads, slow bodies, answers that nobody reads, and too many connections.

The clocks run faster here than in a server, which is otherwise the real one.
"""

import json
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path

import pytest
import uvicorn
from fastapi.responses import StreamingResponse
from tests.server.certificates import self_signed
from tests.server.processes import LINEAGE, get, wait_for
from tests.store.conftest import run_event, written

from headwater.server import ServerSettings, create_app
from headwater.server.limits import connections, request_bodies
from headwater.server.process import configuration

EVENT = json.dumps(run_event("job", written("gold", {"a": ["raw.x"]}))).encode()
HEAD = f"POST {LINEAGE} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(EVENT)}\r\n\r\n".encode()
QUICK = 0.4


@dataclass(frozen=True, slots=True)
class Running:
    """A server in a thread of the test."""

    server: uvicorn.Server
    port: int

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def open(self) -> int:
        return len(self.server.server_state.connections)

    def answers(self) -> bool:
        return get(f"http://127.0.0.1:{self.port}", "/health")[0] == 200


@contextmanager
def running(folder: Path, most: int = 50, tls: tuple[Path, Path] | None = None) -> Iterator[Running]:
    certificate, key = tls or (None, None)
    settings = ServerSettings(
        f"sqlite:///{folder}/lineage.db", connection_limit=most, tls_cert=certificate, tls_key=key
    )
    app = create_app(settings)

    @app.get("/large")
    def large() -> StreamingResponse:
        return StreamingResponse(b"x" * 100_000 for _ in range(1_000))

    with socket.create_server(("127.0.0.1", 0)) as place:
        server = uvicorn.Server(configuration(app, settings))
        thread = threading.Thread(target=server.run, args=([place],))
        thread.start()
        try:
            wait_for(lambda: server.started)
            yield Running(server, place.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", QUICK)
    monkeypatch.setattr(connections, "HANDSHAKE_SECONDS", QUICK)
    monkeypatch.setattr(connections, "STALLED_SECONDS", QUICK)
    monkeypatch.setattr(request_bodies, "GRACE", QUICK)
    monkeypatch.setattr(request_bodies, "SLOWEST", 10_000)
    monkeypatch.setattr(request_bodies, "SILENCE", QUICK)
    monkeypatch.setattr(request_bodies, "LINGERING", 2 * QUICK)


def trickle(connection: socket.socket, parts: bytes) -> bytes:
    """Sends a byte each 50 ms, until the server has closed the connection; what it said, which may come in pieces."""
    connection.settimeout(0.05)
    received = b""
    for place in range(400):
        try:
            connection.sendall(parts[place % len(parts) : place % len(parts) + 1])
            more = connection.recv(10_000)
        except TimeoutError:
            continue
        except OSError:
            return received
        if not more:
            return received
        received += more
    raise AssertionError("the server waited for 20 s")


@pytest.mark.usefixtures("quick")
def test_half_a_head_is_not_waited_for(tmp_path: Path) -> None:
    with running(tmp_path) as found:
        with found.connect() as silent, found.connect() as slow, found.connect() as second:
            second.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
            answered = HTTPResponse(second)
            answered.begin()
            assert answered.read()
            assert trickle(slow, b"GET /health HTTP/1.1\r\nX: " + b"x" * 1000).startswith(b"HTTP/1.1 408")
            assert silent.recv(100) == b""
            # The head of a second request is timed like that of the first.
            assert trickle(second, b"GET /health HTTP/1.1\r\nX: " + b"x" * 1000).startswith(b"HTTP/1.1 408")
        assert found.answers()


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\x02"], ids=["nothing", "half a hello"])
def test_a_handshake_of_tls_is_not_waited_for(tmp_path: Path, sent: bytes) -> None:
    certificate, key = self_signed(tmp_path)
    with running(tmp_path, tls=(Path(certificate), Path(key))) as found:
        with found.connect() as silent:
            silent.sendall(sent)
            silent.settimeout(10 * QUICK)
            assert silent.recv(100) == b""
        trusting = ssl.create_default_context(cafile=certificate)
        with trusting.wrap_socket(found.connect(), server_hostname="127.0.0.1") as spoken:
            spoken.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert spoken.recv(100).startswith(b"HTTP/1.1 200")


@pytest.mark.usefixtures("quick")
def test_a_slow_body_is_not_waited_for(tmp_path: Path) -> None:
    with running(tmp_path) as found:
        with found.connect() as slow:
            slow.sendall(HEAD)
            begun = time.monotonic()
            received = trickle(slow, EVENT)
            assert received.startswith(b"HTTP/1.1 408")
            assert b"The body came too slowly" in received
            assert time.monotonic() - begun < 10
        assert found.answers()


@pytest.mark.usefixtures("quick")
def test_the_rest_of_a_body_that_was_refused_is_not_waited_for(tmp_path: Path) -> None:
    with running(tmp_path) as found, found.connect() as slow:
        slow.sendall(b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
        assert slow.recv(10_000).startswith(b"HTTP/1.1 404")
        begun = time.monotonic()
        trickle(slow, b"x")
        assert time.monotonic() - begun < 10


@pytest.mark.usefixtures("quick")
def test_an_answer_that_nobody_reads_is_abandoned(tmp_path: Path) -> None:
    with running(tmp_path) as found, found.connect() as lazy:
        lazy.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        wait_for(lambda: found.open() == 1)
        wait_for(lambda: found.open() == 0)
        assert found.answers()


def test_connections_that_wait_make_room_for_those_that_ask(tmp_path: Path) -> None:
    with running(tmp_path, most=5) as found, ExitStack() as opened:
        idle = [opened.enter_context(found.connect()) for _ in range(20)]
        for one in idle[10:]:
            one.sendall(b"GET /health HTTP/1.1\r\n")
        assert all(found.answers() for _ in range(3))
        assert found.open() <= 5
        idle[0].settimeout(5)
        assert idle[0].recv(10) == b""


def test_where_all_are_busy_one_more_gets_a_503(tmp_path: Path) -> None:
    with running(tmp_path, most=3) as found, ExitStack() as opened:
        for _ in range(3):
            busy = opened.enter_context(found.connect())
            busy.sendall(HEAD)
        wait_for(lambda: len(found.server.server_state.tasks) == 3)
        late = opened.enter_context(found.connect())
        assert late.recv(1000).startswith(b"HTTP/1.1 503")


def test_there_are_no_more_connections_than_open_files_allow() -> None:
    code = (
        "import resource; from headwater.server.limits.connections import allow_files\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (300, 700))\n"
        "print(allow_files(100), resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
        "print(allow_files(1000), resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["100 356", "444 700"]
