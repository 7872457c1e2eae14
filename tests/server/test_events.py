"""Events sent to a server: durable when acknowledged, refused with the reason."""

import gzip
import json

from fastapi.testclient import TestClient
from tests.store.conftest import run_event, written

from headwater.store import open_store

LINEAGE = "/api/v1/lineage"


def test_an_event_is_in_the_store_when_it_is_acknowledged(client: TestClient) -> None:
    event = run_event("job", written("gold", {"a": ["raw.x"]}), run="r")
    answer = client.post(LINEAGE, json=event)
    assert (answer.status_code, answer.content) == (201, b"")
    with open_store(client.app.state.server.store.url, read_only=True) as store:
        assert store.events(event["run"]["runId"]) == [event]


def test_an_event_is_on_the_disk_when_it_is_acknowledged(client: TestClient) -> None:
    """SQLite waits for the disk at each commit: a loss of power takes nothing that was acknowledged."""
    with client.app.state.server.store.write() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2


def test_the_same_event_twice_changes_nothing(client: TestClient) -> None:
    event = run_event("job", written("gold", {"a": ["raw.x"]}), run="r")
    assert [client.post(LINEAGE, json=event).status_code for _ in range(2)] == [201, 201]
    assert len(client.app.state.server.store.events(event["run"]["runId"])) == 1


def test_of_many_events_the_unreadable_are_named(client: TestClient) -> None:
    good = run_event("job", written("gold", {"a": ["raw.x"]}))
    answer = client.post(LINEAGE, json=[good, {"eventTime": 1}, 7])
    assert answer.status_code == 207
    assert answer.json()["summary"] == {"received": 3, "successful": 1, "failed": 2}
    assert [one["index"] for one in answer.json()["failed_events"]] == [1, 2]


def test_packed_bodies_are_unpacked(client: TestClient) -> None:
    event = run_event("job", written("gold", {"a": ["raw.x"]}))
    body = gzip.compress(json.dumps(event).encode())
    assert client.post(LINEAGE, content=body, headers={"Content-Encoding": "gzip"}).status_code == 201
    half = client.post(LINEAGE, content=body[:-20], headers={"Content-Encoding": "gzip"})
    assert (half.status_code, "gzip" in half.json()["message"]) == (400, True)
    other = client.post(LINEAGE, content=body, headers={"Content-Encoding": "br"})
    assert other.status_code == 415


def test_what_is_no_event_is_refused_with_the_reason(client: TestClient) -> None:
    for body, reason in ((b"{", "Not JSON"), (b'{"a":1}', "An object with a"), (b"[" * 100_000, "Not JSON")):
        answer = client.post(LINEAGE, content=body)
        assert (answer.status_code, answer.json()["code"]) == (400, 400)
        assert answer.json()["message"].startswith(reason)


def test_a_body_that_unpacks_to_too_much_is_refused(client: TestClient) -> None:
    bomb = gzip.compress(b" " * 200_000_000, compresslevel=1)
    answer = client.post(LINEAGE, content=bomb, headers={"Content-Encoding": "gzip"})
    assert (answer.status_code, "bytes" in answer.json()["message"]) == (413, True)


def test_a_batch_is_answered_as_openlineage_says(client: TestClient) -> None:
    """The OpenLineage API 2.0.2, ``/lineage/batch``: 204, or 200 with what failed."""
    good = [run_event(f"job {one}", written("gold", {"a": ["raw.x"]})) for one in range(3)]
    whole = client.post(f"{LINEAGE}/batch", json=good[:2])
    assert (whole.status_code, whole.content) == (204, b"")
    assert client.post(f"{LINEAGE}/batch", json=[]).status_code == 204
    partly = client.post(f"{LINEAGE}/batch", json=[{"eventTime": 1}, good[2], 7])
    document = partly.json()
    assert (partly.status_code, document["status"]) == (200, "partial_success")
    assert document["summary"] == {"received": 3, "successful": 1, "failed": 2, "retriable": 0, "non_retriable": 2}
    assert [(one["index"], one["retriable"]) for one in document["failed_events"]] == [(0, False), (2, False)]
    assert all(one["reason"] for one in document["failed_events"])
    for event in good:
        assert client.app.state.server.store.events(event["run"]["runId"]) == [event]
    for body, reason in ((good[0], "expected an array of events"), ("x", "a text")):
        refused = client.post(f"{LINEAGE}/batch", json=body)
        assert (refused.status_code, reason in refused.json()["message"]) == (400, True)
