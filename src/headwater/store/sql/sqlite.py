"""SQLite: a file that one process writes at a time; each value is a parameter, many values are a JSON text."""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
from sqlalchemy import (
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    FromClause,
    Insert,
    QueuePool,
    Select,
    Table,
    Update,
    bindparam,
    column,
    create_engine,
    event,
    func,
    select,
    table,
    text,
)
from sqlalchemy.dialects import sqlite
from sqlalchemy.types import TypeEngine

from headwater.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreUnavailable
from headwater.store.sql.database import AT_ONCE, TOO_LONG, WRITES, BoundValues, Rows, Upsert
from headwater.store.sql.location import store_file

_CLOCK_EVERY = 100_000  # instructions of SQLite's machine: about a millisecond
_CACHE = 65_536  # KiB of a file that a connection holds at most; SQLite's own 2 MiB are less than one walk reads
_ROWS_TOGETHER = 50  # in one statement, of at most ten columns: older versions take 999 parameters
_KEYS_AT_ONCE = 5_000  # well under the limit for parameters, 32,766

_FAULTS: tuple[tuple[tuple[str, ...], type[StoreError], str], ...] = (
    (
        ("SQLITE_BUSY", "SQLITE_LOCKED"),
        StoreLocked,
        "another process holds it; wait for that process to end, or raise the timeout",
    ),
    (
        ("SQLITE_CORRUPT", "SQLITE_NOTADB"),
        StoreCorrupt,
        "it is not a headwater store or is damaged; move it away, or name another with --store or HEADWATER_STORE",
    ),
    (
        ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_AUTH"),
        StoreUnavailable,
        "it cannot be opened or written; check the path and the rights of the file and its folder",
    ),
    (("SQLITE_FULL", "SQLITE_IOERR"), StoreFull, "the disk is full or failing; make room and try again"),
    (("SQLITE_INTERRUPT",), StoreUnavailable, TOO_LONG),
)


