"""Connections to SQLite and PostgreSQL, and their faults as headwater's own errors."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, QueuePool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolExhausted

from headwater.errors import SettingError, StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreUnavailable
from headwater.redaction import redact
from headwater.store.sql.location import sqlite_path

_WRITING = "headwater_writing"
_ONE_WRITER = 0x6865616477  # the advisory lock that makes PostgreSQL take one batch at a time, as SQLite does
_LOOK_AT_THE_CLOCK = 100_000  # instructions of SQLite's machine: about a millisecond
_CACHE = 65_536  # KiB of a file that a connection keeps at most; SQLite's own 2 MiB are less than one walk reads
_TOO_LONG = "it took longer than reading may, or somebody ended it; ask for less, or raise --time-limit"

SILENCE = 60.0
"""Seconds for which a writer on PostgreSQL may hang, or be gone without a word, before others can write again."""

_SQLITE_FAULTS: tuple[tuple[tuple[str, ...], type[StoreError], str], ...] = (
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
    (("SQLITE_INTERRUPT",), StoreUnavailable, _TOO_LONG),
)
_POSTGRES_FAULTS = {
    "55P03": (StoreLocked, "another process holds it; try again"),
    "53100": (StoreFull, "the server's disk is full; make room and try again"),
    "25006": (StoreUnavailable, "the connection is read-only; use an account that may write"),
    "25P03": (StoreUnavailable, "this process was silent for too long while it wrote; nothing was taken, try again"),
    "57014": (StoreUnavailable, _TOO_LONG),
    "42501": (StoreUnavailable, "the account lacks the rights; grant them or use another account"),
}


def connect(url: str, *, read_only: bool, timeout: float, durable: bool = False) -> Engine:
    """An engine for the store at ``url``; nothing is opened yet. See `open_store` for the arguments.

    Raises:
        SettingError: the URL is none, or its driver is not installed.
    """
    path = sqlite_path(url)
    if path is not None:
        return _sqlite_engine(path, read_only=read_only, timeout=timeout, durable=durable)
    return _server_engine(url, timeout)


@contextmanager
def reading(engine: Engine, longest: float | None = None, **options: Any) -> Iterator[Connection]:
    """A connection that sees one state of the store, whatever others write meanwhile.

    The database ends what takes longer than ``longest`` seconds: on PostgreSQL a statement, on SQLite all of it.
    ``options`` are execution options.
    """
    if engine.dialect.name == "postgresql":
        options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    opened = engine.connect().execution_options(**options)
    with opened as connection, connection.begin(), _limited(connection, longest):
        yield connection


@contextmanager
def writing(engine: Engine, silence: float | None = None) -> Iterator[Connection]:
    """One transaction that writes, alone: a second writer waits until it ends.

    PostgreSQL ends it when nothing comes for ``silence`` seconds: the machine of a writer may be gone, and TCP would
    tell after two hours.
    """
    with engine.connect() as connection, connection.execution_options(**{_WRITING: True}).begin():
        if engine.dialect.name == "postgresql":
            most = f"set_config('idle_in_transaction_session_timeout', '{round((silence or 0) * 1000)}', true)"
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ONE_WRITER}), {most}")
        yield connection


def by_index(connection: Connection) -> None:
    """Lets PostgreSQL read no whole tables where an index finds the rows, until the transaction ends.

    Of tables that grow quickly it knows how many rows they had when it last counted: to read those was less work.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")


@contextmanager
def _limited(connection: Connection, seconds: float | None) -> Iterator[None]:
    if seconds is None:
        yield
        return
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = {max(1, round(seconds * 1000))}")
        yield
        return
    driver: Any = connection.connection.driver_connection
    ends = time.monotonic() + seconds
    driver.set_progress_handler(lambda: time.monotonic() > ends, _LOOK_AT_THE_CLOCK)
    try:
        yield
    finally:
        driver.set_progress_handler(None, 0)


@contextmanager
def told_plainly(url: str) -> Iterator[None]:
    """Raises the database's faults as StoreError, with the place, the fault, and what to do."""
    try:
        yield
    except DBAPIError as fault:
        kind, advice = _kind_of(fault.orig)
        raise kind(f"Store {shown(url)}: {_first_line(fault.orig)}: {advice}.") from fault
    except PoolExhausted as fault:
        raise StoreLocked(f"Store {shown(url)}: every connection is in use; try again after a while.") from fault


def shown(url: str) -> str:
    """The URL as it may be printed: a bare path for SQLite, without the password otherwise."""
    path = sqlite_path(url)
    return str(path) if path is not None else redact(url)


def _kind_of(fault: BaseException | None) -> tuple[type[StoreError], str]:
    name = getattr(fault, "sqlite_errorname", None) or ""
    for starts, kind, advice in _SQLITE_FAULTS:
        if name.startswith(starts):
            return kind, advice
    unreachable = (StoreUnavailable, "the database refused; check the URL, the server and the account")
    return _POSTGRES_FAULTS.get(getattr(fault, "sqlstate", None) or "", unreachable)


def _first_line(fault: BaseException | None) -> str:
    return (str(fault).strip().splitlines() or ["no reason given"])[0].rstrip(".:")


def _sqlite_engine(path: Path, *, read_only: bool, timeout: float, durable: bool) -> Engine:
    def open_file() -> sqlite3.Connection:
        connection = _open_sqlite(path, read_only=read_only, timeout=timeout)
        if durable and not read_only:
            connection.execute("PRAGMA synchronous = FULL")
        return connection

    # An error with its parameters would show what is in an event, in logs too.
    engine = create_engine(
        "sqlite://", creator=open_file, poolclass=QueuePool, pool_use_lifo=True, hide_parameters=True
    )
    event.listen(engine, "begin", _begin)
    return engine


def _open_sqlite(path: Path, *, read_only: bool, timeout: float) -> sqlite3.Connection:
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
    """Whether SQLite must be told that the file does not change.

    Reading a WAL file needs its ``-shm`` file; where none can be made, only ``immutable`` opens it
    (SQLite, "Write-Ahead Logging", section "Read-Only Databases").
    """
    own_rights = os.access in os.supports_effective_ids
    may_write = os.access(path.parent, os.W_OK, effective_ids=own_rights)
    return not may_write and not Path(f"{path}-wal").exists()


def _begin(connection: Connection) -> None:
    # A deferred transaction that turns into a writer fails at once when another wrote meanwhile: no waiting.
    writes = connection.get_execution_options().get(_WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _server_engine(url: str, timeout: float) -> Engine:
    try:
        address = make_url(url)
        if address.drivername in ("postgresql", "postgres"):
            address = address.set(drivername="postgresql+psycopg")
        options: dict[str, Any] = {"options": f"-c lock_timeout={int(timeout * 1000)}"}
        return create_engine(address, pool_pre_ping=True, connect_args=options, hide_parameters=True)
    except (ArgumentError, NoSuchModuleError, ValueError) as fault:
        raise SettingError(
            f"Store URL {redact(url)!r} cannot be used ({redact(str(fault))}): expected a file path, sqlite:///PATH or "
            "postgresql://USER@HOST/DATABASE. Correct --store or HEADWATER_STORE."
        ) from fault
    except ImportError as fault:
        raise SettingError(
            f"Store URL {url.split('://', maxsplit=1)[0]}://… needs a driver that is not installed ({fault.name}). "
            "Install it with: pip install 'headwater[postgres]'"
        ) from fault
