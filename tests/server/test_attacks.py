"""Attacks on a real server: bodies that are bombs, slow, false or many; nobody pays for them but who sends them."""

import gzip
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi.routing import iter_route_contexts
from tests.server.processes import LINEAGE, Forker, ServerProcess, serving, wait_for
from tests.store.conftest import run_event, written

from headwater.server import ServerSettings, create_app
from headwater.store import open_store
from headwater.store.maintenance.keyring import issue

MEGABYTE = 2**20
BOMB = gzip.compress(b"[" + b"[]," * (21 * MEGABYTE) + b"[]]")
"""63 MB of lists, in 60 kB."""

EVENT = json.dumps(run_event("job", written("gold", {"a": ["raw.x"]}))).encode()
WITH_BODIES = sorted(
    (method, re.sub(r"\{[^}]*\}", "start", str(route.path)))
    for route in iter_route_contexts(create_app(ServerSettings()).routes)
    for method in (route.methods or set()) & {"POST", "PUT", "PATCH", "DELETE"}
)


@dataclass(frozen=True, slots=True)
class Answer:
    """A server's answer, and its seconds; status 0 is a connection that was closed without a word."""

    status: int
    body: bytes
    headers: dict[str, str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Target:
    """A server that asks for keys, and a key that may write."""

    server: ServerProcess
    key: str

    def connect(self) -> socket.socket:
        address = urlsplit(self.server.url)
        return socket.create_connection((address.hostname, address.port), timeout=60)

    def send(self, method: str, path: str, body: bytes, *headers: str, key: str | None = None) -> Answer:
        """The answer to a request; with Content-Length unless a header says otherwise."""
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", *headers]
        if key:
            lines.append(f"X-API-Key: {key}")
        if not any(one.lower().startswith(("content-length", "transfer-encoding")) for one in headers):
            lines.append(f"Content-Length: {len(body)}")
        with self.connect() as connection:
            begun = time.monotonic()
            connection.sendall("\r\n".join([*lines, "", ""]).encode())
            with suppress(ConnectionError):
                connection.sendall(body)
            return answer_on(connection, method, begun)

    def event(self, key: str) -> int:
        return self.send("POST", LINEAGE, EVENT, key=key).status

    def memory(self, name: str = "VmRSS") -> float:
        """Megabytes of the process: now, or with VmHWM the most since `forget_peak`."""
        status = Path(f"/proc/{self.server.pid}/status").read_text()
        (kilobytes,) = re.findall(rf"{name}:\s+(\d+) kB", status)
        return int(kilobytes) / 1024

    def forget_peak(self) -> float:
        """The memory now, which is the peak from here on."""
        Path(f"/proc/{self.server.pid}/clear_refs").write_text("5")
        return self.memory()


def answer_on(connection: socket.socket, method: str, begun: float) -> Answer:
    response = HTTPResponse(connection, method=method)
    try:
        response.begin()
        body = response.read()
    except (OSError, ValueError):
        return Answer(0, b"", {}, time.monotonic() - begun)
    return Answer(response.status, body, dict(response.headers.items()), time.monotonic() - begun)


@contextmanager
def target(forker: Forker, folder: Path, *arguments: str) -> Iterator[Target]:
    store = f"sqlite:///{folder}/lineage.db"
    with open_store(store) as opened:
        _, key = issue(opened, "etl", "write")
    with serving(forker, store, folder / "log", "--auth", *arguments) as server:
        yield Target(server, key)


@pytest.fixture(scope="module")
def attacked(forker: Forker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with target(forker, tmp_path_factory.mktemp("attacked")) as found:
        yield found


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (*parts, b""))


def test_a_bomb_without_a_key_costs_nobody_anything(attacked: Target) -> None:
    """Before keys were looked at first, these took 1.7 GB and 52 s."""
    assert len(WITH_BODIES) >= 15
    before, begun = attacked.forget_peak(), time.monotonic()
    for method, path in WITH_BODIES:
        answer = attacked.send(method, path, BOMB, "Content-Encoding: gzip")
        assert answer.status == 401, (method, path, answer)
    assert time.monotonic() - begun < 10
    assert attacked.memory("VmHWM") - before < 20
    assert attacked.event(attacked.key) == 201


def test_a_bomb_with_a_key_is_refused_while_it_is_unpacked(attacked: Target) -> None:
    before = attacked.forget_peak()
    for method, path in WITH_BODIES:
        answer = attacked.send(method, path, BOMB, "Content-Encoding: gzip", key=attacked.key)
        assert answer.status < 500, (method, path, answer)
        if method == "PUT" or path == LINEAGE:
            assert answer.status == 413, (method, path, answer)
            assert re.search(rb"more than [0-9,]+ bytes", answer.body), answer
    assert attacked.memory("VmHWM") - before < 100


@pytest.mark.parametrize(
    "body",
    [
        b"[" * (60 * MEGABYTE),
        b'{"a":' * (12 * MEGABYTE),
        b"[" + b"{}," * (20 * MEGABYTE) + b"{}]",
        b'[{"eventTime":' + b"1," * (30 * MEGABYTE) + b"1}]",
    ],
    ids=["lists in lists", "objects in objects", "objects", "numbers"],
)
def test_json_that_would_need_gigabytes_is_refused_before_it_is_parsed(attacked: Target, body: bytes) -> None:
    before = attacked.forget_peak()
    answer = attacked.send("POST", LINEAGE, body, key=attacked.key)
    assert (answer.status, b"bytes of memory" in answer.body) == (413, True), answer
    assert attacked.memory("VmHWM") - before < 100


@pytest.mark.parametrize("path", [LINEAGE, "/api/v1/tags/deep", "/api/v1/namespaces/demo/datasets/deep"])
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
@pytest.mark.parametrize("depth", [400, 900, 100_000])
def test_deep_json_is_a_clients_mistake(attacked: Target, path: str, opening: bytes, depth: int) -> None:
    closing = b"]" if opening == b"[" else b"}"
    body = b'{"description":' + opening * depth + b"1" + closing * depth + b"}"
    method = "POST" if path == LINEAGE else "PUT"
    assert attacked.send(method, path, body, key=attacked.key).status in {400, 422}


def test_large_plain_bodies_are_answered_rather_than_reset(attacked: Target) -> None:
    """A client that sends all of it before it reads gets the answer, whether the length was said before or not."""
    large = b" " * (70 * MEGABYTE)
    for key, status in ((attacked.key, 413), (None, 401)):
        plain = attacked.send("POST", LINEAGE, large, key=key)
        parts = attacked.send("POST", LINEAGE, chunked(*[large] * 2), "Transfer-Encoding: chunked", key=key)
        assert (plain.status, parts.status) == (status, status)
        assert plain.headers["connection"] == "close"


def test_who_expects_an_answer_before_sending_gets_it_before_sending(attacked: Target) -> None:
    """RFC 9110, section 10.1.1: no 100 Continue where the head is enough to refuse."""
    for key, length, status in ((None, 10, 401), (attacked.key, 2**40, 413)):
        head = (f"Content-Length: {length}", "Expect: 100-continue")
        answer = attacked.send("POST", LINEAGE, b"", *head, key=key)
        assert (answer.status, answer.seconds < 3) == (status, True)


def test_a_body_in_chunks_without_a_length_is_taken(attacked: Target) -> None:
    body = chunked(EVENT[:10], EVENT[10:])
    assert attacked.send("POST", LINEAGE, body, "Transfer-Encoding: chunked", key=attacked.key).status == 201
    packed = chunked(gzip.compress(EVENT[:99]), gzip.compress(EVENT[99:]))
    how = ("Transfer-Encoding: chunked", "Content-Encoding: gzip")
    assert attacked.send("POST", LINEAGE, packed, *how, key=attacked.key).status == 201


def test_a_request_with_two_lengths_is_the_last_of_its_connection(attacked: Target) -> None:
    """By the other of them, which a proxy may go by, the rest would be a request of somebody else's."""
    smuggled = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for method, path in (("POST", LINEAGE), ("GET", "/health")):
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {attacked.key}\r\n"
        lengths = "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"
        with attacked.connect() as connection:
            connection.sendall((head + lengths).encode() + chunked() + smuggled)
            received = b"".join(iter(lambda connection=connection: connection.recv(65536), b""))  # type: ignore[misc]
        assert received.count(b"HTTP/1.1 ") == 1, received
        assert received.startswith(b"HTTP/1.1 400 " if method == "POST" else b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("encodings", "status"),
    [(["gzip"], 201), (["GZIP"], 201), (["gzip", "gzip"], 415), (["gzip, gzip"], 415), (["gzip", "identity"], 415)]
    + [([one], 415) for one in ("deflate", "br", "gzip;q=1", "")],
)
def test_a_body_is_packed_once_or_not_at_all(attacked: Target, encodings: list[str], status: int) -> None:
    headers = [f"Content-Encoding: {one}" for one in encodings]
    assert attacked.send("POST", LINEAGE, gzip.compress(EVENT), *headers, key=attacked.key).status == status


def test_many_packed_parts_of_nothing_cost_little(attacked: Target) -> None:
    """A body of 2 MB in 100,000 members of gzip (RFC 1952, section 2.2)."""
    body = gzip.compress(b"") * 100_000 + gzip.compress(EVENT)
    answer = attacked.send("POST", LINEAGE, body, "Content-Encoding: gzip", key=attacked.key)
    assert answer.status == 201
    assert answer.seconds < 10


def test_requests_one_behind_the_other_are_answered_in_their_order(attacked: Target) -> None:
    head = f"Host: localhost\r\nX-API-Key: {attacked.key}\r\n"
    event = f"POST {LINEAGE} HTTP/1.1\r\n{head}Content-Length: {len(EVENT)}\r\n\r\n".encode() + EVENT
    listed, last = (
        f"GET {path} HTTP/1.1\r\n{head}{close}\r\n".encode()
        for path, close in (("/api/v2/datasets", ""), ("/nowhere", "Connection: close\r\n"))
    )
    with attacked.connect() as connection:
        connection.sendall(event + listed + event + last)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"201", b"200", b"201", b"404"]


