"""A server that knows a small world: two jobs, three datasets, one run each (world.json)."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.server.access import bearer
from tests.store.conftest import new_database as new_database  # noqa: PLC0414 - fixtures
from tests.store.conftest import url as url  # noqa: PLC0414

from headwater.server import ServerSettings, create_app
from headwater.store.maintenance.keyring import issue

EVENTS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "world.json").read_text())


@pytest.fixture
def empty(url: str) -> Iterator[TestClient]:
    """A server with nothing in its store, on each kind of database."""
    with TestClient(create_app(ServerSettings(url))) as client:
        yield client


@pytest.fixture
def world(empty: TestClient) -> TestClient:
    """The same with the world in it."""
    assert empty.post("/api/v1/lineage", json=EVENTS).status_code == 201
    return empty


@pytest.fixture
def small(client: TestClient) -> TestClient:
    """The world on SQLite only."""
    assert client.post("/api/v1/lineage", json=EVENTS).status_code == 201
    return client


@pytest.fixture
def granted(small: TestClient) -> Callable[..., AbstractContextManager[TestClient]]:
    """Asks, of a server with authentication on the same store, with a key for only some namespaces."""

    @contextmanager
    def narrowed(*namespaces: str) -> Iterator[TestClient]:
        store = small.app.state.server.store
        _, token = issue(store, "narrow", "write", namespaces)
        with TestClient(create_app(ServerSettings(store.url, auth=True)), headers=bearer(token)) as client:
            yield client

    return narrowed
