"""PostgreSQL: new rows by COPY, others as an array for each column; one batch at a time, by an advisory lock."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Insert,
    LargeBinary,
    Select,
    Table,
    Text,
    Update,
    any_,
    bindparam,
    cast,
    column,
    create_engine,
    func,
    literal,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError
from sqlalchemy.types import TypeEngine

from headwater.errors import SettingError, StoreError, StoreFull, StoreLocked, StoreUnavailable
from headwater.redaction import redact
from headwater.store.sql.database import AT_ONCE, TOO_LONG, BoundValues, Rows, Upsert

_ONE_WRITER = 0x6865616477  # the advisory lock that makes it take one batch at a time, as SQLite does
_ROWS_TO_COPY = 1_000  # that the server writes while the next are made
_TYPES: dict[type, Any] = {int: BigInteger(), str: Text(), bytes: LargeBinary()}
_MARKS = """!"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"""
_ESCAPED = re.compile(r'["\\]')
_SPECIAL = re.compile(r"[\\\n\r\t]")
_WRITTEN = str.maketrans({"\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"})

_FAULTS = {
    "55P03": (StoreLocked, "another process holds it; try again"),
    "53100": (StoreFull, "the server's disk is full; make room and try again"),
    "25006": (StoreUnavailable, "the connection is read-only; use an account that may write"),
    "25P03": (StoreUnavailable, "this process was silent for too long while it wrote; nothing was taken, try again"),
    "57014": (StoreUnavailable, TOO_LONG),
    "42501": (StoreUnavailable, "the account lacks the rights; grant them or use another account"),
}


