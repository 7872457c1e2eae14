"""Real server processes, started fast: a process that has imported everything forks, and the child is the server."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import text
from tests.store.conftest import run_event, written

from headwater.store import open_store

ROOT = Path(__file__).resolve().parents[2]
LINEAGE = "/api/v1/lineage"
PATIENCE = 120.0
FORKING = """
import json, os, sys, tempfile
import uvicorn
from fastapi.testclient import TestClient
from headwater.cli.main import main
from headwater.server import process
with tempfile.TemporaryDirectory() as folder:  # everything that is only loaded when it is needed
    app = process.create_app(process.ServerSettings(f"sqlite:///{folder}/lineage.db"))
    with TestClient(app, base_url="http://localhost") as client:
        client.post("/api/v1/lineage", json=json.loads(sys.argv[1])).raise_for_status()
    uvicorn.Config(app, log_config=None).load()
for line in sys.stdin:
    order = json.loads(line)
    if "wait" in order:
        print(os.waitstatus_to_exitcode(os.waitpid(order["wait"], 0)[1]), flush=True)
        continue
    child = os.fork()
    if child == 0:
        output = os.open(order["output"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number, file in ((0, os.open(os.devnull, os.O_RDONLY)), (1, output), (2, output)):
            os.dup2(file, number)
        os.environ.update(order["environment"])
        sys.argv = ["headwater", *order["arguments"]]
        main()
    print(child, flush=True)
"""


class Forker:
    """Starts servers; made once for many of them."""

    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        self._process = subprocess.Popen(
            [sys.executable, "-c", FORKING, json.dumps(run_event("job", written("gold", {"a": ["raw.x"]})))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def order(self, **order: Any) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)
        return int(self._process.stdout.readline())

    def close(self) -> None:
        with self._process:  # closes the pipes, and waits
            pass


@dataclass(slots=True)
class ServerProcess:
    """A server that listens at ``url``."""

    forker: Forker
    pid: int
    output: Path
    url: str = ""
    ended: bool = False

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Its exit code after a signal."""
        if self.ended:
            return 0
        os.kill(self.pid, number)
        self.ended = True
        return self.forker.order(wait=self.pid)

    def printed(self) -> str:
        return self.output.read_text() if self.output.exists() else ""


@contextmanager
def serving(
    forker: Forker, store: str, output: Path, *arguments: str, command: str = "serve", **environment: str
) -> Iterator[ServerProcess]:
    """``headwater serve`` on a free port; killed at the end, unless it has ended."""
    output.unlink(missing_ok=True)
    arguments = (command, "--port", "0", "--store", store, *arguments)
    pid = forker.order(arguments=arguments, output=str(output), environment=environment)
    server = ServerProcess(forker, pid, output)
    try:
        wait_for(lambda: "Listening on " in server.printed() and server.printed().endswith("\n"), server.printed)
        server.url = server.printed().partition("Listening on ")[2].split()[0]
        yield server
    finally:
        server.stop(signal.SIGKILL)


def wait_for(condition: Callable[[], bool], printed: Callable[[], str] = str) -> None:
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends, printed()
        time.sleep(0.005)


@dataclass(slots=True)
class Load:
    """Events sent one by one by several threads; what was acknowledged, and every other answer.

    ``event`` makes the event of a number; unless given, of one of five jobs of the load that write a dataset each.
    """

    name: str
    event: Callable[[int], dict[str, Any]] | None = None
    sent: dict[str, dict[str, Any]] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)
    refused: list[tuple[int, str]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    @contextmanager
    def on(self, url: str, threads: int = 4) -> Iterator["Load"]:
        """Sends until the end of the block."""
        done = threading.Event()
        senders = [threading.Thread(target=self._send, args=(url, done)) for _ in range(threads)]
        for sender in senders:
            sender.start()
        try:
            yield self
        finally:
            done.set()
            for sender in senders:
                sender.join()

    def send(self, connection: HTTPConnection, event: dict[str, Any]) -> int:
        """The status of the answer; an event that is acknowledged must be in the store from then on."""
        run = event["run"]["runId"]
        self.sent[run] = event
        connection.request("POST", LINEAGE, json.dumps(event), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        body = answer.read()
        if answer.status == 201:
            self.acknowledged.add(run)
        else:
            self.refused.append((answer.status, json.loads(body)["message"]))
        return answer.status

    def _send(self, url: str, done: threading.Event) -> None:
        connection = connect(url)
        while not done.is_set():
            number = next(self._numbers)
            self._insist(connection, (self.event or self._simple)(number), done)
        connection.close()

    def _simple(self, number: int) -> dict[str, Any]:
        output = written(f"gold{number % 5}", {"a": [f"raw.x{number % 3}"]})
        return run_event(f"{self.name} {number % 5}", output, minute=number % 1000)

    def _insist(self, connection: HTTPConnection, event: dict[str, Any], done: threading.Event) -> None:
        """Sends an event until it is answered: what a broken connection leaves open is sent again."""
        while not done.is_set():
            try:
                self.send(connection, event)
            except (OSError, HTTPException):
                connection.close()
                done.wait(0.02)
            else:
                return

    def resend(self, url: str) -> None:
        """Sends what was not acknowledged, as a client does that does not know what became of it."""
        connection = connect(url)
        for run in self.sent.keys() - self.acknowledged:
            assert self.send(connection, self.sent[run]) == 201
        connection.close()


def connect(url: str) -> HTTPConnection:
    return HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE)


def get(url: str, path: str) -> tuple[int, str]:
    connection = connect(url)
    connection.request("GET", path)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def stored(store: str, *, lineage: bool = True) -> list[str]:
    """The run of each event in a store, each with one event and, unless said otherwise, one row of lineage."""
    with open_store(store, create=False) as opened, opened.read() as connection:
        runs = list(connection.execute(text("SELECT r.uuid FROM event e JOIN run r ON r.id = e.run_id")).scalars())
        counts = [connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in ("run", "lineage")]
    assert counts == [len(runs), len(runs) if lineage else 0]
    return runs
