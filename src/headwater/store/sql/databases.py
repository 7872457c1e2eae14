"""The databases that can hold a store: chosen here, once, and nowhere else."""

from typing import Any

from sqlalchemy import BigInteger, Connection, Integer, text

from headwater.store.sql.database import Database
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