class Postgres:
    """The methods of `Database` for a server."""

    label = "PostgreSQL"
    dialect = "postgresql"
    reading: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    shared = True
    columns_as_text = False

    def engine(self, url: str, *, read_only: bool, timeout: float, durable: bool) -> Engine:
        """An engine for a server; nothing is opened yet. What is committed there is always durable.

        Raises:
            SettingError: the URL is none, or the driver is not installed.
        """
        try:
            address = make_url(url)
            if address.drivername in ("postgresql", "postgres"):
                address = address.set(drivername="postgresql+psycopg")
            options: dict[str, Any] = {"options": f"-c lock_timeout={int(timeout * 1000)}"}
            # An error with its parameters would show what is in an event, in logs too.
            return create_engine(address, pool_pre_ping=True, connect_args=options, hide_parameters=True)
        except (ArgumentError, NoSuchModuleError, ValueError) as fault:
            raise SettingError(
                f"Store URL {redact(url)!r} cannot be used ({redact(str(fault))}): expected a file path, "
                "sqlite:///PATH or postgresql://USER@HOST/DATABASE. Correct --store or HEADWATER_STORE."
            ) from fault
        except ImportError as fault:
            raise SettingError(
                f"Store URL {url.split('://', maxsplit=1)[0]}://… needs a driver that is not installed ({fault.name}). "
                "Install it with: pip install 'headwater[postgres]'"
            ) from fault

    @contextmanager
    def limited(self, connection: Connection, seconds: float) -> Iterator[None]:
        """Let the server end each statement after so many seconds."""
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = {max(1, round(seconds * 1000))}")
        yield

    def lock(self, connection: Connection, silence: float) -> None:
        """Take the lock of the only writer.

        The transaction ends when nothing comes for so long: the machine of a writer may be gone, and TCP would
        notice after two hours.
        """
        limit = f"set_config('idle_in_transaction_session_timeout', '{round(silence * 1000)}', true)"
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ONE_WRITER}), {limit}")

    def prefer_indexes(self, connection: Connection) -> None:
        """Read no whole tables where an index finds the rows.

        Of tables that grow quickly the planner has the number of rows of when it last counted: to read those was
        less work.
        """
        connection.exec_driver_sql("SET LOCAL enable_seqscan = off")

    def explain(self, fault: BaseException | None) -> tuple[type[StoreError], str]:
        """The store's error by SQLSTATE."""
        refused = (StoreUnavailable, "the database refused; check the URL, the server and the account")
        return _FAULTS.get(getattr(fault, "sqlstate", None) or "", refused)

    def size(self, engine: Engine) -> int:
        """The size of the database in bytes."""
        with engine.connect() as connection:
            return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())

    def analyze(self, engine: Engine) -> None:
        """Count rows, and note which pages all readers may see all of: there an index is enough to answer.

        The server does both by itself some time after many rows were written.
        """
        with engine.connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql("VACUUM (ANALYZE)")

    def vacuum(self, engine: Engine) -> bool:
        """Do nothing: the server uses the room again by itself."""
        return False

    def parameters(self, types: Mapping[str, TypeEngine[Any]]) -> BoundValues:
        """The columns of a table of all rows: an array for each."""
        arrays = [cast(bindparam(f"row_{name}", type_=Text()), ARRAY(kind)) for name, kind in types.items()]
        columns = [column(name, kind) for name, kind in types.items()]
        return dict(func.unnest(*arrays).table_valued(*columns, name="new_rows").render_derived().c.items())

    def insert(self, table: Table, types: Mapping[str, TypeEngine[Any]]) -> Upsert:
        """An INSERT of all rows; none may have the key of another."""
        return postgresql.insert(table).from_select(list(types), select(*self.parameters(types).values()))

    def execute_rows(
        self, connection: Connection, statement: Insert | Update, names: Sequence[str], rows: Rows
    ) -> None:
        """Execute once for so many rows as are sent at once."""
        for begin in range(0, len(rows), AT_ONCE):
            columns = zip(*rows[begin : begin + AT_ONCE], strict=True)
            arrays = zip(names, map(array_text, columns), strict=True)
            connection.execute(statement, {f"row_{name}": array for name, array in arrays})

    def add_rows(
        self, connection: Connection, table: Table, names: Sequence[str], rows: Iterable[tuple[Any, ...]]
    ) -> None:
        """Insert by COPY, which takes three quarters of the time that an INSERT of arrays does.

        Raises:
            DBAPIError: they cannot be written; as SQLAlchemy, which knows no COPY, raises it for other statements.
        """
        rows = iter(rows)
        if (first := next(rows, None)) is None:
            return
        rows = chain((first,), rows)
        statement = f"COPY {table.name} ({', '.join(names)}) FROM STDIN"
        driver: Any = connection.connection.driver_connection
        faults: Any = connection.dialect.loaded_dbapi
        try:
            with driver.cursor() as cursor, cursor.copy(statement) as copy:
                while some := list(islice(rows, _ROWS_TO_COPY)):
                    copy.write(copy_text(some))
        except faults.Error as fault:
            raise DBAPIError(statement, None, fault) from fault

    def new_ids(self, connection: Connection, table: Table, count: int, last: int) -> Sequence[int]:
        """The next numbers of the table's sequence, which knows of those that are not written yet."""
        # All at once: each call of nextval would look up the sequence by the name of the table.
        sequence = f"(SELECT pg_get_serial_sequence('{table.name}', 'id')::regclass AS own) AS its"
        taken = connection.exec_driver_sql(f"SELECT setval(own, nextval(own) + {count - 1}) FROM {sequence}")
        newest = int(taken.scalar_one())
        return range(newest - count + 1, newest + 1)

    def continue_ids(self, connection: Connection, table: Table) -> None:
        """Set the table's sequence to the greatest id."""
        sequence = func.pg_get_serial_sequence(table.name, "id")
        after = func.coalesce(func.max(table.c.id), 0) + 1
        connection.execute(select(func.setval(sequence, after, False)))

    def ids_text(self, ids: Sequence[int]) -> str:
        """An array: the driver takes a microsecond and more for each element of a list."""
        return f"{{{orjson.dumps(ids).decode()[1:-1]}}}"

    def among(self, column: ColumnElement[int], ids: BindParameter[str]) -> ColumnElement[bool]:
        """The condition by ``= ANY``."""
        return column == any_(cast(ids, ARRAY(BigInteger())))

    def column_text(self, column: ColumnElement[int]) -> ColumnElement[str]:
        """A JSON list of numbers, in two thirds of the time that ``json_agg`` takes for one."""
        return func.concat("[", func.string_agg(cast(column, Text()), ","), "]")

    def lists(self, keys: Sequence[Any], kind: type) -> Iterator[Any]:
        """An array as rows."""
        for begin in range(0, len(keys), AT_ONCE):
            yield select(func.unnest(_array(_TYPES[kind], keys[begin : begin + AT_ONCE])))

    def pairs(self, pairs: Sequence[tuple[int, int]]) -> FromClause:
        """An array for each side."""
        arrays = (_array(BigInteger(), side) for side in zip(*pairs, strict=True))
        columns = (column(name, BigInteger) for name in ("one", "other"))
        return func.unnest(*arrays).table_valued(*columns, name="pair").render_derived()

    def with_words(self, table: Table, columns: Sequence[str], words: Sequence[str]) -> Select[Any]:
        """The ids by the GIN index of `text_index`, whose expression must stand in the condition as it is there."""
        query = " & ".join(f"{word}:*" for word in words)
        condition = text(f"{_vector(columns)} @@ to_tsquery('simple', :words)")
        return select(table.c.id).where(condition.bindparams(bindparam("words", query, unique=True)))

    def text_index(self, table: str, columns: Sequence[str]) -> Iterator[str]:
        """A GIN index of the words between white space and marks."""
        yield f"CREATE INDEX {table}_words ON {table} USING gin ({_vector(columns).replace('%', '%%')})"