def test_false_lengths_harm_nobody_else(attacked: Target) -> None:
    for headers in (
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: -1",),
        ("Content-Length: 1e3",),
        ("Content-Length: " + "9" * 30,),
        ("Transfer-Encoding: gzip",),
    ):
        answer = attacked.send("POST", LINEAGE, b"", *headers, key=attacked.key)
        assert answer.status in {400, 408, 413, 501, 0}, (headers, answer)
    with attacked.connect() as connection:  # more is promised than sent, and then the client is gone
        head = f"POST {LINEAGE} HTTP/1.1\r\nHost: a\r\nX-API-Key: {attacked.key}\r\nContent-Length: 999\r\n\r\n"
        connection.sendall(head.encode() + EVENT[:100])
    with attacked.connect() as connection:  # less is promised than sent: what follows is no request
        lines = head.replace("999", "2").encode() + b"{}" + b"GARBAGE\r\n\r\n"
        connection.sendall(lines)
        assert answer_on(connection, "POST", time.monotonic()).status == 400
    assert attacked.event(attacked.key) == 201
    assert "Traceback" not in attacked.server.printed()


def test_many_large_bodies_at_once_are_held_within_the_budget(forker: Forker, tmp_path: Path) -> None:
    """Twelve bodies of 2 MB, for each of which 30 MB are set aside: all are taken, or sent away to come again."""
    facet = {"_producer": "p", "_schemaURL": "s", "words": ["ab"] * (2 * MEGABYTE // 5)}
    events = [run_event(f"job {one}", written(f"gold{one}", {"a": ["raw.x"]})) for one in range(12)]
    for event in events:
        event["run"]["facets"] = {"large": facet}
    bodies = [json.dumps(event, separators=(",", ":")).encode() for event in events]
    with target(forker, tmp_path, "--memory-limit", str(100 * MEGABYTE)) as found:
        before, answers = found.forget_peak(), list[Answer]()

        def send(body: bytes) -> None:
            answers.append(found.send("POST", LINEAGE, body, key=found.key))

        senders = [threading.Thread(target=send, args=(body,)) for body in bodies]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        assert {answer.status for answer in answers} <= {201, 503}
        assert sum(answer.status == 201 for answer in answers) >= 2
        assert all(answer.headers["retry-after"] == "5" for answer in answers if answer.status == 503)
        assert found.memory("VmHWM") - before < 200
        assert found.event(found.key) == 201


def test_memory_goes_down_after_a_large_event(attacked: Target) -> None:
    """The most that it took was kept, and the text of the last event until another came."""
    assert attacked.event(attacked.key) == 201
    event = run_event("large", written("gold", {"a": ["raw.x"]}))
    words = [{"id": one, "name": f"name {one}", "kind": "LogicalRelation"} for one in range(400_000)]
    event["run"]["facets"] = {"large": {"_producer": "p", "_schemaURL": "s", "words": words}}
    before = attacked.forget_peak()
    assert attacked.send("POST", LINEAGE, json.dumps(event).encode(), key=attacked.key).status == 201
    assert attacked.memory("VmHWM") - before > 100
    # 10 remain, and 25 where what is free is not given back.
    wait_for(lambda: attacked.memory() - before < 18, lambda: f"{before} MB were {attacked.memory()} MB")
