"""Servers with lineage in them, and answers in few words."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.cli.conftest import EVENTS
from tests.server.columns.answers import Json
from tests.store.conftest import new_database as new_database  # noqa: PLC0414 - a fixture
from tests.store.conftest import store as store  # noqa: PLC0414 - a fixture
from tests.store.conftest import url as url  # noqa: PLC0414 - a fixture
from tests.store.conftest import words as words  # noqa: PLC0414 - a fixture

from headwater.server import ServerSettings, create_app

LINEAGE = "/api/v1/lineage"


def posted(client: TestClient, events: list[Json]) -> TestClient:
    """The server after it took events in, one by one."""
    for event in events:
        assert client.post(LINEAGE, json=event).status_code == 201
    return client


@pytest.fixture
def flights(client: TestClient) -> TestClient:
    """A server with the three jobs over flights that the tests of the command line have, too."""
    assert client.post(LINEAGE, json=EVENTS).status_code == 201
    return client


@pytest.fixture
def ask(flights: TestClient) -> Callable[..., Json]:
    """The answer to a question about flights."""

    def answer(question: str, **parameters: Any) -> Json:
        answer = flights.get(f"/api/v2/{question}", params=parameters)
        assert answer.status_code == 200, answer.text
        document: Json = answer.json()
        return document

    return answer


@pytest.fixture
def served(url: str) -> Iterator[TestClient]:
    """A server on a store of each kind."""
    with TestClient(create_app(ServerSettings(url))) as client:
        yield client
