"""The stream of changes, from a server in a process of its own."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.access import bearer
from tests.server.columns.answers import Json
from tests.server.processes import PATIENCE, Forker, ServerProcess, serving
from tests.store.conftest import run_event, written

from headwater.store import Store, open_store
from headwater.store.maintenance.keyring import issue, revoke
from headwater.store.questions import changes_after, latest_event

CHANGES = "/api/v2/changes"


@pytest.fixture
def serve(forker: Forker, tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """Starts servers on one store."""
    numbers = count()
    with ExitStack() as running:

        def start(*options: str) -> ServerProcess:
            output = tmp_path / f"log {next(numbers)}"
            return running.enter_context(serving(forker, f"sqlite:///{tmp_path}/lineage.db", output, *options))

        yield start


def read(lines: Iterator[str]) -> Json:
    """The next event of a stream, without heartbeats."""
    event: Json = {}
    for line in lines:
        if not line and event:
            return event | {"data": json.loads(event["data"])}
        name, _, value = line.partition(":")
        if name:
            event[name] = value.strip()
    return event


def test_every_process_streams_changes_which_resume_and_end_with_the_server(serve: Any) -> None:
    server, other = serve(), serve()
    with httpx2.stream("GET", server.url + CHANGES, timeout=PATIENCE) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = stream.iter_lines()
        assert read(lines) == {"event": "begin", "id": "0", "data": {}}
        events = [run_event("job", written("gold", {"a": ["raw.x"], "b": ["raw.y"]}), minute=1, run="one")]
        httpx2.post(f"{other.url}/api/v1/lineage", json=events, timeout=PATIENCE)
        first = read(lines)
        assert (first["event"], first["data"]["change"]) == ("lineage", "first")
        assert first["data"]["edges"] == {"now": 2, "added": 2, "removed": 0}
        events = [
            run_event("job", written("gold", {"a": ["raw.x"], "b": ["raw.z"]}), minute=minute) for minute in (2, 3)
        ]
        httpx2.post(f"{server.url}/api/v1/lineage", json=events, timeout=PATIENCE)
        second = read(lines)
        assert second["data"] | {"run": ""} == {
            "change": "changed",
            "job": {"namespace": "demo", "name": "job"},
            "output": {"namespace": "file", "name": "/gold", "symlinks": []},
            "run": "",
            "at": "2026-01-01T00:02:00Z",
            "edges": {"now": 2, "added": 1, "removed": 1},
        }
    again = {"Last-Event-ID": first["id"]}
    with httpx2.stream("GET", server.url + CHANGES, headers=again, timeout=PATIENCE) as stream:
        lines = stream.iter_lines()
        assert (read(lines)["id"], read(lines)) == (first["id"], second)
        assert server.stop() in (0, -signal.SIGTERM)
        assert read(lines) == {}


def test_a_caller_with_limits_gets_the_changes_of_visible_namespaces(serve: Any, tmp_path: Path) -> None:
    address = serve("--auth").url
    with open_store(f"sqlite:///{tmp_path}/lineage.db") as store:
        some, every = (bearer(issue(store, "one", "write", [pattern])[1]) for pattern in ("sales", "*"))

    def send(job: str, namespace: str, made: Json) -> None:
        event = run_event(job, made | {"namespace": namespace})
        event["job"]["namespace"] = "zzhush-jobs" if "zzhush" in job else "sales"
        httpx2.post(f"{address}/api/v1/lineage", json=event, headers=every, timeout=PATIENCE).raise_for_status()

    with httpx2.stream("GET", address + CHANGES, headers=some, timeout=PATIENCE) as stream:
        received: list[str] = []
        lines = (received.append(line) or line for line in stream.iter_lines())
        assert read(lines)["event"] == "begin"
        send("zzhush", "zzhush", written("zzhush", {"zzhush": ["in.x"]}))
        send("zzhush", "sales", written("out", {"a": ["zzhush.zzhush"]}, symlinks=["zzhush.out"]))
        send("use", "sales", written("used", {"b": ["out.a", "zzhush.zzhush"]}))
        first, second = read(lines), read(lines)
    assert [(one["data"]["output"], one["data"]["job"]["namespace"]) for one in (first, second)] == [
        ({"namespace": "sales", "name": "/out", "symlinks": []}, "hidden"),
        ({"namespace": "sales", "name": "/used", "symlinks": []}, "sales"),
    ]
    assert (first["data"]["run"], second["data"]["edges"]["now"]) == ("", 2)
    assert [line for line in received if "zzhush" in line] == []
    again = some | {"Last-Event-ID": "0"}
    with httpx2.stream("GET", address + CHANGES, headers=again, timeout=PATIENCE) as stream:
        lines = stream.iter_lines()
        assert [read(lines)["event"], read(lines)["data"], read(lines)["data"]] == [
            *("begin", first["data"], second["data"]),
        ]


def test_the_stream_of_a_revoked_key_ends_within_five_seconds(serve: Any, tmp_path: Path) -> None:
    address = serve("--auth").url
    with open_store(f"sqlite:///{tmp_path}/lineage.db") as store:
        key, token = issue(store, "short", "read")
        with httpx2.stream("GET", address + CHANGES, headers=bearer(token), timeout=PATIENCE) as stream:
            lines = stream.iter_lines()
            assert read(lines)["event"] == "begin"
            revoke(store, key.id)
            began = time.monotonic()
            for line in lines:  # a stream that went on would say so every fifteen seconds
                assert time.monotonic() - began <= 5, line
    assert time.monotonic() - began <= 5


def test_what_no_stream_gave_is_refused(client: Any) -> None:
    for last in ("x", "-1", "9" * 30):
        assert client.get(CHANGES, headers={"Last-Event-ID": last}).status_code == 400


def test_only_new_lineage_is_a_change(store: Store, words: Any) -> None:
    same, other = words.written("gold", {"a": ["raw.x"]}), words.written("gold", {"a": ["raw.x SORT"]})
    events = [
        words.run_event("job", same, minute=1, state="START", run="1"),
        words.run_event("job", same, minute=2, run="1"),
        words.run_event("job", same, minute=3, run="2"),
        words.run_event("job", other, minute=4, state="FAIL", run="3"),
        words.run_event("job", words.written("gold", {"*": ["raw.x FILTER"]}), minute=5, run="4"),
    ]
    found = []
    for event in events:
        before = latest_event(store)
        store.ingest([event])
        latest, changes = changes_after(store, before)
        assert latest == before + 1
        found += [(one.at // 60_000_000 % 60, one.first, one.edges, one.added, one.removed) for one in changes]
    assert found == [(2, True, 1, 1, 0), (5, False, 1, 1, 1)]
    assert len(changes_after(store, 0)[1]) == 2
    assert changes_after(store, latest) == (latest, ())
