"""Many rows at once: changes of rows, and new ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Insert, Table, Update
from sqlalchemy.types import TypeEngine

from headwater.store.sql.database import BoundValues, Rows, Upsert
from headwater.store.sql.databases import database_of

__all__ = ["Addition", "BoundValues", "Change", "Upsert", "add_rows", "new_ids"]


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
