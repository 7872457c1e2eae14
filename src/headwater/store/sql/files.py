"""Files of SQLite, in which backups are, whatever database the store is in: copied page by page, and checked."""

import contextlib
import sqlite3
from pathlib import Path

from sqlalchemy import Engine

from headwater.errors import StoreCorrupt, StoreUnavailable


def file_url(path: Path) -> str:
    """The URL of a store in a file."""
    return f"sqlite:///{path.absolute()}"


def copy_pages(source: Path, target: Path) -> None:
    """Copy what was committed when the copy began, or began again because of a writer.

    Raises:
        StoreCorrupt: the source is no such file, or is damaged.
        StoreUnavailable: it cannot be read, or the target not be written.
    """
    with contextlib.closing(sqlite3.connect(source)) as one, contextlib.closing(sqlite3.connect(target)) as other:
        other.execute("PRAGMA synchronous = FULL")
        try:
            one.backup(other)
        except sqlite3.Error as fault:
            if fault.sqlite_errorname in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
                raise StoreCorrupt(
                    f"{source} is no headwater store, or is damaged ({fault}). Name another file."
                ) from fault
            raise StoreUnavailable(
                f"{source} cannot be copied to {target} ({fault}). Check rights and room on the disk."
            ) from fault


def require_whole(copied: Path, original: Path) -> None:
    """Make sure that all pages of a copy are in order.

    Raises:
        StoreCorrupt: one is not; the message names the original.
    """
    with contextlib.closing(sqlite3.connect(copied)) as connection:
        found = connection.execute("PRAGMA integrity_check").fetchone()[0]
    if found != "ok":
        raise StoreCorrupt(f"The backup {original} is damaged ({found.splitlines()[0]}). Use another one.")


def merge_log(engine: Engine) -> None:
    """Write what is in the log beside a file into the file, so that the file alone is whole."""
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
