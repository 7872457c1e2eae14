"""Back ends that are slow, move, break off, or are not there: no event is lost, or sent where it does not belong."""

import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from tests.openlineage.back_ends import OK, Raw, listening, number_of, status
from tests.openlineage.delivery.conftest import event, spooled

from headwater.errors import SettingError
from headwater.model import Job, Run, RunMoment, RunState
from headwater.openlineage.delivery import (
    Counts,
    Delivery,
    FileTarget,
    SinkTarget,
    UnusableTarget,
    client_targets,
    spool_key,
)
from headwater.openlineage.writing.events import run_event, to_json


@pytest.fixture
def raw() -> Iterator[Raw]:
    with listening(Raw()) as one:
        yield one


def test_what_a_slow_back_end_has_not_acknowledged_is_on_disk_before_the_wait(raw: Raw, spool: Path) -> None:
    raw.seconds = 4
    delivery = Delivery(client_targets(raw.config()), spool)
    began = time.monotonic()
    for number in range(9):
        delivery.deliver(event(number))
    assert time.monotonic() - began < raw.seconds
    assert spooled(spool) == list(range(9))
    assert not delivery.close(0.8)
    assert 0.7 < time.monotonic() - began < raw.seconds
    assert sorted({*raw.acknowledged, *spooled(spool)}) == list(range(9))
    assert len(spooled(spool)) >= 8
    late = time.monotonic() + 60
    while len(spooled(spool)) == 9 and time.monotonic() < late:
        time.sleep(0.1)  # the answer to the event that was under way comes, and counts
    assert sorted([*raw.acknowledged, *spooled(spool)]) == list(range(9))
    assert len(spooled(spool)) == 8
    raw.seconds = 0
    assert Delivery(client_targets(raw.config()), spool).flush(10)
    assert raw.received == list(range(9))


def test_a_slow_target_takes_no_time_from_another(raw: Raw, spool: Path, tmp_path: Path) -> None:
    raw.seconds = 30
    delivery = Delivery([*client_targets(raw.config()), FileTarget(tmp_path / "events")], spool)
    for number in range(5):
        delivery.deliver(event(number))
    began = time.monotonic()
    assert not delivery.close(0.3)
    assert time.monotonic() - began < raw.seconds / 2
    assert len((tmp_path / "events").read_text().splitlines()) == 5
    assert spooled(spool) == list(range(5))


