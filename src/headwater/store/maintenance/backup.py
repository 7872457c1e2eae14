"""A store as one file, and back: the file is an SQLite store, whatever the store was kept in."""

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine

from headwater.errors import SettingError, StoreCorrupt, StoreUnavailable
from headwater.store.maintenance.upgrade import revision_of
from headwater.store.sql import engine as connections
from headwater.store.sql.copying import copy, empty, is_empty
from headwater.store.sql.location import sqlite_path, store_url
from headwater.store.store import open_store

_URL = "sqlite:///"


def back_up(url: str | None, file: Path, *, force: bool = False) -> None:
    """Writes all that is in a store at one moment to a file; others may use the store meanwhile.

    Args:
        url: the store (see `store_url`).
        file: where to; the file appears when it is whole.
        force: replace the file when there is one.

    Raises:
        SettingError: the file is there already, or is the store itself.
        StoreError: the store cannot be read, or the file not be written.
    """
    url = store_url(url)
    _refuse_to_replace(url, file, force=force)
    open_store(url, create=False, read_only=True).close()
    with _unfinished(file) as part:
        path = sqlite_path(url)
        if path is not None:
            _copy_pages(path, part)
        else:
            _copy_rows(url, _URL + str(part))
        os.replace(part, file)


def restore(file: Path, url: str | None, *, force: bool = False) -> None:
    """Makes a store what a backup holds, all at once; whoever uses the store waits, or goes on with what was before.

    Args:
        file: what `back_up` wrote, by this version of headwater or an older one.
        url: the store to fill (see `store_url`); one that is missing is made.
        force: replace what is in the store.

    Raises:
        SettingError: the store holds something, and ``force`` is False.
        StoreError: the file is no backup, a newer headwater wrote it, or the store cannot be written.
    """
    url = store_url(url)
    if not file.is_file():
        raise StoreUnavailable(f"No backup at {file}: expected a file that `headwater db backup` wrote.")
    _require_store(file)
    with tempfile.TemporaryDirectory(prefix="headwater-") as folder:
        copied = Path(folder) / "lineage.db"
        _copy_pages(file, copied)
        _require_whole(copied, file)
        open_store(str(copied)).close()  # upgrades the copy
        open_store(url).close()
        _fill(url, copied, force=force)


def _fill(url: str, copied: Path, *, force: bool) -> None:
    """SQLite takes pages faster than rows; what it cannot take at once it takes not at all."""
    engine = connections.connect(url, read_only=False, timeout=30, durable=True)
    try:
        with connections.told_plainly(url), connections.writing(engine) as target:
            if not (force or is_empty(target)):
                raise SettingError(
                    f"Store {connections.shown(url)} holds lineage already: name an empty one with --store, "
                    "or add --force to replace all that is in it."
                )
            if (path := sqlite_path(url)) is None:
                empty(target)
                with open_store(str(copied)) as source, source.read() as rows:
                    copy(rows, target)
    finally:
        engine.dispose()
    if path is not None:
        _copy_pages(copied, path)


def _copy_rows(url: str, target_url: str) -> None:
    open_store(target_url).close()
    source, target = (_engine(url, read_only=True), _engine(target_url, read_only=False))
    try:
        with (
            connections.told_plainly(url),
            connections.reading(source) as rows,
            connections.writing(target) as written,
        ):
            copy(rows, written)
        with target.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        source.dispose()
        target.dispose()


def _engine(url: str, *, read_only: bool) -> Engine:
    return connections.connect(url, read_only=read_only, timeout=30)


def _copy_pages(source: Path, target: Path) -> None:
    """SQLite's online backup: what was committed when it began, or began again because of a writer."""
    with contextlib.closing(sqlite3.connect(source)) as one, contextlib.closing(sqlite3.connect(target)) as other:
        other.execute("PRAGMA synchronous = FULL")
        try:
            one.backup(other)
        except sqlite3.Error as fault:
            raise _unreadable(source, target, fault) from fault


def _unreadable(source: Path, target: Path, fault: sqlite3.Error) -> StoreUnavailable | StoreCorrupt:
    if fault.sqlite_errorname in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
        return StoreCorrupt(f"{source} is no headwater store, or is damaged ({fault}). Name another file.")
    return StoreUnavailable(f"{source} cannot be copied to {target} ({fault}). Check rights and room on the disk.")


def _require_store(file: Path) -> None:
    url = _URL + str(file.absolute())
    engine = _engine(url, read_only=True)
    try:
        with connections.told_plainly(url):
            revision_of(engine, url)
    finally:
        engine.dispose()


def _require_whole(copied: Path, file: Path) -> None:
    with contextlib.closing(sqlite3.connect(copied)) as connection:
        found = connection.execute("PRAGMA integrity_check").fetchone()[0]
    if found != "ok":
        raise StoreCorrupt(f"The backup {file} is damaged ({found.splitlines()[0]}). Use another one.")


def _refuse_to_replace(url: str, file: Path, *, force: bool) -> None:
    path = sqlite_path(url)
    if path is not None and file.exists() and file.samefile(path):
        raise SettingError(f"{file} is the store itself: name another file for the backup.")
    if file.exists() and not force:
        raise SettingError(f"{file} is there already: name another file, or add --force to replace it.")


@contextlib.contextmanager
def _unfinished(file: Path) -> Iterator[Path]:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".headwater-", dir=file.parent) as folder:
            yield Path(folder) / "lineage.db"
    except OSError as fault:
        raise StoreUnavailable(f"{file} cannot be written ({fault.strerror}). Name another file.") from fault