def _vector(columns: Sequence[str]) -> str:
    whole = " || ' ' || ".join(f"coalesce({name}, '')" for name in columns)
    marks = _MARKS.replace("'", "''")
    return f"to_tsvector('simple', translate({whole}, '{marks}', '{' ' * len(_MARKS)}'))"


def _array(kind: TypeEngine[Any], values: Sequence[Any]) -> ColumnElement[Any]:
    return cast(literal(array_text(values), Text()), ARRAY(kind))


def array_text(values: Sequence[Any]) -> str:
    r"""The text of an array of numbers, texts or bytes (PostgreSQL, "Arrays", section "Array Value Input").

    >>> array_text([1, 2]), array_text(["a", "b\\c"]), array_text([b"ab", None])
    ('{1, 2}', '{"a","b\\\\c"}', '{"\\\\x6162",NULL}')
    """
    kinds = set(map(type, values))
    if kinds == {int}:
        return f"{{{str(values)[1:-1].rstrip(',')}}}"
    if kinds == {bytes}:
        return '{"\\\\x%s"}' % '","\\\\x'.join(map(bytes.hex, values))  # noqa: UP031 - braces are the array's
    if kinds == {str} and not _ESCAPED.search("".join(values)):
        return '{"%s"}' % '","'.join(values)  # noqa: UP031
    return f"{{{','.join(map(_element, values))}}}"


def _element(value: Any) -> str:
    if isinstance(value, str):
        return '"%s"' % value.replace("\\", "\\\\").replace('"', '\\"')  # noqa: UP031 - the quickest way
    if isinstance(value, bytes):
        return f'"\\\\x{value.hex()}"'
    return "NULL" if value is None else str(value)


def copy_text(rows: Rows) -> str:
    r"""Rows as COPY reads them (PostgreSQL, "COPY", section "Text Format").

    >>> copy_text([(1, b"ab", None, True, "a\\b")])
    '1\t\\\\x6162\t\\N\tTrue\ta\\\\b\n'
    """
    cells, columns = zip(*map(_copied_column, zip(*rows, strict=True)), strict=True)
    line = "\t".join(cells) + "\n"
    return line * len(rows) % tuple(chain.from_iterable(zip(*columns, strict=True)))


def _copied_column(values: Sequence[Any]) -> tuple[str, Iterable[Any]]:
    """How the values stand in a line, and what of each does."""
    kinds = set(map(type, values))
    if kinds == {bytes}:
        return r"\\x%s", map(bytes.hex, values)
    if kinds == {int} or (kinds == {str} and not _SPECIAL.search("".join(values))):
        return "%s", values
    return "%s", map(_copied, values)


def _copied(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, str):
        return value.translate(_WRITTEN)
    return f"\\\\x{value.hex()}" if isinstance(value, bytes) else str(value)
