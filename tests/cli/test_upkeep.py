"""The commands that keep a store and its server: keys, db, prune."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.store.conftest import run_event, written
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.store import open_store
from headwater.store.maintenance.keyring import recognized

Say = Callable[..., str]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "lineage.db"
    with open_store(str(path)) as store:
        for minute in range(3):
            store.ingest([run_event("daily", written("gold", {"a": [f"raw.x{minute}"]}), minute=minute)])
    return path


@pytest.fixture
def say(file: Path) -> Say:
    """The output of a command, after its exit code when that is not 0."""

    def run(*arguments: str, store: Path = file) -> str:
        result = CliRunner().invoke(app, [*arguments, "--store", str(store)], env={"COLUMNS": "200"})
        return result.output if result.exit_code == 0 else f"{result.exit_code}: {result.output}"

    return run


def test_keys_are_made_listed_and_ended(say: Say, file: Path) -> None:
    token = say("keys", "create", "etl", "--scope", "write", "--namespace", "s3://a-*", "--expires", "90d").split()[0]
    with open_store(str(file)) as store:
        key = recognized(store, token)
        assert key is not None
        assert (key.scope, key.namespaces) == ("write", ("s3://a-*",))
        assert key.expires_at is not None
        assert key.expires_at - key.created_at == 90 * 86_400 * 1_000_000
        listed = say("keys", "list")
        assert [word in listed for word in (key.id, "etl", "write", "s3://a-*", "valid")] == [True] * 5
        assert token.rpartition("_")[2] not in listed
        assert say("keys", "revoke", key.id) == f"Key {key.id} of etl is revoked.\n"
        assert "revoked" in say("keys", "list")
        assert recognized(store, token) is None
    assert say("keys", "revoke", "nosuch").startswith("1: Error: No key has the id 'nosuch'")
    assert say("keys", "create", "etl", "--expires", "soon").startswith("2: ")


def test_a_store_goes_through_a_file(say: Say, tmp_path: Path) -> None:
    backup, other = tmp_path / "backup.db", tmp_path / "other.db"
    assert say("db", "backup", str(backup)).startswith(f"{backup}: ")
    assert "is there already" in say("db", "backup", str(backup))
    restored = say("db", "restore", str(backup), store=other)
    printed = say("db", "info").replace(str(other.with_name("lineage.db")), str(other))
    assert restored.split() == printed.split()
    assert "3" in next(line for line in restored.splitlines() if line.startswith("run"))
    assert "--force" in say("db", "restore", str(backup), store=other)
    assert say("db", "upgrade").endswith("nothing to do.\n")


def test_pruning_says_what_goes(say: Say, file: Path) -> None:
    assert say("prune", "--keep", "1d", "--dry-run").startswith("2 runs, 2 events, 2 edges of the past from before")
    assert say("prune", "--keep", "1d", "--vacuum").rstrip().endswith("removed")
    assert say("prune", "--keep", "1d").startswith("0 runs, 0 events, 0 edges")
    assert say("prune", "--keep", "forever").startswith("2: ")
    assert "No store at" in say("prune", "--keep", "1d", store=file.with_name("none.db"))
