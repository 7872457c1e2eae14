"""Many rows at once: PostgreSQL takes new ones by COPY and others as a parameter for each column, SQLite each value."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, islice
from typing import Any, TypeAlias

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Dialect,
    Insert,
    Table,
    Text,
    Update,
    bindparam,
    cast,
    column,
    func,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeEngine

from headwater.store.sql.literals import Rows, array_of, lines_of
from headwater.store.sql.rows import AT_ONCE

_TOGETHER = 50
"""Rows in one statement on SQLite, of at most ten columns: older ones take 999 parameters."""

_AT_A_TIME = 1_000
"""Rows that PostgreSQL writes while the next are made."""

BoundValues: TypeAlias = Mapping[str, ColumnElement[Any]]
"""What is given for each row, by name."""

Upsert: TypeAlias = "postgresql.Insert | sqlite.Insert"


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A change of rows that are there, for many at once; ``make`` gets what is given for each, of these types."""

    given: Mapping[str, TypeEngine[Any]]
    make: Callable[[BoundValues], Update]
    _made: dict[str, Update] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, connection: Connection, rows: Rows) -> None:
        """Makes it for rows of what is given; none is about the same row as another."""
        dialect = connection.dialect.name
        if dialect not in self._made:
            self._made[dialect] = self.make(_given(dialect, self.given))
        _run(connection, self._made[dialect], tuple(self.given), rows)


@dataclass(frozen=True, slots=True, eq=False)
class Addition:
    """New rows of a table, many at once; ``settle`` says what becomes of one that is there already."""

    table: Table
    columns: tuple[str, ...]
    settle: Callable[[Upsert], Insert]
    _made: dict[str, Insert] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, connection: Connection, rows: Rows) -> None:
        """Adds rows, given in the order of the columns; none has the key of another."""
        dialect = connection.dialect.name
        if dialect not in self._made:
            self._made[dialect] = self.settle(self._insert(dialect))
        _run(connection, self._made[dialect], self.columns, rows)

    def _insert(self, dialect: str) -> Upsert:
        given = _given(dialect, {name: self.table.c[name].type for name in self.columns})
        if dialect == "sqlite":
            return sqlite.insert(self.table).values(given)
        return postgresql.insert(self.table).from_select(self.columns, select(*given.values()))


def _given(dialect: str, types: Mapping[str, TypeEngine[Any]]) -> BoundValues:
    """A parameter for each name on SQLite, a column of a table of all rows on PostgreSQL."""
    if dialect == "sqlite":
        return {name: bindparam(f"given_{name}", type_=kind) for name, kind in types.items()}
    arrays = [cast(bindparam(f"given_{name}", type_=Text()), ARRAY(kind)) for name, kind in types.items()]
    columns = [column(name, kind) for name, kind in types.items()]
    return dict(func.unnest(*arrays).table_valued(*columns, name="given").render_derived().c.items())


def _run(connection: Connection, statement: Insert | Update, names: Sequence[str], rows: Rows) -> None:
    keys = [f"given_{name}" for name in names]
    if connection.dialect.name == "sqlite":
        _one_by_one(connection, statement, keys, rows)
        return
    for listed in _arrays(rows):
        connection.execute(statement, dict(zip(keys, listed, strict=True)))


def _one_by_one(connection: Connection, statement: Insert | Update, keys: Sequence[str], rows: Rows) -> None:
    """Gives the driver the rows as it wants them: SQLAlchemy takes longer for them than SQLite does."""
    if not rows:
        return
    compiled = _compiled(statement)
    others = {name: value for name, value in compiled.params.items() if name not in keys}
    places = [[*keys, *others].index(name) for name in compiled.positiontup or ()]
    fixed = tuple(others.values())
    given = [tuple(map((*row, *fixed).__getitem__, places)) for row in rows]
    connection.exec_driver_sql(compiled.string, given)


@cache
def _compiled(statement: Insert | Update) -> Any:
    return statement.compile(dialect=_SQLITE)


def new_ids(connection: Connection, table: Table, count: int, given: int = 0) -> Sequence[int]:
    """Ids for so many new rows of a table, in a transaction that writes alone.

    ``given`` is the last that went to a row which is not written yet.
    """
    if connection.dialect.name == "sqlite":
        last = connection.exec_driver_sql(f"SELECT coalesce(max(id), 0) FROM {table.name}").scalar_one()
        first = max(int(last), given) + 1
        return range(first, first + count)
    # All at once: each call of nextval would look up the sequence by the name of the table.
    sequence = f"(SELECT pg_get_serial_sequence('{table.name}', 'id')::regclass AS own) AS its"
    taken = connection.exec_driver_sql(f"SELECT setval(own, nextval(own) + {count - 1}) FROM {sequence}")
    last = int(taken.scalar_one())
    return range(last - count + 1, last + 1)


def add_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """Adds rows of numbers, texts and bytes, given in the order of the columns."""
    names = ", ".join(columns)
    if connection.dialect.name == "sqlite":
        _many_to_a_statement(connection, f"INSERT INTO {table.name} ({names}) VALUES", list(rows))
        return
    rows = iter(rows)
    if (first := next(rows, None)) is not None:
        _copy(connection, f"COPY {table.name} ({names}) FROM STDIN", chain((first,), rows))


def _copy(connection: Connection, statement: str, rows: Iterator[tuple[Any, ...]]) -> None:
    """Adds rows by PostgreSQL's COPY, which takes three quarters of the time that an INSERT of arrays does.

    Raises:
        DBAPIError: they cannot be written; as SQLAlchemy, which knows no COPY, says it of other statements.
    """
    driver: Any = connection.connection.driver_connection
    faults: Any = connection.dialect.loaded_dbapi
    try:
        with driver.cursor() as cursor, cursor.copy(statement) as copy:
            while some := list(islice(rows, _AT_A_TIME)):
                copy.write(lines_of(some))
    except faults.Error as fault:
        raise DBAPIError(statement, None, fault) from fault


def _many_to_a_statement(connection: Connection, statement: str, rows: Rows) -> None:
    """Adds rows in half the time that one after the other takes: each step of SQLite and of its driver is for many."""
    marks = f"({', '.join('?' for _ in rows[0])})" if rows else ""
    last = len(rows) - len(rows) % _TOGETHER
    many = [tuple(chain.from_iterable(rows[begin : begin + _TOGETHER])) for begin in range(0, last, _TOGETHER)]
    for some, count in ((many, _TOGETHER), (list(rows[last:]), 1)):
        if some:
            connection.exec_driver_sql(f"{statement} {', '.join([marks] * count)}", some)


def _arrays(rows: Rows) -> Iterator[list[str]]:
    """The columns of the rows as texts of arrays, so many rows at once as the database takes."""
    for begin in range(0, len(rows), AT_ONCE):
        yield [array_of(column) for column in zip(*rows[begin : begin + AT_ONCE], strict=True)]


_SQLITE: Dialect = sqlite.dialect()
