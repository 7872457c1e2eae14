"""A store as one file, and back: the file is an SQLite store, whatever database the store is in."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Integer, Table, bindparam, delete, insert, select, update

from headwater.errors import SettingError, StoreUnavailable
from headwater.store import schema
from headwater.store.migrations.upgrade import revision_of
from headwater.store.sql import databases
from headwater.store.sql.databases import database_of
from headwater.store.sql.files import copy_pages, file_url, merge_log, require_whole
from headwater.store.sql.location import store_file, store_url
from headwater.store.store import open_store


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
        path = store_file(url)
        if path is not None:
            copy_pages(path, part)
        else:
            _copy_rows(url, file_url(part))
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
    with databases.opened(file_url(file), read_only=True) as engine:
        revision_of(engine, file_url(file))
    with tempfile.TemporaryDirectory(prefix="headwater-") as folder:
        copied = Path(folder) / "lineage.db"
        copy_pages(file, copied)
        require_whole(copied, file)
        open_store(str(copied)).close()  # upgrades the copy
        open_store(url).close()
        _fill(url, copied, force=force)


def _fill(url: str, copied: Path, *, force: bool) -> None:
    """Fill a file by pages, which is faster than by rows, and a server by rows, in one transaction."""
    with databases.opened(url, read_only=False, durable=True) as engine, databases.writing(engine) as target:
        if not (force or is_empty(target)):
            raise SettingError(
                f"Store {databases.shown(url)} holds lineage already: name an empty one with --store, "
                "or add --force to replace all that is in it."
            )
        if (path := store_file(url)) is None:
            empty(target)
            with open_store(str(copied)) as source, source.read() as rows:
                copy(rows, target)
    if path is not None:
        copy_pages(copied, path)


def _copy_rows(url: str, target_url: str) -> None:
    open_store(target_url).close()
    with databases.opened(target_url, read_only=False) as target, databases.opened(url, read_only=True) as source:
        with databases.reading(source) as rows, databases.writing(target) as written:
            copy(rows, written)
        merge_log(target)


def _refuse_to_replace(url: str, file: Path, *, force: bool) -> None:
    path = store_file(url)
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


_AT_ONCE = 1_000
_RUN = schema.run
_ADOPT = update(_RUN).where(_RUN.c.id == bindparam("row")).values(parent_id=bindparam("parent"))

Rows = list[dict[str, Any]]


def copy(source: Connection, target: Connection) -> int:
    """Copies all rows into empty tables of the same schema, ids included; how many there were."""
    copied = sum(_copy_table(source, target, table) for table in schema.metadata.sorted_tables)
    for rows in _batches(source, select(_RUN.c.id.label("row"), _RUN.c.parent_id.label("parent")), _RUN):
        target.execute(_ADOPT, rows)
    for table in schema.metadata.sorted_tables:
        if "id" in table.c and isinstance(table.c.id.type, Integer):
            database_of(target).continue_ids(target, table)
    return copied


def empty(target: Connection) -> None:
    """Deletes every row."""
    target.execute(update(_RUN).values(parent_id=None))
    for table in reversed(schema.metadata.sorted_tables):
        target.execute(delete(table))


def is_empty(target: Connection) -> bool:
    """Whether it has taken nothing in yet."""
    filled = (table for table in schema.metadata.sorted_tables if table not in (schema.secret, schema.schedule))
    return not any(target.execute(select(table).limit(1)).first() for table in filled)


def _copy_table(source: Connection, target: Connection, table: Table) -> int:
    copied = 0
    for rows in _batches(source, select(table), table):
        # A run may be of a parent with a greater id, which is not there yet.
        orphans = [row | {"parent_id": None} for row in rows] if table is _RUN else rows
        target.execute(insert(table), orphans)
        copied += len(rows)
    return copied


def _batches(source: Connection, question: Any, table: Table) -> Iterator[Rows]:
    ordered = question.order_by(*table.primary_key.columns)
    with source.execute(ordered.execution_options(yield_per=_AT_ONCE)) as result:
        for rows in result.mappings().partitions():
            yield [dict(row) for row in rows]