class Sqlite:
    """The methods of `Database` for a file."""

    label = "SQLite"
    dialect = "sqlite"
    shared = False
    reading: Mapping[str, Any] = {}
    # To fetch a row takes the driver longer than the database takes to find it.
    columns_as_text = True

    def engine(self, url: str, *, read_only: bool, timeout: float, durable: bool) -> Engine:
        """An engine for a file; nothing is opened yet."""
        path = store_file(url) or Path()

        def open_file() -> sqlite3.Connection:
            connection = _opened(path, read_only=read_only, timeout=timeout)
            if durable and not read_only:
                connection.execute("PRAGMA synchronous = FULL")
            return connection

        # An error with its parameters would show what is in an event, in logs too.
        engine = create_engine(
            "sqlite://", creator=open_file, poolclass=QueuePool, pool_use_lifo=True, hide_parameters=True
        )
        event.listen(engine, "begin", _begin)
        return engine

    @contextmanager
    def limited(self, connection: Connection, seconds: float) -> Iterator[None]:
        """Interrupts whatever runs when so many seconds are over."""
        driver: Any = connection.connection.driver_connection
        ends = time.monotonic() + seconds
        driver.set_progress_handler(lambda: time.monotonic() > ends, _CLOCK_EVERY)
        try:
            yield
        finally:
            driver.set_progress_handler(None, 0)

    def lock(self, connection: Connection, silence: float) -> None:
        """Do nothing: BEGIN IMMEDIATE is the lock, and it goes with the process."""

    def prefer_indexes(self, connection: Connection) -> None:
        """Do nothing: without statistics the planner takes an index wherever there is one."""

    def explain(self, fault: BaseException | None) -> tuple[type[StoreError], str]:
        """The store's error by the name of SQLite's result code."""
        name = getattr(fault, "sqlite_errorname", None) or ""
        known = ((kind, advice) for starts, kind, advice in _FAULTS if name.startswith(starts))
        return next(known, (StoreUnavailable, "the database refused; check the URL, the server and the account"))

    def size(self, engine: Engine) -> int:
        """The size of the file in bytes, without the log of what was written last."""
        with engine.connect() as connection:
            file = connection.exec_driver_sql("SELECT file FROM pragma_database_list WHERE name = 'main'").scalar_one()
        return Path(file).stat().st_size

    def analyze(self, engine: Engine) -> None:
        """Count the rows of each index."""
        with engine.connect() as connection, connection.execution_options(**{WRITES: True}).begin():
            connection.exec_driver_sql("ANALYZE")

    def vacuum(self, engine: Engine) -> bool:
        """Write the file anew without free pages."""
        with engine.connect() as connection:
            # It must stand outside of every transaction.
            connection.connection.driver_connection.execute("VACUUM")  # type: ignore[union-attr]
        return True

    def parameters(self, types: Mapping[str, TypeEngine[Any]]) -> BoundValues:
        """A parameter for each name."""
        return {name: bindparam(f"row_{name}", type_=kind) for name, kind in types.items()}

    def insert(self, table: Table, types: Mapping[str, TypeEngine[Any]]) -> Upsert:
        """An INSERT of one row."""
        return sqlite.insert(table).values(self.parameters(types))

    def execute_rows(
        self, connection: Connection, statement: Insert | Update, names: Sequence[str], rows: Rows
    ) -> None:
        """Execute for one row after the other, handed to the driver: SQLAlchemy takes longer for them than SQLite."""
        if not rows:
            return
        keys = [f"row_{name}" for name in names]
        compiled = _compiled(statement)
        others = {name: value for name, value in compiled.params.items() if name not in keys}
        places = [[*keys, *others].index(name) for name in compiled.positiontup or ()]
        fixed = tuple(others.values())
        connection.exec_driver_sql(compiled.string, [tuple(map((*row, *fixed).__getitem__, places)) for row in rows])

    def add_rows(
        self, connection: Connection, table: Table, names: Sequence[str], rows: Iterable[tuple[Any, ...]]
    ) -> None:
        """Insert many rows to a statement, in half the time: each step of SQLite and of its driver is for many."""
        rows = list(rows)
        statement = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES"
        marks = f"({', '.join('?' for _ in names)})"
        last = len(rows) - len(rows) % _ROWS_TOGETHER
        together = [
            tuple(chain.from_iterable(rows[begin : begin + _ROWS_TOGETHER])) for begin in range(0, last, _ROWS_TOGETHER)
        ]
        for some, count in ((together, _ROWS_TOGETHER), (rows[last:], 1)):
            if some:
                connection.exec_driver_sql(f"{statement} {', '.join([marks] * count)}", some)

    def new_ids(self, connection: Connection, table: Table, count: int, last: int) -> Sequence[int]:
        """The ids after the greatest."""
        written = connection.exec_driver_sql(f"SELECT coalesce(max(id), 0) FROM {table.name}").scalar_one()
        first = max(int(written), last) + 1
        return range(first, first + count)

    def continue_ids(self, connection: Connection, table: Table) -> None:
        """Do nothing: ids follow the greatest."""

    def ids_text(self, ids: Sequence[int]) -> str:
        """A JSON list."""
        return orjson.dumps(ids).decode()

    def among(self, column: ColumnElement[int], ids: BindParameter[str]) -> ColumnElement[bool]:
        """The condition by ``json_each``."""
        return column.in_(_values_of(ids))

    def column_text(self, column: ColumnElement[int]) -> ColumnElement[str]:
        """A JSON list by ``json_group_array``."""
        return func.json_group_array(column)

    def lists(self, keys: Sequence[Any], kind: type) -> Iterator[Any]:
        """A JSON list; bytes, which JSON has not, as a parameter for each."""
        size = _KEYS_AT_ONCE if kind is bytes else AT_ONCE
        for begin in range(0, len(keys), size):
            some = keys[begin : begin + size]
            yield some if kind is bytes else _values_of(json.dumps(some))

    def pairs(self, pairs: Sequence[tuple[int, int]]) -> FromClause:
        """A JSON list of lists."""
        pair = func.json_each(json.dumps(pairs)).table_valued("value").c.value
        sides = (func.json_extract(pair, f"$[{place}]", type_=BigInteger()) for place in (0, 1))
        return select(*(side.label(name) for side, name in zip(sides, ("one", "other"), strict=True))).subquery("pair")

    def with_words(self, table: Table, columns: Sequence[str], words: Sequence[str]) -> Select[Any]:
        """The ids by the FTS5 table of `text_index`."""
        query = " ".join(f'"{word}"*' for word in words)
        return _matching(f"{table.name}_words", query)

    def text_index(self, table: str, columns: Sequence[str]) -> Iterator[str]:
        """An FTS5 table and its triggers; a migration that copies the table must make the triggers again."""
        index, listed = f"{table}_words", ", ".join(columns)
        yield (
            f"CREATE VIRTUAL TABLE {index} USING fts5({listed}, content='{table}', content_rowid='id', "
            "columnsize=0, tokenize='unicode61 remove_diacritics 0')"  # so a row without text takes no room
        )
        take = f"INSERT INTO {index}({index}, rowid, {listed}) SELECT 'delete', old.id, {_each('old.', columns)}"
        put = f"INSERT INTO {index}(rowid, {listed}) SELECT new.id, {_each('new.', columns)}"
        take, put = f"{take} WHERE {_any_text('old.', columns)};", f"{put} WHERE {_any_text('new.', columns)};"
        yield f"CREATE TRIGGER {index}_added AFTER INSERT ON {table} BEGIN {put} END"
        yield f"CREATE TRIGGER {index}_removed AFTER DELETE ON {table} BEGIN {take} END"
        changed = " OR ".join(f"old.{name} IS NOT new.{name}" for name in columns)
        update = f"AFTER UPDATE OF {listed} ON {table} WHEN {changed}"
        yield f"CREATE TRIGGER {index}_changed {update} BEGIN {take} {put} END"