@pytest.mark.parametrize("code", [301, 302, 303])
def test_a_redirect_that_makes_a_get_of_it_delivers_nothing(
    raw: Raw, spool: Path, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    with listening(Raw()) as moved:
        raw.answers = [status(code, b"", f"Location: {moved.url}/api/v1/lineage")]
        with_typo = Delivery(client_targets(raw.config()), spool)
        with_typo.deliver(event(1))
        assert with_typo.wait()
        assert with_typo.counts["http"].delivered == 0
        assert not moved.requests
    assert spooled(spool) == [1]
    assert f"it answered {code}; the back end is at {moved.url}/api/v1/lineage: correct its URL" in caplog.text
    assert with_typo.flush()
    assert raw.acknowledged == [1]


@pytest.mark.parametrize("code", [307, 308])
def test_a_redirect_that_keeps_the_post_is_followed(raw: Raw, spool: Path, code: int) -> None:
    with listening(Raw()) as moved:
        raw.answers = [status(code, b"", f"Location: {moved.url}/elsewhere")]
        assert Delivery(client_targets(raw.config()), spool).close() is True
        delivery = Delivery(client_targets(raw.config()), spool)
        delivery.deliver(event(1))
        assert delivery.close()
    assert [(method, path) for method, path, _ in moved.requests] == [("POST", "/elsewhere")]
    assert moved.acknowledged == [1]


BROKEN = {
    "no answer": b"",
    "half a status line": b"HTTP/1.1 20",
    "half a body": b"HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\nhalf",
    "no HTTP": b"+OK\r\n",
}


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_a_broken_answer_acknowledges_nothing(raw: Raw, spool: Path, answer: bytes) -> None:
    raw.answers = [answer, answer]
    delivery = Delivery(client_targets(raw.config()), spool, rest=0)
    delivery.deliver(event(1))
    assert delivery.wait(20)
    assert spooled(spool) == [1]
    raw.answers.clear()
    assert delivery.flush()
    assert raw.acknowledged == [1]


def test_a_back_end_that_dies_in_the_middle_gets_the_rest_when_it_is_back(spool: Path) -> None:
    raw = Raw(seconds=0.05)
    delivery = None
    with listening(raw):
        delivery = Delivery(client_targets(raw.config()), spool, rest=0)
        for number in range(20):
            delivery.deliver(event(number))
        time.sleep(0.3)
    assert delivery.wait(20)
    before = list(raw.acknowledged)
    assert 0 < len(before) < 20
    with listening(raw):
        raw.seconds = 0
        assert delivery.close(20)
    assert sorted(set(raw.acknowledged)) == list(range(20))
    assert len(raw.acknowledged) <= 21  # the one whose answer was cut may have been taken


FINAL, LATER = (
    (400, 409, 413, 422),
    (401, 402, 403, 404, 405, 406, 407, 408, 410, 415, 421, 425, 429, 500, 501, 502, 503),
)


@pytest.mark.parametrize("code", [*FINAL, *LATER])
def test_what_is_not_about_the_event_is_sent_again(raw: Raw, spool: Path, code: int) -> None:
    raw.answers = [status(code)]
    delivery = Delivery(client_targets(raw.config()), spool)
    delivery.deliver(event(1))
    assert delivery.wait()
    assert spooled(spool) == ([] if code in FINAL else [1])
    assert (spool / "rejected.ndjson").exists() is (code in FINAL)


def test_http_where_https_is_meant_is_about_the_url(raw: Raw, spool: Path) -> None:
    raw.answers = [status(400, b"<h1>400</h1> The plain HTTP request was sent to HTTPS port")]
    delivery = Delivery(client_targets(raw.config()), spool)
    delivery.deliver(event(1))
    assert delivery.wait()
    assert spooled(spool) == [1]


def test_what_waits_for_one_address_is_not_sent_to_another(raw: Raw, spool: Path) -> None:
    gone = Raw(port=raw.port)
    with listening(Raw()) as other:
        raw.answers = [status(503)]
        first = Delivery(client_targets(raw.config()), spool)
        first.deliver(event(1))
        assert first.wait()
        first.close()
        second = Delivery(client_targets(other.config()), spool)
        second.deliver(event(2))
        assert second.close()
        assert other.received == [2]
        assert list(second.stranded().values()) == [1]
        assert second.stranded().keys() == {spool_key(client_targets(gone.config())[0])}
    with_key = client_targets(raw.config(auth={"type": "api_key", "apiKey": "new"}, timeout=3))
    assert Delivery(with_key, spool).flush()
    assert raw.acknowledged == [1]


def test_an_address_has_no_secrets_and_is_the_same_for_whoever_asks() -> None:
    plain = client_targets({"transport": {"type": "http", "url": "http://h:5000"}})[0]
    secret = client_targets({"transport": {"type": "http", "url": "http://me:hunter2@h:5000/?key=hunter2"}})[0]
    assert plain.address == "http://h:5000/api/v1/lineage"
    assert "hunter2" not in secret.address + spool_key(secret)
    assert secret.address == plain.address
    assert spool_key(plain).startswith("http@h_5000_api_v1_lineage-")


def test_events_of_an_earlier_version_are_sent(raw: Raw, spool: Path) -> None:
    spool.mkdir(parents=True)
    (spool / "http.00000000000000000001-1.ndjson").write_text(to_json(event(1)) + "\n")
    (spool / "store.00000000000000000001-1.ndjson").write_text(to_json(event(2)) + "\n")
    in_store: list[str] = []
    delivery = Delivery([*client_targets(raw.config()), SinkTarget("store", in_store.append, "lineage.db")], spool)
    delivery.deliver(event(3))
    assert delivery.close()
    assert raw.received == [1, 3]
    assert [number_of(line) for line in in_store] == [2, 3]


TYPOS = [
    "h:5000",
    "htp://h:5000",
    "http//h",
    "http:/h",
    "http://",
    "http://h:99999",
    "http://h o:1",
    "http://a..b/",
    "x",
]


@pytest.mark.parametrize("url", TYPOS)
def test_a_url_with_a_typo_is_one_clear_error(url: str) -> None:
    with pytest.raises(SettingError, match="The OpenLineage transport cannot be used") as raised:
        client_targets({"transport": {"type": "http", "url": url}})
    assert url in str(raised.value)


def test_events_of_a_typo_wait_for_the_url_that_is_right(
    raw: Raw, spool: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wrong = Delivery([UnusableTarget("http", "its URL is 'htp://h'")], spool, rest=0)
    for number in range(3):
        wrong.deliver(event(number))
    assert not wrong.close()
    assert sum("its URL is 'htp://h'" in message for message in caplog.messages) == 1
    assert not (spool / "rejected.ndjson").exists()
    assert Delivery(client_targets(raw.config()), spool).flush()
    assert raw.acknowledged == [0, 1, 2]


def test_an_asynchronous_transport_is_not_believed_before_it_was_answered(spool: Path) -> None:
    gone = Raw(port=1)
    delivery = Delivery(client_targets(gone.config() | {"transport": {"type": "async_http", "url": gone.url}}), spool)
    delivery.deliver(event(1))
    assert delivery.wait(20)
    assert spooled(spool) == [1]


def kafka(**more: str) -> dict[str, object]:
    return {"transport": {"type": "kafka", "topic": "lineage", "flush": False, "config": {"log_level": "0", **more}}}


def test_kafka_acknowledges_an_event_by_its_broker(spool: Path) -> None:
    """The broker is the one that librdkafka has for tests, in this process."""
    delivery = Delivery(client_targets(kafka(**{"test.mock.num.brokers": "1"})), spool)
    delivery.deliver(event(1))
    assert delivery.wait(30)
    assert delivery.counts["kafka"] == Counts(delivered=1)
    large = RunMoment(Run(str(UUID(int=2)), Job("jobs", "x" * 2_000_000)), RunState.COMPLETE, datetime.now(UTC))
    delivery.deliver(run_event(large))
    delivery.deliver(event(3))
    assert delivery.close(30)
    assert delivery.counts["kafka"] == Counts(delivered=2, rejected=1)


def test_what_no_broker_acknowledges_waits(spool: Path) -> None:
    away = client_targets(kafka(**{"bootstrap.servers": "127.0.0.1:1", "message.timeout.ms": "500"}))
    assert away[0].address == "lineage 127.0.0.1:1"
    delivery = Delivery(away, spool)
    for number in range(3):
        delivery.deliver(event(number))
    assert delivery.wait(30)
    assert spooled(spool) == [0, 1, 2]
    assert delivery.counts["kafka"].delivered == 0


def deliver_until_killed(url: str, spool: str, ready: str) -> None:
    delivery = Delivery(client_targets({"transport": {"type": "http", "url": url}}), Path(spool))
    for number in range(30):
        delivery.deliver(event(number))
    Path(ready).write_text("")
    time.sleep(60)


def test_a_job_that_is_killed_loses_no_event(raw: Raw, spool: Path, tmp_path: Path) -> None:
    raw.seconds = 0.05
    context = multiprocessing.get_context("spawn")
    job = context.Process(target=deliver_until_killed, args=(raw.url, str(spool), str(tmp_path / "ready")))
    job.start()
    while not (tmp_path / "ready").exists():
        time.sleep(0.01)
    time.sleep(0.3)
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)
    job.join(30)
    time.sleep(0.2)
    before = len(raw.received)
    assert 0 < before < 30
    raw.seconds = 0
    assert Delivery(client_targets(raw.config()), spool).flush(20)
    assert sorted(set(raw.acknowledged)) == list(range(30))
    assert len(raw.received) <= 30 + before  # what was acknowledged since the file was last cut comes twice
    assert spooled(spool) == []


def test_events_that_no_disk_takes_are_sent_all_the_same(
    raw: Raw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    delivery = Delivery(client_targets(raw.config()), tmp_path / "file" / "spool")
    for number in range(3):
        delivery.deliver(event(number))
    assert delivery.close()
    assert raw.acknowledged == [0, 1, 2]
    assert delivery.counts["http"].lost == 0


def test_many_threads_lose_and_double_nothing(raw: Raw, spool: Path) -> None:
    delivery = Delivery(client_targets(raw.config()), spool)
    threads = [
        threading.Thread(target=lambda first=first: [delivery.deliver(event(first + n)) for n in range(25)])
        for first in (0, 100, 200, 300)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert delivery.close(30)
    assert sorted(raw.received) == [first + n for first in (0, 100, 200, 300) for n in range(25)]
    assert not spool.exists()


def test_a_long_backlog_is_cut_as_it_is_acknowledged(raw: Raw, spool: Path) -> None:
    raw.answers = [OK] * 12 + [status(503)] * 2
    delivery = Delivery([UnusableTarget("http", "away")], spool, rest=0)
    for number in range(16):
        delivery.deliver(event(number))
    delivery.close()
    assert not Delivery(client_targets(raw.config()), spool).close()
    assert raw.acknowledged == list(range(12))
    assert spooled(spool) == list(range(12, 16))
    assert json.loads(next(spool.glob("http.*")).read_text().splitlines()[0])["run"]["runId"] == str(UUID(int=12))
