"""The seam between the store and a database: the methods that the file of another one has to implement."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from sqlalchemy import BindParameter, ColumnElement, Connection, Engine, FromClause, Insert, Select, Table, Update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import TypeEngine

from headwater.errors import StoreError

AT_ONCE = 20_000
"""Ids or rows in one statement."""

WRITES = "headwater_writing"
"""The execution option of a connection whose transaction writes."""

TOO_LONG = "it took longer than reading may, or somebody ended it; ask for less, or raise --time-limit"
"""The advice for a statement that was ended."""

Rows: TypeAlias = Sequence[tuple[Any, ...]]

BoundValues: TypeAlias = Mapping[str, ColumnElement[Any]]
"""The values of each row, by name."""

Upsert: TypeAlias = "postgresql.Insert | sqlite.Insert"
"""An insert that can say what becomes of a row that is there already."""


class Database(Protocol):
    """One kind of database; it has no state, connections are passed to it."""

    label: str
    """Its name as people write it."""

    dialect: str
    """Its name as SQLAlchemy writes it."""

    reading: Mapping[str, Any]
    """The execution options of a connection that sees one state of the store."""

    shared: bool
    """Whether tables of others may be beside those of a store."""

    columns_as_text: bool
    """Whether a whole column as one JSON text is quicker to fetch than its rows."""

    def engine(self, url: str, *, read_only: bool, timeout: float, durable: bool) -> Engine:
        """An engine for the store at ``url``; nothing is opened yet."""

    def limited(self, connection: Connection, seconds: float) -> AbstractContextManager[None]:
        """Ends what takes longer than so many seconds: statements within, or all of it."""

    def lock(self, connection: Connection, silence: float) -> None:
        """Wait until no other transaction writes; end this one when nothing comes for ``silence`` seconds, 0 never."""

    def prefer_indexes(self, connection: Connection) -> None:
        """Make the planner use indexes until the transaction ends, whatever it thinks of the tables' sizes."""

    def explain(self, fault: BaseException | None) -> tuple[type[StoreError], str]:
        """The store's error for one of the driver, and the advice that goes with it."""

    def size(self, engine: Engine) -> int:
        """The size of the store in bytes."""

    def analyze(self, engine: Engine) -> None:
        """Count rows, so that the planner chooses the right index."""

    def vacuum(self, engine: Engine) -> bool:
        """Return the room of removed rows to the disk; False where the database does so by itself."""

    def parameters(self, types: Mapping[str, TypeEngine[Any]]) -> BoundValues:
        """The values of the rows of `execute_rows`, for use in its statement."""

    def insert(self, table: Table, types: Mapping[str, TypeEngine[Any]]) -> Upsert:
        """A statement for `execute_rows` that inserts rows with these columns."""

    def execute_rows(
        self, connection: Connection, statement: Insert | Update, names: Sequence[str], rows: Rows
    ) -> None:
        """Execute a statement made of `parameters` for many rows, with values in the order of the names."""

    def add_rows(
        self, connection: Connection, table: Table, names: Sequence[str], rows: Iterable[tuple[Any, ...]]
    ) -> None:
        """Insert rows of numbers, texts and bytes, the quickest way there is."""

    def new_ids(self, connection: Connection, table: Table, count: int, last: int) -> Sequence[int]:
        """Ids for new rows, in a transaction that writes alone; ``last`` is the greatest that is not written yet."""

    def continue_ids(self, connection: Connection, table: Table) -> None:
        """Make sure that new ids are greater than those that were copied into a table."""

    def ids_text(self, ids: Sequence[int]) -> str:
        """Ids as one text, because a parameter for each costs more than the answer."""

    def among(self, column: ColumnElement[int], ids: BindParameter[str]) -> ColumnElement[bool]:
        """The condition that a column is one of the ids of a text by `ids_text`."""

    def column_text(self, column: ColumnElement[int]) -> ColumnElement[str]:
        """All values of a column as one JSON text."""

    def lists(self, keys: Sequence[Any], kind: type) -> Iterator[Any]:
        """Integers, texts or bytes as what a column can be ``in_``, so many at a time as a statement takes."""

    def pairs(self, pairs: Sequence[tuple[int, int]]) -> FromClause:
        """Pairs of numbers as a table of two columns."""

    def with_words(self, table: Table, columns: Sequence[str], words: Sequence[str]) -> Select[Any]:
        """The ids of rows in whose columns there are all the words, each found by its beginning."""

    def text_index(self, table: str, columns: Sequence[str]) -> Iterator[str]:
        """The statements that make the index for `with_words`."""
