"""The migrations make the schema that the code reads."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from headwater.store import Store
from headwater.store.schema import REVISIONS, VERSION_TABLE, metadata


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
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []
