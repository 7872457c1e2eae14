"""A server in the test's own process, on a fresh store of each kind."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from tests.server.processes import Forker
from tests.store.conftest import new_file
from tests.store.conftest import postgres as postgres  # noqa: PLC0414 - a fixture

from headwater.server import ServerSettings, create_app


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    """Starts servers in processes of their own."""
    made = Forker()
    yield made
    made.close()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """Requests to a server on an SQLite file."""
    with TestClient(create_app(ServerSettings(f"sqlite:///{new_file(tmp_path)}"))) as client:
        yield client
