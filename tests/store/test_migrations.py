"""The migrations make the schema that the code reads, and keep what a store has."""

import json
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import insert, inspect

from headwater.store import Store, open_store, schema
from headwater.store.schema import REVISIONS, VERSION_TABLE, metadata
from headwater.store.sql import engine as connections
from headwater.store.sql.copying import set_sequences


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
        # The tables of SQLite's full-text indexes are no tables of the schema (`headwater.store.sql.text_search`).
        opts = {"version_table": VERSION_TABLE, "include_name": lambda name, *_: "_words" not in (name or "")}
        context = MigrationContext.configure(connection, opts=opts)
        assert compare_metadata(context, metadata) == []


def test_an_older_store_has_one_column_for_each_name(words: Any, store: Store, url: str, tmp_path: Path) -> None:
    """It is what a new store makes of the same events; `store_0012.json` has the rows that schema 0012 made of them."""
    old = json.loads((Path(__file__).parent / "store_0012.json").read_text())
    with open_store(str(tmp_path / "new.db")) as new:
        new.ingest(old["events"])
        expected = words.contents(new)["fields"], words.edges(new)
    _fill(url, old["rows"])
    with open_store(url) as upgraded:
        assert (words.contents(upgraded)["fields"], words.edges(upgraded)) == expected
        assert upgraded.ingest(old["events"]).known == len(old["events"])
        upgraded.ingest([words.told("read", words.written("last", {"k": ["mid.iD"]}), minute=9)])
        assert "last.k <- mid.Id IDENTITY" in words.edges(upgraded)
        assert "odd.A <- raw.y IDENTITY" in words.edges(upgraded)


def _fill(url: str, rows: dict[str, list[dict[str, Any]]]) -> None:
    """Makes a store of schema 0012 with some rows."""
    engine = connections.connect(url, read_only=False, timeout=30)
    with connections.writing(engine) as connection:
        schema.metadata.drop_all(connection)
        connection.exec_driver_sql(f"DROP TABLE {VERSION_TABLE}")
        config = Config()
        config.set_main_option("script_location", "headwater.store:migrations")
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, "0012")
        for table in schema.metadata.sorted_tables:
            for row in rows.get(table.name, ()):
                values = {
                    name: bytes.fromhex(one["hex"]) if isinstance(one, dict) else one for name, one in row.items()
                }
                connection.execute(insert(table), values)
        if connection.dialect.name == "postgresql":
            there = inspect(connection).get_table_names()
            set_sequences(connection, [one for one in schema.metadata.sorted_tables if one.name in there])
    engine.dispose()
