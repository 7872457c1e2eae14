"""Events reach their back ends at least once, in order, whatever happens to those, the disk and the process."""

import contextlib
import json
import logging
import multiprocessing
import os
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from openlineage.client.event_v2 import RunEvent
from tests.openlineage.delivery.conftest import event, spooled

from headwater.errors import EventError, SettingError, StoreLocked
from headwater.openlineage.delivery import (
    Delivery,
    FileTarget,
    SinkTarget,
    client_targets,
    config_path,
    read_config,
)
from headwater.openlineage.writing.events import to_json


class BackEnd:
    """A back end on this machine that answers as a test wants, can go away, and come back at the same place."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.answers: list[int] = []
        self.paths: list[str] = []
        self._server = self._listening(0)
        self.port = self._server.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def go_away(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def come_back(self) -> None:
        self._server = self._listening(self.port)

    def _listening(self, port: int) -> ThreadingHTTPServer:
        back_end = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = back_end.answers.pop(0) if back_end.answers else 201
                back_end.paths.append(self.path)
                if status < 300:
                    back_end.received.append(body)
                text = b"" if status < 300 else b"the back end says no"
                self.send_response(status)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return server


@pytest.fixture
def back_end() -> Iterator[BackEnd]:
    one = BackEnd()
    yield one
    one.go_away()


def deliver(delivery: Delivery, one: RunEvent) -> None:
    """Deliver the event, and wait until each target has it or was found away."""
    delivery.deliver(one)
    assert delivery.wait(30)


def numbers(events: list[dict[str, Any]]) -> list[int]:
    return [UUID(one["run"]["runId"]).int for one in events]


@pytest.fixture
def to_back_end(back_end: BackEnd, spool: Path) -> Iterator[Delivery]:
    delivery = Delivery(client_targets({"transport": {"type": "http", "url": back_end.url}}), spool, rest=0)
    yield delivery
    delivery.close()


def test_events_arrive_in_order(back_end: BackEnd, to_back_end: Delivery, spool: Path) -> None:
    for number in range(3):
        deliver(to_back_end, event(number))
    assert numbers(back_end.received) == [0, 1, 2]
    assert to_back_end.counts["http"].delivered == 3
    assert to_back_end.close()
    assert not spool.parent.exists()


def test_a_back_end_that_was_away_gets_what_it_missed_first(
    back_end: BackEnd, to_back_end: Delivery, spool: Path
) -> None:
    deliver(to_back_end, event(0))
    back_end.go_away()
    deliver(to_back_end, event(1))
    deliver(to_back_end, event(2))
    assert spooled(spool) == [1, 2]
    back_end.come_back()
    deliver(to_back_end, event(3))
    assert numbers(back_end.received) == [0, 1, 2, 3]
    assert list(spool.iterdir()) == []


@pytest.mark.parametrize("status", [500, 502, 503, 429, 401, 404])
def test_an_answer_that_is_not_about_the_event_keeps_it(
    back_end: BackEnd, to_back_end: Delivery, spool: Path, status: int
) -> None:
    back_end.answers = [status]
    deliver(to_back_end, event(1))
    assert spooled(spool) == [1]
    assert to_back_end.counts["http"].waiting == 1
    assert to_back_end.flush()
    assert numbers(back_end.received) == [1]
    assert spooled(spool) == []


def test_an_outage_in_the_middle_keeps_the_rest_in_order(back_end: BackEnd, to_back_end: Delivery, spool: Path) -> None:
    back_end.answers = [503] * 3 + [201, 503, 201, 201, 201]
    for number in range(4):
        deliver(to_back_end, event(number))
    assert numbers(back_end.received) == [0]
    assert spooled(spool) == [1, 2, 3]
    assert to_back_end.flush()
    assert numbers(back_end.received) == [0, 1, 2, 3]


def test_a_back_end_is_left_alone_for_a_while_after_it_was_away(back_end: BackEnd, spool: Path) -> None:
    delivery = Delivery(client_targets({"transport": {"type": "http", "url": back_end.url}}), spool, rest=60)
    back_end.answers = [503]
    for number in range(5):
        deliver(delivery, event(number))
    assert len(back_end.paths) == 1
    assert not delivery.close()
    assert spooled(spool) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_refused_event_is_stored_apart_with_the_reason(
    back_end: BackEnd, to_back_end: Delivery, spool: Path, status: int
) -> None:
    back_end.answers = [status]
    deliver(to_back_end, event(1))
    deliver(to_back_end, event(2))
    assert numbers(back_end.received) == [2]
    refused = [json.loads(line) for line in (spool / "rejected.ndjson").read_text().splitlines()]
    assert refused[0]["reason"] == f"it answered {status}: the back end says no"
    assert numbers([json.loads(refused[0]["event"])]) == [1]
    assert to_back_end.counts["http"].rejected == 1


def test_the_next_start_sends_waiting_events(back_end: BackEnd, spool: Path) -> None:
    config = {"transport": {"type": "http", "url": back_end.url}}
    back_end.go_away()
    first = Delivery(client_targets(config), spool)
    deliver(first, event(1))
    first.close()
    back_end.come_back()
    second = Delivery(client_targets(config), spool)
    deliver(second, event(2))
    second.close()
    assert numbers(back_end.received) == [1, 2]


def test_a_line_cut_by_a_crash_costs_only_itself(spool: Path) -> None:
    spool.mkdir(parents=True)
    (spool / "store.00000000000000000001-1.ndjson").write_text(to_json(event(1)) + "\n" + to_json(event(2))[:40])
    received: list[str] = []
    delivery = Delivery([SinkTarget("store", received.append)], spool, rest=0)
    assert delivery.flush()
    deliver(delivery, event(3))
    assert numbers([json.loads(line) for line in received]) == [1, 3]
    assert list(spool.iterdir()) == []


def test_each_target_has_its_own_fate(back_end: BackEnd, spool: Path, tmp_path: Path) -> None:
    back_end.go_away()
    remote = client_targets({"transport": {"type": "http", "url": back_end.url}})
    delivery = Delivery([*remote, FileTarget(tmp_path / "new" / "events.ndjson")], spool)
    deliver(delivery, event(1))
    delivery.close()
    assert len((tmp_path / "new" / "events.ndjson").read_text().splitlines()) == 1
    assert spooled(spool) == [1]
    back_end.come_back()


def test_a_sink_that_is_locked_gets_the_event_later(spool: Path) -> None:
    failures, received = [StoreLocked("locked"), StoreLocked("locked")], []

    def sink(line: str) -> None:
        if failures:
            raise failures.pop()
        received.append(json.loads(line))

    delivery = Delivery([SinkTarget("store", sink)], spool, rest=0)
    for number in range(3):
        deliver(delivery, event(number))
    assert numbers(received) == [0, 1, 2]


def test_a_sink_refuses_an_event_by_an_event_error(spool: Path) -> None:
    def sink(line: str) -> None:
        raise EventError("no run")

    deliver(Delivery([SinkTarget("store", sink)], spool, rest=0), event(1))
    assert "EventError: no run" in (spool / "rejected.ndjson").read_text()


def test_a_full_spool_loses_the_newest_with_one_line(spool: Path, caplog: pytest.LogCaptureFixture) -> None:
    def away(line: str) -> None:
        raise ConnectionError("away")

    size = len(to_json(event(1))) + 1
    delivery = Delivery([SinkTarget("store", away)], spool, max_spool_bytes=2 * size, rest=0)
    with caplog.at_level(logging.INFO):
        for number in range(1, 6):
            deliver(delivery, event(number))
    assert spooled(spool) == [1, 2]
    assert delivery.counts["store"].lost == 3
    assert sum("are lost" in message for message in caplog.messages) == 1


def test_where_no_folder_can_be_made_one_line_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    delivery = Delivery([FileTarget(tmp_path / "file" / "events.ndjson")], tmp_path / "file" / "spool", rest=0)
    for number in range(3):
        deliver(delivery, event(number))
    assert not delivery.close() or delivery.counts["file"].lost == 3
    assert sum("are lost" in message for message in caplog.messages) == 1
    assert len(caplog.messages) == 2


def test_a_folder_that_takes_nothing_has_one_of_the_users_in_its_place(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = tmp_path / "place"
    place.write_text("")
    with contextlib.closing(Delivery([FileTarget(place / "events.ndjson")], place / "spool", rest=0)) as away:
        for number in range(3):
            deliver(away, event(number))
    assert away.counts["file"].waiting == 3
    assert len(caplog.messages) == 1
    place.unlink()
    place.mkdir()
    with contextlib.closing(Delivery([FileTarget(place / "events.ndjson")], place / "spool", rest=0)) as back:
        deliver(back, event(3))
    assert spooled(tmp_path / "place") == [0, 1, 2, 3]
    assert list((tmp_path / "state").rglob("*.ndjson")) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
def test_a_full_disk_keeps_the_event_elsewhere(spool: Path) -> None:
    delivery = Delivery([FileTarget(Path("/dev/full"))], spool)
    deliver(delivery, event(1))
    assert spooled(spool) == [1]


def test_spooled_events_are_for_their_owner_only(spool: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    deliver(Delivery([FileTarget(tmp_path / "file" / "x")], spool), event(1))
    assert [stat.S_IMODE(path.stat().st_mode) for path in spool.iterdir()] == [0o600]


def deliver_from_another_process(url: str, spool: str, first: int) -> None:
    delivery = Delivery(client_targets({"transport": {"type": "http", "url": url}}), Path(spool), rest=0)
    for number in range(first, first + 20):
        deliver(delivery, event(number))
    delivery.close()


def test_two_processes_share_a_spool(back_end: BackEnd, spool: Path) -> None:
    """Every fourth event finds the back end broken; afterwards each event is there exactly once."""
    back_end.answers = [status for _ in range(15) for status in (201, 201, 201, 503)]
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=deliver_from_another_process, args=(back_end.url, str(spool), first))
        for first in (100, 200)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    last = Delivery(client_targets({"transport": {"type": "http", "url": back_end.url}}), spool)
    back_end.answers = []
    assert last.flush()
    last.close()
    assert sorted(numbers(back_end.received)) == [*range(100, 120), *range(200, 220)]
    assert spooled(spool) == []


def test_the_clients_own_configuration_decides(
    back_end: BackEnd, spool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client_targets() == ()
    monkeypatch.setenv("OPENLINEAGE_URL", back_end.url)
    monkeypatch.setenv("OPENLINEAGE_ENDPOINT", "lineage")
    before = dict(os.environ)
    deliver(Delivery(client_targets(), spool), event(1))
    assert dict(os.environ) == before
    assert back_end.paths == ["/lineage"]
    monkeypatch.setenv("OPENLINEAGE_DISABLED", "true")
    assert client_targets() == ()


def test_an_openlineage_yml_is_read(back_end: BackEnd, spool: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text(
        f"transport:\n  type: http\n  url: {back_end.url}\nfilters:\n- {{type: exact, match: job 1}}\n"
    )
    delivery = Delivery(client_targets(read_config(tmp_path / "mine.yml")), spool)
    deliver(delivery, event(1))
    deliver(delivery, event(2))
    delivery.close()
    assert numbers(back_end.received) == [2]


def test_the_configuration_is_where_the_client_finds_it(tmp_path: Path) -> None:
    assert config_path({}) is None
    (tmp_path / ".openlineage").mkdir()
    for path in (tmp_path / ".openlineage" / "openlineage.yml", tmp_path / "openlineage.yml"):
        path.write_text("namespace: x")
        found = config_path({})
        assert found is not None
        assert found.resolve() == path.resolve()
    assert config_path({"OPENLINEAGE_CONFIG": str(tmp_path / "missing.yml")}) == Path("openlineage.yml")


def test_the_transports_of_a_composite_fail_apart(back_end: BackEnd, spool: Path, tmp_path: Path) -> None:
    there = {"type": "http", "url": back_end.url}
    away = {"type": "http", "url": "http://127.0.0.1:1"}
    targets = client_targets({"transport": {"type": "composite", "transports": {"there": there, "away": away}}})
    assert [target.name for target in targets] == ["there", "away"]
    delivery = Delivery(targets, spool)
    deliver(delivery, event(1))
    delivery.close()
    assert numbers(back_end.received) == [1]
    assert [path.name.partition("@")[0] for path in spool.iterdir()] == ["away"]


@pytest.mark.parametrize(
    "config",
    [{"transport": {"type": "nonsense"}}, {"transport": {"type": "http"}}, {"transport": {"type": "http", "url": "x"}}],
)
def test_a_transport_that_cannot_be_used_is_reported(config: dict[str, Any]) -> None:
    with pytest.raises(SettingError, match="The OpenLineage transport cannot be used"):
        client_targets(config)


@pytest.mark.parametrize("content", [None, "- a", "a: [", ""])
def test_a_configuration_that_cannot_be_read_is_reported(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "openlineage.yml"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SettingError, match=r"expected (an|the keys of an) openlineage\.yml"):
        read_config(path)


def test_no_secret_is_logged(back_end: BackEnd, spool: Path, caplog: pytest.LogCaptureFixture) -> None:
    url = f"http://me:tOpSeCrEt@127.0.0.1:{back_end.port}"
    config = {"transport": {"type": "http", "url": url, "auth": {"type": "api_key", "apiKey": "tOpSeCrEt"}}}
    with caplog.at_level(logging.INFO):
        delivery = Delivery(client_targets(config), spool, rest=0)
        back_end.answers = [422, 500]
        deliver(delivery, event(1))
        deliver(delivery, event(2))
        back_end.go_away()
        deliver(delivery, event(3))
        delivery.close()
        back_end.come_back()
    on_disk = "".join(path.read_text() for path in spool.iterdir())
    assert "tOpSeCrEt" not in caplog.text + on_disk
