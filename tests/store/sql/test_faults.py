"""Stores that cannot be used: each says what is wrong and what to do."""

import os
import resource
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import SettingError, StoreCorrupt, StoreError, StoreLocked, StoreTooNew, StoreUnavailable
from headwater.store import open_store, store_url
from headwater.store.questions import datasets
from headwater.store.schema import REVISIONS

ROOT = Path(__file__).resolve().parents[3]
NOBODY = 65534


@pytest.fixture
def file(tmp_path: Path, words: Any) -> Path:
    """The file of a store with one dataset pair."""
    path = tmp_path / "home" / "lineage.db"
    with open_store(str(path)) as store:
        store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.x"]}))])
    return path


def test_a_store_is_made_with_its_folder(tmp_path: Path) -> None:
    open_store(str(tmp_path / "a" / "b" / "lineage.db")).close()
    assert (tmp_path / "a" / "b" / "lineage.db").is_file()


@pytest.mark.parametrize("name", ["with space", "per%cent", "ques?tion", "ha#sh", "üñï"])
def test_odd_folders_are_folders(tmp_path: Path, name: str) -> None:
    open_store(str(tmp_path / name / "lineage.db")).close()
    assert (tmp_path / name / "lineage.db").is_file()
    open_store(str(tmp_path / name / "lineage.db"), read_only=True).close()


def test_a_missing_store_is_not_made_for_a_question(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"No store at .*headwater run.*--store"):
        open_store(str(tmp_path / "lineage.db"), read_only=True)
    with pytest.raises(StoreUnavailable, match="No store at"):
        open_store(str(tmp_path / "lineage.db"), create=False)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_is_no_database_is_corrupt(tmp_path: Path, *, read_only: bool) -> None:
    path = tmp_path / "lineage.db"
    path.write_bytes(b"this is no database" * 1_000)
    with pytest.raises(StoreCorrupt, match="not a headwater store or is damaged; move it away"):
        open_store(str(path), read_only=read_only)


@pytest.mark.parametrize("read_only", [True, False])
def test_the_database_of_another_program_is_left_alone(tmp_path: Path, *, read_only: bool) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE precious (x)")
    other.close()
    with pytest.raises(StoreCorrupt, match="not a headwater store"):
        open_store(str(path), read_only=read_only)


def test_a_damaged_store_is_corrupt(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096 * 2 :] = os.urandom(len(content) - 4096 * 2)
    file.write_bytes(content)
    with pytest.raises(StoreCorrupt), open_store(str(file)) as store:
        datasets(store)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_of_a_newer_headwater_is_not_touched(file: Path, *, read_only: bool) -> None:
    with sqlite3.connect(file) as newer:
        newer.execute("UPDATE headwater_version SET version_num = '9999'")
    newer.close()
    with pytest.raises(
        StoreTooNew, match=f"schema 9999, this headwater knows up to {REVISIONS[-1]}: upgrade headwater"
    ):
        open_store(str(file), read_only=read_only)


def test_a_store_that_another_holds_is_locked(file: Path, words: Any) -> None:
    holder = sqlite3.connect(file, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with open_store(str(file), timeout=0.1) as store:
        assert len(datasets(store)) == 2
        with pytest.raises(StoreLocked, match="another process holds it"):
            store.ingest([words.run_event("k", words.written("other"))])
        holder.execute("ROLLBACK")
        assert store.ingest([words.run_event("k", words.written("other"))]).added == 1
    holder.close()


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is no file"):
        open_store(str(tmp_path))


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match=r"cannot be reached .*Check the rights"):
        open_store(str(tmp_path / "file" / "lineage.db"))


@contextmanager
def without_rights() -> Iterator[None]:
    """The superuser may write everywhere, so be somebody else for a while."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def let_through(folder: Path) -> None:
    """Let others through a folder: pytest keeps those of its tests from them.

    One that they may enter already is left alone: it may belong to somebody else, as ``/tmp`` does, and only its owner
    can change its mode.
    """
    mode = folder.stat().st_mode
    everybody = mode | stat.S_IXGRP | stat.S_IXOTH
    if mode != everybody:
        folder.chmod(everybody)


def test_a_store_without_write_rights_can_be_read_and_says_so_when_written(file: Path) -> None:
    for folder in file.parents[1:]:
        let_through(folder)
    file.chmod(0o444)
    file.parent.chmod(0o555)
    try:
        with without_rights():
            with open_store(str(file), read_only=True) as store:
                assert len(datasets(store)) == 2
            with pytest.raises(StoreUnavailable, match="check the path and the rights"):
                open_store(str(file)).ingest([])
    finally:
        file.parent.chmod(0o755)


FILL = """
import resource, sys
from headwater.store import open_store
store = open_store(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
job = {"namespace": "n", "name": "j"}
for place in range(10_000):
    event = {"eventTime": "2026-01-01T00:00:00Z", "job": job, "run": {"runId": str(place), "facets": {}}}
    print(store.ingest([event]).added, flush=True)
"""


def test_a_full_disk_is_reported_and_loses_no_accepted_event(file: Path) -> None:
    environment = {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + FILL, str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert "headwater.errors.StoreFull" in result.stderr
    assert "disk is full or failing; make room" in result.stderr
    with open_store(str(file)) as store, store.read() as connection:
        stored = connection.exec_driver_sql("SELECT count(*) FROM event").scalar()
    assert stored == result.stdout.count("1") + 1
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 200_000


def test_an_invalid_url_is_reported() -> None:
    with pytest.raises(SettingError, match="expected a file path, sqlite:///PATH or postgresql"):
        open_store("nosuch://host/db")


def test_an_unreachable_server_is_reported_without_the_password() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(StoreError) as fault:
        open_store("postgresql://me:secret@127.0.0.1:1/db")
    assert isinstance(fault.value, StoreUnavailable)
    assert "secret" not in str(fault.value)
    assert "postgresql://…@127.0.0.1:1/db" in str(fault.value)


def test_a_folder_that_cannot_be_entered_is_reported(file: Path) -> None:
    file.parent.chmod(0o000)
    with without_rights(), pytest.raises(StoreUnavailable, match="Check the rights"):
        open_store(str(file))
    file.parent.chmod(0o755)


def test_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    monkeypatch.delenv("HEADWATER_STORE", raising=False)
    assert store_url() == f"sqlite:///{deep}/.headwater/lineage.db"
    open_store(str(tmp_path / ".headwater" / "lineage.db")).close()
    assert store_url() == f"sqlite:///{tmp_path}/.headwater/lineage.db"
    monkeypatch.setenv("HEADWATER_STORE", "from/variable.db")
    assert store_url() == f"sqlite:///{deep}/from/variable.db"
    assert store_url("postgresql://host/db") == "postgresql://host/db"
