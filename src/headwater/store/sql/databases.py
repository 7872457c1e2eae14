"""The databases that can hold a store, chosen here and nowhere else; connections to them, and their faults."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from sqlalchemy import BigInteger, Connection, Engine, Integer, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolExhausted

from headwater.errors import StoreLocked
from headwater.redaction import redact
from headwater.store.sql.database import WRITES, Database
from headwater.store.sql.location import store_file
from headwater.store.sql.postgres import Postgres
from headwater.store.sql.sqlite import Sqlite

DATABASES: dict[str, Database] = {one.dialect: one for one in (Sqlite(), Postgres())}

ID = BigInteger().with_variant(Integer(), "sqlite")
"""The type of ids: SQLite numbers the rows of an INTEGER PRIMARY KEY only."""

CLUSTERED: dict[str, Any] = {"sqlite_with_rowid": False}
"""The option of a table whose rows stand in the order of its primary key, where a database knows such tables."""


def database_of(connection: Connection) -> Database:
    """The database behind a connection."""
    return DATABASES[connection.dialect.name]


def database_at(url: str) -> Database:
    """The database behind a URL that `require_store_url` accepts.

    >>> database_at("postgres://db/lineage").label, database_at("sqlite:///lineage.db").label
    ('PostgreSQL', 'SQLite')
    """
    return DATABASES["sqlite" if url.startswith("sqlite:") else "postgresql"]


def where(condition: str) -> dict[str, Any]:
    """The options of an index of some rows only."""
    return {f"{dialect}_where": text(condition) for dialect in DATABASES}


SILENCE = 60.0
"""Seconds for which a writer on a server may hang, or be gone without a word, before others can write again."""


def connect(url: str, *, read_only: bool, timeout: float, durable: bool = False) -> Engine:
    """An engine for the store at ``url``; nothing is opened yet. See `open_store` for the arguments.

    Raises:
        SettingError: the URL is none, or its driver is not installed.
    """
    return database_at(url).engine(url, read_only=read_only, timeout=timeout, durable=durable)


@contextmanager
def opened(url: str, *, read_only: bool, durable: bool = False) -> Iterator[Engine]:
    """An engine for the store at ``url``, for a while; the database's faults are raised as StoreError."""
    engine = connect(url, read_only=read_only, timeout=30, durable=durable)
    try:
        with store_errors(url):
            yield engine
    finally:
        engine.dispose()


@contextmanager
def reading(engine: Engine, longest: float | None = None, **options: Any) -> Iterator[Connection]:
    """A connection that sees one state of the store, whatever others write meanwhile.

    The database ends what takes longer than ``longest`` seconds: a statement, or all of it.
    ``options`` are execution options.
    """
    opened = engine.connect().execution_options(**options, **DATABASES[engine.dialect.name].reading)
    with opened as connection, connection.begin(), _limited(connection, longest):
        yield connection


def _limited(connection: Connection, longest: float | None) -> AbstractContextManager[None]:
    return nullcontext() if longest is None else database_of(connection).limited(connection, longest)


@contextmanager
def writing(engine: Engine, silence: float = 0) -> Iterator[Connection]:
    """One transaction that writes, alone: a second writer waits until it ends.

    A server ends it when nothing comes for ``silence`` seconds, with 0 it waits for ever.
    """
    with engine.connect() as connection, connection.execution_options(**{WRITES: True}).begin():
        database_of(connection).lock(connection, silence)
        yield connection


@contextmanager
def store_errors(url: str) -> Iterator[None]:
    """Raises the database's faults as StoreError, with the place, the fault, and what to do."""
    try:
        yield
    except DBAPIError as fault:
        kind, advice = database_at(url).explain(fault.orig)
        raise kind(f"Store {shown(url)}: {_first_line(fault.orig)}: {advice}.") from fault
    except PoolExhausted as fault:
        raise StoreLocked(f"Store {shown(url)}: every connection is in use; try again after a while.") from fault


def shown(url: str) -> str:
    """The URL as it may be printed: a bare path for a file, without the password otherwise."""
    path = store_file(url)
    return str(path) if path is not None else redact(url)


def _first_line(fault: BaseException | None) -> str:
    return (str(fault).strip().splitlines() or ["no reason given"])[0].rstrip(".:")
