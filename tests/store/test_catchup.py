"""A store of an older schema, upgraded, holds what a store holds that took the same events anew."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.config import Config
from fastapi.testclient import TestClient
from sqlalchemy import Connection, Engine, MetaData, create_engine, insert, select, text
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.server import ServerSettings, create_app
from headwater.store import Store, open_store, schema
from headwater.store.catalog import tags
from headwater.store.maintenance import catchup
from headwater.store.maintenance.retention import prune
from headwater.store.sql import engine as connections

SAID = {
    "facets": "SELECT d.name, j.name, f.name, f.at, f.event_digest FROM facet f "
    "LEFT JOIN dataset d ON d.id = f.dataset_id LEFT JOIN job j ON j.id = f.job_id",
    "tags": "SELECT d.name, j.name, c.name, t.tag, t.value, t.source, t.at FROM tagging t "
    "LEFT JOIN dataset d ON d.id = t.dataset_id LEFT JOIN job j ON j.id = t.job_id "
    "LEFT JOIN field c ON c.id = t.field_id",
    "datasets": "SELECT namespace, name, description, description_at, first_at, last_at, hidden_at FROM dataset",
    "jobs": "SELECT namespace, name, description, description_at, location, location_at, first_at, last_at FROM job",
    "field names": "SELECT name FROM field_name",
    "left": "SELECT until FROM catch_up",
}


def events(words: Any) -> list[Any]:
    """Events with tags, descriptions, other names and renames, told over some minutes."""
    told = []
    for minute in range(0, 12, 2):
        gold = words.written("gold", {"a": ["raw.x"], "b": ["raw.y FILTER"]}, symlinks=["db.gold"] if minute else [])
        gold["facets"] |= {
            "documentation": {"description": f"as of {minute}"},
            "tags": {"tags": [{"key": f"t{minute % 4}", "value": "v", "source": "X"}, {"key": "pii", "field": "a"}]},
        }
        job = {
            "documentation": {"description": f"daily {minute}"},
            "sourceCodeLocation": {"type": "git", "url": f"https://example.org/{minute}"},
            "tags": {"tags": [{"key": "team", "value": str(minute), "source": "X"}]},
        }
        name = f"daily {minute}"
        told.append(words.told("daily", minute=minute, state="START", run=name, inputs=["raw"]))
        told.append(words.told("daily", gold, minute=minute + 1, run=name, inputs=["raw"], job_facets=job))
    told.append(words.told("move", words.renamed("gold", "old", symlinks={"db.gold": "db.old"}), minute=20, run="move"))
    told.append(words.told("late", words.written("gold", {"a": ["old.a"]}), minute=21, run="late"))
    alone = {"eventTime": "2026-01-01T00:30:00Z", "dataset": words.written("alone", {"n": ["gold.a"]})}
    return [*told, alone]


@pytest.fixture
def older(words: Any, tmp_path: Path, url: str) -> str:
    """A store of revision 0002 with the rows that its version would have written."""
    with open_store(f"sqlite:///{tmp_path / 'now.db'}") as now:
        now.ingest(events(words))
    _upgrade(url, "0002")
    source = create_engine(f"sqlite:///{tmp_path / 'now.db'}")
    target = connections.connect(url, read_only=False, timeout=5)
    with source.connect() as rows, connections.writing(target) as connection:
        _copy(rows, connection)
    source.dispose()
    target.dispose()
    return url


def _upgrade(url: str, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", "headwater.store:migrations")
    config.set_main_option("path_separator", "os")
    engine: Engine = connections.connect(url, read_only=False, timeout=5)
    with connections.writing(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


def _copy(rows: Connection, connection: Connection) -> None:
    known = MetaData()
    known.reflect(connection)
    for table in (one for one in known.sorted_tables if one.name in schema.metadata.tables):
        columns = [schema.metadata.tables[table.name].c[name] for name in table.c.keys()]  # noqa: SIM118
        found = [dict(row._mapping) for row in rows.execute(select(*columns))]
        if found:
            connection.execute(insert(table), found)
        if connection.dialect.name == "postgresql" and "id" in table.c:
            last = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), coalesce(max(id), 0) + 1) FROM "
            connection.execute(text(f'{last} "{table.name}"'))


def said(store: Store, words: Any) -> dict[str, list[str]]:
    with store.read() as connection:
        more = {name: sorted(str(tuple(row)) for row in connection.execute(text(one))) for name, one in SAID.items()}
    return {name: list(map(_plain, rows)) for name, rows in (words.contents(store) | more).items()}


def _plain(row: str) -> str:
    """SQLite writes 0 and 1 for what PostgreSQL writes as a word."""
    return row.replace("True", "1").replace("False", "0")


@pytest.fixture
def anew(words: Any, tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'anew.db'}") as store:
        store.ingest(events(words))
        yield store


@pytest.mark.parametrize("at_once", [1, 5, 200])
def test_what_was_not_kept_is_read_again(
    older: str, anew: Store, words: Any, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catchup, "AT_ONCE", at_once)
    with open_store(older) as store:
        assert said(store, words)["facets"] == []
        assert catchup.step(store) == min(at_once, len(events(words)))
    with open_store(older) as store:  # stopped, and begun again
        catchup.catch_up(store)
        assert said(store, words) == said(anew, words)
        assert catchup.catch_up(store) == 0


def test_events_go_on_arriving_meanwhile(older: str, anew: Store, words: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catchup, "AT_ONCE", 3)
    later = words.told("daily", words.written("gold", {"a": ["raw.z"]}), minute=40, run="later")
    late = words.told("move", words.renamed("raw", "source"), minute=3, run="late rename")
    with open_store(older) as store:
        catchup.step(store)
        store.ingest([later])
        catchup.step(store)
        store.ingest([late])
        catchup.catch_up(store)
        anew.ingest([later, late])
        assert said(store, words) == said(anew, words)


def test_a_server_reads_them_while_it_runs(older: str, anew: Store, words: Any) -> None:
    with TestClient(create_app(ServerSettings(older))) as client:
        store = client.app.state.server.store  # type: ignore[attr-defined]
        for _ in range(600):
            with store.read() as connection:
                if not connection.execute(select(schema.catch_up)).first():
                    break
            time.sleep(0.1)
        assert said(store, words) == said(anew, words)


def test_a_tag_that_was_taken_off_stays_off(store: Store, words: Any) -> None:
    store.ingest(events(words))
    with store.write() as connection:
        job = connection.execute(select(schema.job.c.id).where(schema.job.c.name == "daily")).scalar_one()
        tags.remove(connection, (0, job), "team")
        last = connection.execute(select(schema.event.c.id).order_by(schema.event.c.id.desc())).scalars().first()
        connection.execute(insert(schema.catch_up), {"until": last, "after": -1})
    before = said(store, words)
    assert catchup.catch_up(store) == len(events(words))
    assert said(store, words) == before | {"left": []}


def test_the_command_says_how_many(older: str, words: Any) -> None:
    def upgraded() -> str:
        return CliRunner().invoke(app, ["db", "upgrade", "--store", older], env={"COLUMNS": "300"}).output

    assert upgraded().startswith(f"{len(events(words))} events were read again.\n")
    assert upgraded().endswith("nothing to do.\n")


def test_pruning_reads_them_first(older: str, words: Any) -> None:
    cut = int(datetime(2026, 1, 1, 0, 15, tzinfo=UTC).timestamp()) * 1_000_000
    with open_store(older) as store:
        prune(store, cut)
        found = said(store, words)
    assert found["left"] == []
    assert any("documentation" in row for row in found["facets"])
