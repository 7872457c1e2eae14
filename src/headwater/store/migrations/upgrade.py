"""Brings the schema of a store to this version's, or says why that cannot be."""

from sqlalchemy import Connection, Engine, inspect, text

from headwater.errors import StoreCorrupt, StoreTooNew, StoreTooOld, StoreUnavailable
from headwater.store.schema import REVISIONS, UNRELEASED, VERSION_TABLE
from headwater.store.sql import databases
from headwater.store.sql.databases import database_of


def require_current(engine: Engine, url: str) -> None:
    """Checks a store that is only read.

    Raises:
        StoreTooNew: a newer headwater wrote it.
        StoreTooOld: its schema is of before the first one.
        StoreCorrupt: it holds no headwater tables.
        StoreUnavailable: it is older and would have to be upgraded first.
    """
    revision = revision_of(engine, url)
    if revision != REVISIONS[-1]:
        raise StoreUnavailable(
            f"Store {databases.shown(url)} has schema {revision}, this headwater reads {REVISIONS[-1]}: "
            "upgrade it with `headwater db upgrade`."
        )


def revision_of(engine: Engine, url: str) -> str:
    """The revision of a store's schema, one of `REVISIONS`.

    Raises:
        StoreTooNew: a newer headwater wrote it.
        StoreTooOld: its schema is of before the first one.
        StoreCorrupt: it holds no headwater tables.
    """
    with databases.reading(engine) as connection:
        revision = _revision(connection, url)
    if revision is None:
        raise _not_a_store(url)
    return revision


def upgrade(engine: Engine, url: str) -> None:
    """Creates or upgrades the tables; does nothing when they are current.

    Raises:
        StoreTooNew: a newer headwater wrote it.
        StoreTooOld: its schema is of before the first one.
        StoreCorrupt: a file with other tables than headwater's.
    """
    with databases.reading(engine) as connection:
        if _revision(connection, url) == REVISIONS[-1]:
            return
    with databases.writing(engine) as connection:
        if _revision(connection, url) != REVISIONS[-1]:
            _run_migrations(connection)


def _revision(connection: Connection, url: str) -> str | None:
    tables = set(inspect(connection).get_table_names())
    if VERSION_TABLE not in tables:
        if tables and not database_of(connection).shared:
            raise _not_a_store(url)
        return None
    revision = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar()
    if revision in UNRELEASED:
        raise StoreTooOld(
            f"Store {databases.shown(url)} has schema {revision}, of before the first release, which this headwater "
            "cannot read: write its events to files by `headwater archive export DIR` of the version that wrote it, "
            "move the old store away, and read them into a new one by `headwater ingest DIR`."
        )
    if revision is not None and revision not in REVISIONS:
        raise StoreTooNew(
            f"Store {databases.shown(url)} has schema {revision}, this headwater knows up to {REVISIONS[-1]}: "
            "upgrade headwater, or name another store."
        )
    return revision


def _not_a_store(url: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"{databases.shown(url)} is a database but not a headwater store: it has no {VERSION_TABLE} table. "
        "Name another file with --store or HEADWATER_STORE."
    )


def _run_migrations(connection: Connection) -> None:
    # Imported here: most openings find a current store, and Alembic takes longer to load than to look.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "headwater.store:migrations")
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
