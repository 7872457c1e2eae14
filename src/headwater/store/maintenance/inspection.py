"""A summary of a store: where it is, its schema, and how much is in it."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from headwater.store import schema
from headwater.store.migrations.upgrade import revision_of
from headwater.store.schema import REVISIONS
from headwater.store.sql import databases
from headwater.store.sql.databases import database_at
from headwater.store.sql.location import store_url
from headwater.store.store import open_store

_COUNTED = (schema.dataset, schema.field, schema.job, schema.run, schema.event, schema.edge, schema.edge_history)


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """A store without its password; ``rows`` is empty when its schema is not this version's.

    ``earliest`` and ``latest`` are the times of events in microseconds since 1970, ``size`` is in bytes.
    """

    place: str
    kind: str
    revision: str
    size: int
    rows: tuple[tuple[str, int], ...] = ()
    earliest: int | None = None
    latest: int | None = None

    @property
    def current(self) -> bool:
        """Whether this version of headwater can use it without an upgrade."""
        return self.revision == REVISIONS[-1]


def inspect(url: str | None) -> StoreInfo:
    """Return a summary of a store, without changing anything.

    Raises:
        StoreError: it is missing, cannot be read, or is no headwater store.
    """
    url = store_url(url)
    with databases.opened(url, read_only=True) as engine:
        revision, size = revision_of(engine, url), database_at(url).size(engine)
    place, kind = databases.shown(url), database_at(url).label
    if revision != REVISIONS[-1]:
        return StoreInfo(place, kind, revision, size)
    with open_store(url, create=False, read_only=True) as store, store.read() as connection:
        at = schema.event.c.at
        earliest, latest = connection.execute(select(func.min(at), func.max(at))).one()
        return StoreInfo(place, kind, revision, size, _rows(connection), earliest, latest)


def _rows(connection: Connection) -> tuple[tuple[str, int], ...]:
    questions = {table.name: select(func.count()).select_from(table) for table in _COUNTED}
    return tuple((name, int(connection.execute(question).scalar_one())) for name, question in questions.items())
