"""The memory of a server after large events, in a process of `headwater serve`: it chooses its heaps as it starts."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.processes import LINEAGE, ROOT, connect, wait_for
from tests.store.conftest import run_event, written

MOST = 32
"""The mebibytes by which a process may have grown after a large event; half as many again after several."""


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """The process and the address of a server."""
    output = tmp_path / "log"
    command = (sys.executable, "-m", "headwater", "serve", "--port", "0", "--store", str(tmp_path / "lineage.db"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with output.open("w") as log, subprocess.Popen(command, stdout=log, stderr=log, env=environment) as process:
        try:
            wait_for(lambda: "Listening on " in output.read_text(), output.read_text)
            yield process.pid, output.read_text().partition("Listening on ")[2].split()[0]
        finally:
            process.terminate()


def large_event(run: str) -> bytes:
    """An event of 9 MB with 60,000 edges."""
    fields = {f"c{one}": [f"raw{one % 7}.x{(one * 31 + other) % 5000}" for other in range(300)] for one in range(200)}
    return json.dumps(run_event("large", written("large", fields), run=run)).encode()


def grown(process: int, before: float = 0) -> float:
    """The mebibytes of a process beyond those before; two seconds later, when what it can give back is given."""
    time.sleep(2 if before else 0)
    [kilobytes] = re.findall(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(kilobytes) / 1024 - before


def post(url: str, event: bytes) -> None:
    connection = connect(url)
    connection.request("POST", LINEAGE, event, {"Content-Type": "application/json"})
    assert connection.getresponse().status == 201
    connection.close()


def test_a_process_keeps_little_of_large_events_and_no_more_of_several(served: tuple[int, str]) -> None:
    process, url = served
    post(url, json.dumps(run_event("small", written("small", {"a": ["raw.x"]}))).encode())
    before = grown(process)
    post(url, large_event("0"))
    assert grown(process, before) < MOST
    for run in ("1", "2"):
        post(url, large_event(run))
    assert grown(process, before) < 1.5 * MOST
