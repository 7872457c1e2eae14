"""Health, readiness, metrics, logs and limits of a server in the test's own process."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from tests.store.conftest import run_event, written

from headwater.errors import StoreLocked
from headwater.openlineage.reading import event_of
from headwater.server import ServerSettings, create_app, health
from headwater.server.intake.queue import Intake
from headwater.server.limits.deadline import Deadline
from headwater.store import open_store

LINEAGE = "/api/v1/lineage"


def event(run: str = "r") -> dict[str, object]:
    found: dict[str, object] = run_event("job", written("gold", {"a": ["raw.x"]}), run=run)
    return found


def test_a_server_is_ready_as_long_as_its_store_answers(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/ready").json() == {
        "status": "ready",
        "checks": {"store": "ok", "intake": "ok", "writing": "ok"},
    }
    monkeypatch.setattr(health, "STUCK", -1.0)
    stuck = client.get("/ready")
    assert (stuck.status_code, stuck.json()["checks"]) == (
        503,
        {"store": "ok", "intake": "stuck", "writing": "unknown"},
    )
    monkeypatch.undo()
    path = Path(client.app.state.server.store.url.removeprefix("sqlite:///"))
    client.app.state.server.store.close()
    for file in path.parent.glob("lineage.db*"):
        file.unlink()
    path.write_bytes(b"no database" * 1000)
    gone = client.get("/ready")
    assert (gone.status_code, gone.json()["checks"]["store"]) == (503, "StoreCorrupt")
    assert client.get("/health").status_code == 200


def test_a_problem_says_no_secret(client: TestClient) -> None:
    name = "postgresql://me:hunter2@h/db?password=hunter2"
    for path in ("/api/v2/lineage/upstream", "/api/v2/columns", "/api/v1/column-lineage"):
        answer = client.get(path, params={"column": name, "of": name, "nodeId": name, "depth": name})
        assert "hunter2" not in answer.text, path
    answers = [
        client.post(LINEAGE, json={"password": "hunter2"}),
        client.post(LINEAGE, content=b'{"api_key": "hunter2"'),
    ]
    assert all(answer.status_code == 400 and "hunter2" not in answer.text for answer in answers)


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_line_of_the_log_has_a_secret(form: str, capfd: pytest.CaptureFixture[str]) -> None:
    code = (
        "import logging, sys, structlog\n"
        "from headwater.server.operations.logs import configure\n"
        "configure(sys.argv[1])\n"
        "structlog.get_logger('a').warning('not ready', reason='no postgresql://u:hunter2@h/db', password='hunter2')\n"
        "logging.getLogger('b').error('tried %s', {'api_key': 'hunter2'})\n"
        "try: raise ValueError('password=hunter2')\n"
        "except ValueError: structlog.get_logger('c').exception('failed')\n"
    )
    subprocess.run([sys.executable, "-c", code, form], check=True)
    printed = capfd.readouterr().err
    assert "hunter2" not in printed
    assert all(word in printed for word in ("not ready", "tried", "ValueError", "@h/db"))
    if form == "json":
        assert len([json.loads(line) for line in printed.splitlines()]) == 3


def test_metrics_count_requests_and_events(client: TestClient) -> None:
    client.post(LINEAGE, json=event())
    client.post(LINEAGE, json=[event("s"), 7])
    client.post(LINEAGE, content=b"{")
    client.get("/nowhere/secret")
    page = client.get("/metrics").text.splitlines()
    for line in (
        f'headwater_requests_total{{method="POST",route="{LINEAGE}",status="201"}} 1.0',
        f'headwater_requests_total{{method="POST",route="{LINEAGE}",status="207"}} 1.0',
        f'headwater_requests_total{{method="POST",route="{LINEAGE}",status="400"}} 1.0',
        'headwater_requests_total{method="GET",route="unmatched",status="404"} 1.0',
        f'headwater_request_seconds_count{{method="POST",route="{LINEAGE}"}} 3.0',
        'headwater_events_total{outcome="taken"} 2.0',
        'headwater_events_total{outcome="refused"} 2.0',
        "headwater_intake_waiting 0.0",
        "headwater_transaction_seconds_count 2.0",
    ):
        assert line in page
    assert "secret" not in "".join(page)


def test_a_read_that_takes_too_long_is_ended_and_a_write_is_not() -> None:
    def slow(_: object) -> PlainTextResponse:
        time.sleep(0.5)
        return PlainTextResponse("late")

    app = Starlette(routes=[Route("/", slow, methods=["GET", "POST"])])
    app.add_middleware(Deadline, seconds=0.1)
    with TestClient(app) as client:
        read = client.get("/")
        assert (read.status_code, "There was no answer within 0.1 s" in read.text, read.headers["retry-after"]) == (
            503,
            True,
            "5",
        )
        assert client.post("/").text == "late"


def test_what_nobody_foresaw_is_answered_and_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    app: FastAPI = create_app(ServerSettings(f"sqlite:///{tmp_path}/l.db"))

    @app.get("/broken")
    def broken() -> None:
        raise ZeroDivisionError

    with TestClient(app) as client:
        answer = client.get("/broken", headers={"X-Request-ID": "here"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "here")
    assert "the request id here" in answer.json()["message"]
    assert any("here" in record.getMessage() and record.levelname == "ERROR" for record in caplog.records)


def test_a_caller_who_leaves_does_not_stop_the_intake(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "l.db")) as store:
        intake = Intake(store, 10)
        with store.write():
            first = intake.put([event_of(event("a"))])
            while not first.running():
                time.sleep(0.01)
            left = intake.put([event_of(event("b"))])
            assert left.cancel()
        assert first.result(60) == 1
        assert intake.put([event_of(event("c"))]).result(60) == 1
        assert intake.stuck_for == 0.0
        intake.close()
        assert intake.stuck_for > 1e9
        with store.read() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM event").scalar() == 2


def test_a_store_that_another_process_holds_is_reported_and_served_later(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "l.db"), timeout=0.1) as store, open_store(store.url) as other:
        intake = Intake(store, 10)
        with other.write(), pytest.raises(StoreLocked):
            intake.put([event_of(event("a"))]).result(60)
        assert intake.put([event_of(event("a"))]).result(60) == 1
        intake.close()
