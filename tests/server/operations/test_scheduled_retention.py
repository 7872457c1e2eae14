"""A server with a limit of age removes what is older: one process of all, once a day, and says so."""

import logging
import time
from collections.abc import Callable
from contextlib import ExitStack

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from tests.store.conftest import new_database as new_database  # noqa: PLC0414 - fixtures
from tests.store.conftest import run_event, written
from tests.store.conftest import store as store  # noqa: PLC0414
from tests.store.conftest import url as url  # noqa: PLC0414

from headwater.errors import SettingError
from headwater.server import ServerSettings, create_app
from headwater.server.settings import duration, settings_from
from headwater.store import Store, open_store
from headwater.store.maintenance.backup import is_empty
from headwater.store.maintenance.retention import begin_scheduled, prune

HOUR = 3_600_000_000


def past(store: Store, runs: int) -> None:
    events = [run_event("daily", written("gold", {"a": [f"raw.x{n}"]}), minute=n) for n in range(runs)]
    store.ingest([event | {"eventTime": event["eventTime"].replace("2026", "2020")} for event in events])


def count(store: Store, table: str) -> int:
    with store.read() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


def eventually(holds: Callable[[], bool]) -> bool:
    ends = time.monotonic() + 60
    while not holds() and time.monotonic() < ends:
        time.sleep(0.02)
    return holds()


def removals(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if "old runs were removed" in one.getMessage()]


def test_one_of_several_processes_removes_what_is_old(store: Store, caplog: pytest.LogCaptureFixture) -> None:
    past(store, 5)
    settings = ServerSettings(store.url, keep=duration("1h"))
    with caplog.at_level(logging.INFO, logger="headwater"), ExitStack() as servers:
        for _ in range(3):
            servers.enter_context(TestClient(create_app(settings)))
        assert eventually(lambda: count(store, "run") == 1 and len(removals(caplog)) == 1)
    [message] = removals(caplog)
    assert "'runs': 4" in message or "runs=4" in message, message
    assert (count(store, "event"), count(store, "edge"), count(store, "edge_history")) == (1, 1, 0)


def test_a_server_keeps_everything_by_default(store: Store) -> None:
    past(store, 3)
    with TestClient(create_app(ServerSettings(store.url))) as client:
        assert client.get("/ready").status_code == 200
    assert (count(store, "run"), count(store, "schedule")) == (3, 0)


def test_it_is_time_once_in_each_interval_for_one_process(url: str, store: Store) -> None:
    with open_store(url) as other:
        turns = [begin_scheduled(one, now * HOUR, 24 * HOUR) for now in (100, 101, 124, 125) for one in (store, other)]
    assert turns == [True, False, False, False, True, False, False, False]


def test_what_is_begun_ends_between_two_transactions(store: Store) -> None:
    past(store, 5)
    assert prune(store, 2**60, until=lambda: True).runs == 0
    assert count(store, "run") == 5


@pytest.mark.parametrize("value", ["soon", "90", "-1d", "0d", "9999999999w"])
def test_a_time_that_is_none_is_refused(value: str) -> None:
    with pytest.raises(SettingError, match=r"HEADWATER_KEEP is .*expected"):
        settings_from({"HEADWATER_KEEP": value})


def test_a_backup_of_an_empty_store_with_a_schedule_is_empty(store: Store) -> None:
    begin_scheduled(store, HOUR, HOUR)
    with store.read() as connection:
        assert is_empty(connection)
