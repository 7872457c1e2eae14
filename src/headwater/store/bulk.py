"""Many rows at once: PostgreSQL takes a column of them as one parameter, SQLite one row after the other."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import BigInteger, Connection, Integer, LargeBinary, Table

from headwater.store.rows import AT_ONCE

Rows = Sequence[tuple[Any, ...]]


def new_ids(connection: Connection, table: Table, count: int) -> Sequence[int]:
    """Ids for so many new rows of a table, in a transaction that writes alone."""
    if connection.dialect.name == "sqlite":
        last = connection.exec_driver_sql(f"SELECT coalesce(max(id), 0) FROM {table.name}").scalar_one()
        return range(last + 1, last + 1 + count)
    sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
    return connection.exec_driver_sql(f"SELECT nextval({sequence}) FROM generate_series(1, {count})").scalars().all()


def add_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Rows) -> None:
    """Adds rows of numbers, texts and bytes, given in the order of the columns."""
    names = ", ".join(columns)
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" for _ in columns)
        _one_by_one(connection, f"INSERT INTO {table.name} ({names}) VALUES ({marks})", rows)
        return
    for arrays, listed in _as_arrays(table, columns, rows):
        connection.exec_driver_sql(f"INSERT INTO {table.name} ({names}) SELECT * FROM unnest({arrays})", listed)


def change_rows(connection: Connection, table: Table, columns: Sequence[str], rows: Rows) -> None:
    """Sets columns of rows that are there; the last of the columns is the key."""
    *changed, key = columns
    if connection.dialect.name == "sqlite":
        sets = ", ".join(f"{name} = ?" for name in changed)
        _one_by_one(connection, f"UPDATE {table.name} SET {sets} WHERE {key} = ?", rows)
        return
    sets = ", ".join(f"{name} = told.{name}" for name in changed)
    for arrays, listed in _as_arrays(table, columns, rows):
        told = f"unnest({arrays}) told({', '.join(columns)})"
        connection.exec_driver_sql(
            f"UPDATE {table.name} SET {sets} FROM {told} WHERE {table.name}.{key} = told.{key}", listed
        )


def _one_by_one(connection: Connection, statement: str, rows: Rows) -> None:
    if rows:
        connection.exec_driver_sql(statement, list(rows))


def _as_arrays(table: Table, columns: Sequence[str], rows: Rows) -> Iterator[tuple[str, tuple[Any, ...]]]:
    kinds = [_kind(table.c[name].type) for name in columns]
    arrays = ", ".join(f"%s::{kind}[]" for kind in kinds)
    for begin in range(0, len(rows), AT_ONCE):
        values = zip(*rows[begin : begin + AT_ONCE], strict=True)
        yield arrays, tuple(_listed(kind, column) for kind, column in zip(kinds, values, strict=True))


def _kind(type_: Any) -> str:
    if isinstance(type_, BigInteger):
        return "bigint"
    if isinstance(type_, Integer):
        return "integer"
    return "bytea" if isinstance(type_, LargeBinary) else "text"


def _listed(kind: str, values: Sequence[Any]) -> Any:
    """Numbers as the text of an array: the driver takes a microsecond and more for each element of a list."""
    return f"{{{','.join(map(str, values))}}}" if kind in ("bigint", "integer") else list(values)
