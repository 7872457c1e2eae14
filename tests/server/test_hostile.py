"""Events that nobody should send: each is refused with the reason, and the server lives."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.store.conftest import run_event, written

from headwater.server import ServerSettings, create_app

LINEAGE = "/api/v1/lineage"
LONG = "x" * 100_000
QUOTE = "'; DROP TABLE edge; --"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One server for all of them: what one of them leaves must not harm the next."""
    url = f"sqlite:///{tmp_path_factory.mktemp('hostile')}/lineage.db"
    with TestClient(create_app(ServerSettings(url)), raise_server_exceptions=False) as client:
        yield client


def event() -> Any:
    return run_event("job", written("gold", {"a": ["raw.x"]}, ["db.gold"]), run="r", inputs=["raw"])


def changed(place: str, value: object) -> str:
    """The event with something else at a place, as ``outputs.0.name``; NAME= at its end changes a key."""
    made = event()
    *steps, last = [int(step) if step.isdigit() else step for step in place.split(".")]
    found = made
    for step in steps:
        found = found[step]
    if str(last).endswith("="):
        found[value] = found.pop(str(last)[:-1])
    else:
        found[last] = value
    return json.dumps(made)


NAMES = [
    "job.namespace",
    "job.name",
    "inputs.0.namespace",
    "outputs.0.name",
    "outputs.0.facets.schema.fields.0.name",
    "outputs.0.facets.symlinks.identifiers.0.name",
    "outputs.0.facets.columnLineage.fields.a=",
    "outputs.0.facets.columnLineage.fields.a.inputFields.0.name",
    "outputs.0.facets.columnLineage.fields.a.inputFields.0.field",
]
OBJECTS = ["outputs.0", "outputs.0.facets", "job", "job.facets", "run", "run.facets"]


def refused(client: TestClient, body: str | bytes) -> str:
    """Why; afterwards the server takes events and answers as before."""
    answer = client.post(LINEAGE, content=body)
    assert answer.status_code == 400, answer.text[:300]
    assert client.post(LINEAGE, json=event()).status_code == 201
    for question in ("/api/v1/namespaces", "/api/v1/events/lineage", "/api/v2/columns?q=a"):
        assert client.get(question).status_code == 200
    return str(answer.json()["message"])


@pytest.mark.parametrize("place", NAMES)
def test_names_of_a_hundred_thousand_characters(client: TestClient, place: str) -> None:
    assert "A name of 100,000 characters" in refused(client, changed(place, LONG))


@pytest.mark.parametrize("place", NAMES)
@pytest.mark.parametrize("name", ["a\0b", "\ud800"], ids=["nul", "half"])
def test_names_that_no_database_stores(client: TestClient, place: str, name: str) -> None:
    assert "no database stores that" in refused(client, changed(place, name))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *((place, value) for place in OBJECTS for value in (7, True, [1], "x")),
        *((place, value) for place in ("inputs", "outputs") for value in (7, True, [1], {"a": 1}, "x")),
    ],
    ids=str,
)
def test_parts_of_another_kind(client: TestClient, place: str, value: object) -> None:
    assert "expected" in refused(client, changed(place, value))


@pytest.mark.parametrize("name", [7, True, [1], {"a": 1}], ids=str)
@pytest.mark.parametrize("place", [place for place in NAMES if not place.endswith("=")])
def test_names_that_are_no_strings(client: TestClient, place: str, name: object) -> None:
    assert "expected a string" in refused(client, changed(place, name))


@pytest.mark.parametrize(
    "time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1969-12-31T23:59:59Z", "soon", "", None, 7]
)
def test_times_that_cannot_be(client: TestClient, time: object) -> None:
    assert "eventTime is" in refused(client, changed("eventTime", time))


@pytest.mark.parametrize("state", [LONG, "DONE", 7, {"a": 1}], ids=["long", "unknown", "number", "object"])
def test_states_that_are_none(client: TestClient, state: object) -> None:
    assert "expected one of ABORT, COMPLETE" in refused(client, changed("eventType", state))


@pytest.mark.parametrize("run", [LONG, "", 7, None])
def test_runs_without_an_id(client: TestClient, run: object) -> None:
    assert "expected a UUID" in refused(client, changed("run.runId", run))


@pytest.mark.parametrize(
    "body",
    [
        '{"eventTime":' + "[" * 5_000_000 + "]" * 5_000_000 + "}",
        json.dumps(event())[:-1] + ',"x":' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}",
        json.dumps(event())[:-1] + ',"x":1' + "0" * 5000 + "}",
        "",
        b"\xff\xfe",
        b"\0",
    ],
    ids=["10 MB of lists", "deep objects", "5,000 digits", "nothing", "no UTF-8", "a NUL"],
)
def test_what_is_no_json(client: TestClient, body: str | bytes) -> None:
    assert refused(client, body).startswith("Not JSON")


@pytest.mark.parametrize("place", NAMES)
def test_sql_in_names_is_a_name(client: TestClient, place: str) -> None:
    body = changed(place, QUOTE)
    assert client.post(LINEAGE, content=body).status_code == 201
    run = event()["run"]["runId"]
    assert json.loads(body) in client.app.state.server.store.events(run)
    assert client.get("/api/v2/columns", params={"q": QUOTE}).status_code == 200
