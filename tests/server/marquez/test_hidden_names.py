"""Names of what is hidden: the same in every answer of a store, and of no use to who guesses what they hide."""

from hashlib import blake2b
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from tests.server.access import bearer
from tests.store.conftest import run_event, written

from headwater.server import ServerSettings, create_app
from headwater.store import open_store
from headwater.store.maintenance.keyring import issue

GRAPH = "/api/v1/lineage?nodeId=dataset:sales:/out"


def shown(file: Path, reader: str = "reader") -> list[str]:
    """The hidden nodes of a graph, to somebody who sees two namespaces."""
    out: dict[str, Any] = written("out", {"y": ["secret.x"]}) | {"namespace": "sales"}
    with open_store(f"sqlite:///{file}") as store:
        store.ingest([run_event("make", out, inputs=("secret",), run="made")])
        _, key = issue(store, reader, "read", ["sales", "demo"])
    with TestClient(create_app(ServerSettings(f"sqlite:///{file}", auth=True))) as client:
        nodes = client.get(GRAPH, headers=bearer(key)).json()["graph"]
    return [node["id"] for node in nodes if ":hidden:" in node["id"]]


def test_a_name_is_the_same_after_a_restart_and_another_in_each_store(tmp_path: Path) -> None:
    once, other = shown(tmp_path / "one.db"), shown(tmp_path / "other.db")
    assert len(once) == 1
    assert once == shown(tmp_path / "one.db", "the same reader, later")
    assert once != other


def test_a_name_that_was_guessed_cannot_be_tried(tmp_path: Path) -> None:
    digest = blake2b(b"file\0/secret", digest_size=6).hexdigest()
    assert digest not in shown(tmp_path / "one.db")[0]
