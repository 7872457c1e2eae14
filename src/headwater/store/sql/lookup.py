"""Questions about ids that are asked often: made once, because to make one takes longer than to answer it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    CursorResult,
    Select,
    Text,
    any_,
    bindparam,
    func,
    select,
)
from sqlalchemy import cast as as_type

from headwater.store.sql.rows import AT_ONCE

_IDS = bindparam("ids", type_=Text())
_IN_JSON = select(func.json_each(_IDS).table_valued("value").c.value)
_IN_ARRAY = any_(as_type(_IDS, ARRAY(BigInteger())))


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """The rows whose column ``near`` is one of some ids.

    The ids go as one text, a JSON list or an array: PostgreSQL's driver takes a microsecond and more for each element
    of a list.
    """

    question: Select[Any]
    near: ColumnElement[int]
    _made: dict[tuple[str, bool], Select[Any]] = field(default_factory=dict, init=False, repr=False)

    def any(self, connection: Connection) -> bool:
        """Whether there is a row at all, of whatever id."""
        return connection.execute(self.question.limit(1)).first() is not None

    def __call__(self, connection: Connection, ids: Collection[int]) -> Iterator[Any]:
        """The rows for these ids."""
        for result in self._results(connection, ids):
            yield from result.all()

    def bare(self, connection: Connection, ids: Collection[int]) -> list[tuple[Any, ...]]:
        """The rows as plain tuples: in half the time, and right for numbers and texts."""
        if connection.dialect.name == "sqlite":
            return [row for columns in self._columns(connection, ids) for row in zip(*columns, strict=True)]
        found: list[tuple[Any, ...]] = []
        for result in self._results(connection, ids):
            found += result.cursor.fetchall()
            result.close()
        return found

    def numbers(self, connection: Connection, ids: Collection[int]) -> list[int]:
        """The only column of the rows: in half the time again, because it comes as one text."""
        found: list[int] = []
        for (column,) in self._columns(connection, ids):
            found += column
        return found

    def _columns(self, connection: Connection, ids: Collection[int]) -> Iterator[list[list[Any]]]:
        """Each column as one text: to fetch a row takes SQLite's driver longer than the database to find it."""
        for result in self._results(connection, ids, as_texts=True):
            yield [orjson.loads(text or "[]") for text in result.one()]

    def _results(
        self, connection: Connection, ids: Collection[int], *, as_texts: bool = False
    ) -> Iterator[CursorResult[Any]]:
        dialect, ordered = connection.dialect.name, sorted(ids)
        how = dialect, as_texts
        if how not in self._made:
            self._made[how] = self._make(*how)
        for begin in range(0, len(ordered), AT_ONCE):
            listed = orjson.dumps(ordered[begin : begin + AT_ONCE]).decode()
            if dialect != "sqlite":
                listed = f"{{{listed[1:-1]}}}"
            yield connection.execute(self._made[how], {"ids": listed})

    def _make(self, dialect: str, as_texts: bool) -> Select[Any]:
        sqlite = dialect == "sqlite"
        question = self.question.where(self.near.in_(_IN_JSON) if sqlite else self.near == _IN_ARRAY)
        if not as_texts:
            return question
        columns = question.subquery().c
        return select(*map(func.json_group_array if sqlite else _numbers_as_text, columns))


def _numbers_as_text(column: ColumnElement[int]) -> ColumnElement[str]:
    """A JSON list of numbers, in two thirds of the time that PostgreSQL's ``json_agg`` takes for one."""
    return func.concat("[", func.string_agg(as_type(column, Text()), ","), "]")
