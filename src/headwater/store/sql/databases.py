"""The database of a store: which of them it is, connections to it and their faults, and statements about many rows."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    CursorResult,
    Engine,
    FromClause,
    Insert,
    Integer,
    Select,
    Table,
    Text,
    Update,
    bindparam,
    select,
    text,
    true,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolExhausted
from sqlalchemy.types import TypeEngine

from headwater.errors import StoreLocked
from headwater.redaction import redact
from headwater.store.sql.database import AT_ONCE, WRITES, BoundValues, Database, Rows, Upsert
from headwater.store.sql.location import store_file
from headwater.store.sql.postgres import Postgres
from headwater.store.sql.sqlite import Sqlite

Key = TypeVar("Key", int, str, bytes)

DATABASES: dict[str, Database] = {one.dialect: one for one in (Sqlite(), Postgres())}

ID = BigInteger().with_variant(Integer(), "sqlite")
"""The type of ids: SQLite numbers the rows of an INTEGER PRIMARY KEY only."""

CLUSTERED: dict[str, Any] = {"sqlite_with_rowid": False}
"""The option of a table whose rows stand in the order of its primary key, where a database knows such tables."""

SILENCE = 60.0
"""Seconds for which a writer on a server may hang, or be gone without a word, before others can write again."""

_IDS = bindparam("ids", type_=Text())


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


def rows_for(connection: Connection, ids: Collection[Key], question: Callable[[Any], Select[Any]]) -> Iterator[Any]:
    """The rows of a question about ids, for so many ids at once as the database takes.

    ``question`` gets what a column can be ``in_``: one parameter that holds all of them where there is such a thing,
    because a parameter for each costs more than the answer.
    """
    ordered = list(ids)
    if not ordered:
        return
    for some in database_of(connection).lists(ordered, type(ordered[0])):
        yield from connection.execute(question(some)).all()


def pairs_for(
    connection: Connection, pairs: Collection[tuple[int, int]], question: Callable[[FromClause], Select[Any]]
) -> Iterator[Any]:
    """The rows of a question about pairs of numbers, which it gets as a table of two columns."""
    ordered, database = list(pairs), database_of(connection)
    for begin in range(0, len(ordered), AT_ONCE):
        yield from connection.execute(question(database.pairs(ordered[begin : begin + AT_ONCE]))).all()


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """The rows whose column ``near`` is one of some ids: a statement made once, as that takes longer than its answer.

    The ids go as one text: a driver takes a microsecond and more for each element of a list. The question may be made
    of the condition on ``near``, where that belongs into a part of it.
    """

    question: Select[Any] | Callable[[ColumnElement[bool]], Select[Any]]
    near: ColumnElement[int]
    _statements: dict[tuple[str, bool], Select[Any]] = field(default_factory=dict, init=False, repr=False)

    def any(self, connection: Connection) -> bool:
        """Whether there is a row at all, of whatever id."""
        question = self.question if isinstance(self.question, Select) else self.question(true())
        return connection.execute(question.limit(1)).first() is not None

    def __call__(self, connection: Connection, ids: Collection[int]) -> Iterator[Any]:
        """The rows for these ids."""
        for result in self._results(connection, ids):
            yield from result.all()

    def bare(self, connection: Connection, ids: Collection[int]) -> list[tuple[Any, ...]]:
        """The rows as plain tuples: in half the time, and right for numbers and texts."""
        if database_of(connection).columns_as_text:
            return [row for columns in self.columns(connection, ids) for row in zip(*columns, strict=True)]
        found: list[tuple[Any, ...]] = []
        for result in self._results(connection, ids):
            found += result.cursor.fetchall()
            result.close()
        return found

    def numbers(self, connection: Connection, ids: Collection[int]) -> list[int]:
        """The only column of the rows: in half the time again, because it comes as one text."""
        found: list[int] = []
        for (column,) in self.columns(connection, ids):
            found += column
        return found

    def columns(self, connection: Connection, ids: Collection[int]) -> Iterator[list[list[Any]]]:
        """The rows by columns, some ids at a time: they come as a text for each column."""
        for result in self._results(connection, ids, as_texts=True):
            yield [orjson.loads(text) for text in _texts_of(result)]

    def _results(
        self, connection: Connection, ids: Collection[int], *, as_texts: bool = False
    ) -> Iterator[CursorResult[Any]]:
        database, ordered = database_of(connection), sorted(ids)
        key = database.dialect, as_texts
        if key not in self._statements:
            self._statements[key] = self._statement(database, as_texts)
        for begin in range(0, len(ordered), AT_ONCE):
            yield connection.execute(
                self._statements[key], {"ids": database.ids_text(ordered[begin : begin + AT_ONCE])}
            )

    def _statement(self, database: Database, as_texts: bool) -> Select[Any]:
        near = database.among(self.near, _IDS)
        question = self.question.where(near) if isinstance(self.question, Select) else self.question(near)
        return _as_texts(database, question) if as_texts else question


def column_texts(connection: Connection, question: Select[Any]) -> list[str]:
    """The columns of a question's rows, whose values are numbers, each as the text of a JSON list."""
    return _texts_of(connection.execute(_as_texts(database_of(connection), question)))


def _as_texts(database: Database, question: Select[Any]) -> Select[Any]:
    """Return the question for one row: the columns of another's rows, each as the text of a JSON list."""
    texts: list[ColumnElement[Any]] = [database.column_text(one) for one in question.subquery().c]
    return select(*texts)


def _texts_of(result: CursorResult[Any]) -> list[str]:
    (texts,) = result.cursor.fetchall()  # without what SQLAlchemy does for each row
    result.close()
    return [text or "[]" for text in texts]


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A change of rows that are there, for many at once.

    ``types`` are those of the values that come with each row, by name; ``update`` makes the statement of such values.
    """

    types: Mapping[str, TypeEngine[Any]]
    update: Callable[[BoundValues], Update]
    _statements: dict[str, Update] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, connection: Connection, rows: Rows) -> None:
        """Make the change for rows of values; none is about the same row as another."""
        database = database_of(connection)
        if database.dialect not in self._statements:
            self._statements[database.dialect] = self.update(database.parameters(self.types))
        database.execute_rows(connection, self._statements[database.dialect], tuple(self.types), rows)


@dataclass(frozen=True, slots=True, eq=False)
class Addition:
    """New rows of a table, many at once; ``on_conflict`` adds what becomes of a row that is there already."""

    table: Table
    columns: tuple[str, ...]
    on_conflict: Callable[[Upsert], Insert]
    _statements: dict[str, Insert] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, connection: Connection, rows: Rows) -> None:
        """Add rows with values in the order of the columns; none has the key of another."""
        database = database_of(connection)
        if database.dialect not in self._statements:
            types = {name: self.table.c[name].type for name in self.columns}
            self._statements[database.dialect] = self.on_conflict(database.insert(self.table, types))
        database.execute_rows(connection, self._statements[database.dialect], self.columns, rows)


def new_ids(connection: Connection, table: Table, count: int, last: int = 0) -> Sequence[int]:
    """Ids for so many new rows of a table, in a transaction that writes alone.

    ``last`` is the greatest of those that are not written yet.
    """
    return database_of(connection).new_ids(connection, table, count, last)


def add_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Add rows of numbers, texts and bytes, with values in the order of the columns."""
    database_of(connection).add_rows(connection, table, columns, rows)
