"""A store as a file and back, between both kinds of databases."""

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from headwater.errors import SettingError, StoreCorrupt, StoreTooNew, StoreTooOld, StoreUnavailable
from headwater.store import Store, open_store
from headwater.store.maintenance.backup import back_up, restore
from headwater.store.maintenance.inspection import inspect
from headwater.store.maintenance.keyring import issue, recognized


def fill(store: Store, words: Any, minutes: range = range(5)) -> None:
    for minute in minutes:
        parent = {"run": {"runId": f"app {minute}"}, "job": {"namespace": "demo", "name": "app"}}
        output = words.written("gold", {"a": [f"raw.x{minute % 2}", "raw.y FILTER"]}, symlinks=["db.gold"])
        store.ingest([words.run_event("daily", output, minute=minute, run_facets={"parent": parent}, inputs=["raw"])])


def content(store: Store, words: Any) -> dict[str, list[str]]:
    """The content of a store; SQLite writes 0 and 1 for what PostgreSQL writes as a word."""
    found = words.contents(store).items()
    return {name: sorted(row.replace("True", "1").replace("False", "0") for row in rows) for name, rows in found}


@pytest.fixture(params=["sqlite", "postgres"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where to restore to."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'other' / 'lineage.db'}"
    return str(request.getfixturevalue("new_database")(bare=True))


def test_a_restored_store_answers_as_the_first_and_goes_on(
    store: Store, other: str, words: Any, tmp_path: Path
) -> None:
    fill(store, words)
    key, token = issue(store, "etl", "write", ["file"])
    back_up(store.url, tmp_path / "backups" / "one.db")
    assert [path.name for path in (tmp_path / "backups").iterdir()] == ["one.db"]
    restore(tmp_path / "backups" / "one.db", other)
    with open_store(other) as again:
        assert content(again, words) == content(store, words)
        assert recognized(again, token) == key
        for each in (store, again):
            fill(each, words, range(5, 8))
            each.ingest([words.run_event("new", words.written("new", {"n": ["gold.a"]}), minute=9, run="n")])
        gone = {"runs", "touched", "lineage"}  # whose runs have ids of their own
        mine, its = content(store, words), content(again, words)
        assert {name for name in mine if mine[name] != its[name]} <= gone


def test_nothing_is_replaced_without_the_option(store: Store, words: Any, tmp_path: Path) -> None:
    fill(store, words)
    file = tmp_path / "one.db"
    back_up(store.url, file)
    with pytest.raises(SettingError, match=r"is there already: .*--force"):
        back_up(store.url, file)
    with pytest.raises(SettingError, match=r"holds lineage already: .*--force"):
        restore(file, store.url)
    before = words.contents(store)
    fill(store, words, range(5, 8))
    assert words.contents(store) != before
    restore(file, store.url, force=True)
    assert words.contents(store) == before


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    target = str(tmp_path / "target.db")
    text, other, newer = tmp_path / "text.db", tmp_path / "other.db", tmp_path / "newer.db"
    text.write_bytes(b"this is no database" * 1000)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE things (id INTEGER)")
    connection.close()
    open_store(str(newer)).close()
    with sqlite3.connect(newer) as connection:
        connection.execute("UPDATE headwater_version SET version_num = '9999'")
    connection.close()
    for file, error in ((text, StoreCorrupt), (other, StoreCorrupt), (newer, StoreTooNew)):
        with pytest.raises(error):
            restore(file, target)
    with pytest.raises(StoreUnavailable, match="No backup at"):
        restore(tmp_path / "missing.db", target)
    assert not Path(target).exists()


def test_the_store_itself_is_no_place_for_its_backup(tmp_path: Path) -> None:
    path = tmp_path / "lineage.db"
    open_store(str(path)).close()
    with pytest.raises(SettingError, match="is the store itself"):
        back_up(str(path), path, force=True)


def test_a_backup_is_of_one_moment_while_others_write(store: Store, words: Any, tmp_path: Path) -> None:
    done = threading.Event()

    def write() -> None:
        with open_store(store.url) as mine:
            place = 0
            while not done.is_set():
                place += 1
                mine.ingest([words.run_event(f"job {place}", words.written(f"gold {place}", {"a": ["raw.x"]}))])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for place in range(3):
            back_up(store.url, tmp_path / f"{place}.db")
    finally:
        done.set()
        writer.join()
    for place in range(3):
        rows = dict(inspect(str(tmp_path / f"{place}.db")).rows)
        assert rows["run"] == rows["event"] == rows["job"]


def test_information_about_a_store(store: Store, words: Any, new_database: Callable[[], str]) -> None:
    fill(store, words)
    info = inspect(store.url)
    assert (info.current, info.size > 0, dict(info.rows)["run"]) == (True, True, 10)
    assert info.earliest is not None
    assert info.latest is not None
    assert info.latest - info.earliest == 4 * 60_000_000


def test_a_backup_of_before_the_first_schema_is_refused(tmp_path: Path) -> None:
    path, target = tmp_path / "lineage.db", tmp_path / "restored.db"
    open_store(str(path)).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE headwater_version SET version_num = '0018'")
    connection.close()
    with pytest.raises(StoreTooOld, match="headwater archive export DIR"):
        restore(path, str(target))
    assert not target.exists()
