"""The migrations make the schema that the code reads; stores of other schemas are refused and left alone."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text

from headwater.errors import StoreTooNew, StoreTooOld
from headwater.store import Store, open_store
from headwater.store.schema import REVISIONS, UNRELEASED, VERSION_TABLE, metadata


def test_the_known_revisions_are_those_that_are_shipped() -> None:
    config = Config()
    config.set_main_option("script_location", "headwater.store:migrations")
    config.set_main_option("path_separator", "os")
    shipped = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    assert tuple(reversed(shipped)) == REVISIONS


# Of indexes of expressions, which only PostgreSQL tells.
@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection", "ignore:autogenerate skipping metadata-specified")
def test_a_new_store_has_the_tables_of_the_schema(store: Store) -> None:
    with store.read() as connection:
        # The tables of SQLite's full-text indexes are no tables of the schema (`headwater.store.schema.text_index`).
        opts = {"version_table": VERSION_TABLE, "include_name": lambda name, *_: "_words" not in (name or "")}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, metadata) == []


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("revision", ["0001", "0018", "0019"])
def test_a_store_of_before_the_first_schema_says_how_to_carry_it_over(
    store: Store, revision: str, *, read_only: bool
) -> None:
    _set_revision(store, revision)
    written = rf"has schema {revision}, .*headwater archive export DIR.*version that wrote it"
    carried = rf"{written}.*move.*headwater ingest DIR"
    with pytest.raises(StoreTooOld, match=carried):
        open_store(store.url, read_only=read_only)
    assert _revision(store) == revision


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("revision", ["r0002", "0020"])
def test_a_store_of_an_unknown_schema_is_too_new(store: Store, revision: str, *, read_only: bool) -> None:
    _set_revision(store, revision)
    with pytest.raises(StoreTooNew, match=f"has schema {revision}, this headwater knows up to r0001"):
        open_store(store.url, read_only=read_only)
    assert _revision(store) == revision


def test_no_revision_has_the_id_of_one_of_before() -> None:
    assert not set(REVISIONS) & set(UNRELEASED)


def _set_revision(store: Store, revision: str) -> None:
    with store.write() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = :new"), {"new": revision})


def _revision(store: Store) -> str:
    with store.read() as connection:
        return str(connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalar_one())