def _opened(path: Path, *, read_only: bool, timeout: float) -> sqlite3.Connection:
    target = f"file:{quote(str(path))}"
    if read_only:
        target += "?mode=ro" + ("&immutable=1" if _nobody_can_write(path) else "")
    connection = sqlite3.connect(target, uri=True, timeout=timeout, check_same_thread=False, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{_CACHE}")
    if not read_only:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _nobody_can_write(path: Path) -> bool:
    """Whether the file does not change, which SQLite must know.

    Reading a WAL file needs its ``-shm`` file; where none can be made, only ``immutable`` opens it
    (SQLite, "Write-Ahead Logging", section "Read-Only Databases").
    """
    own_rights = os.access in os.supports_effective_ids
    may_write = os.access(path.parent, os.W_OK, effective_ids=own_rights)
    return not may_write and not Path(f"{path}-wal").exists()


def _begin(connection: Connection) -> None:
    # A deferred transaction that turns into a writer fails at once when another wrote meanwhile: no waiting.
    writes = connection.get_execution_options().get(WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@cache
def _compiled(statement: Insert | Update) -> Any:
    return statement.compile(dialect=_DIALECT)


def _values_of(listed: Any) -> Select[Any]:
    return select(func.json_each(listed).table_valued("value").c.value)


def _matching(index: str, query: str) -> Select[Any]:
    condition = text(f"{index} MATCH :words").bindparams(bindparam("words", query, unique=True))
    return select(column("rowid")).select_from(table(index)).where(condition)


def _each(side: str, columns: Sequence[str]) -> str:
    return ", ".join(side + name for name in columns)


def _any_text(side: str, columns: Sequence[str]) -> str:
    return " OR ".join(f"{side}{name} IS NOT NULL" for name in columns)


_DIALECT: Dialect = sqlite.dialect()
