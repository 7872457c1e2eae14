"""A server that knows a small world: two jobs, three datasets, one run each (world.json)."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.store.conftest import new_database as new_database  # noqa: PLC0414 - fixtures
from tests.store.conftest import url as url  # noqa: PLC0414

from headwater.server import ServerSettings, create_app
from headwater.server.access import Caller, Scope
from headwater.server.server import Server

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


class _Narrow(Server):
    """A server that takes everybody for one who was granted some namespaces."""

    def caller(self, _: object) -> Caller:
        return Caller("narrow", Scope.WRITE, self.granted)

    granted: tuple[str, ...] = ()


@pytest.fixture
def granted(small: TestClient) -> Callable[..., AbstractContextManager[TestClient]]:
    """Asks as somebody who may see only some namespaces."""

    @contextmanager
    def narrowed(*namespaces: str) -> Iterator[TestClient]:
        whole = small.app.state.server
        kind = type("_Granted", (_Narrow,), {"granted": namespaces})
        small.app.state.server = kind(whole.settings, whole.store, whole.intake)
        yield small
        small.app.state.server = whole

    return narrowed
