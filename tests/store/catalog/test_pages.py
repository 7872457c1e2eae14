"""The cost of a page: counted in steps of SQLite's machine, which are the same on every computer."""

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, event

from headwater.model import Dataset, Job
from headwater.store import Store, open_store
from headwater.store.catalog import datasets, events, job_versions, jobs, name_ids, runs, statistics
from headwater.store.catalog.events import EventFilter
from headwater.store.catalog.jobs import JobFilter
from headwater.store.read_model import versions
from headwater.store.read_model.pages import Page

GOLD = Dataset("file", "/gold")
DAILY = Job("demo", "daily")
FEW, MANY = 60, 460
COUNTING = 9
"""Steps that it takes to count one row more in an index."""


def daily(words: Any, minute: int, written: str) -> list[Any]:
    """The events of a run, every tenth of which fails."""
    output = words.written("gold", {"a": ["raw.x"], "b": ["raw.y"]})
    end = "FAIL" if minute % 10 == 5 else "COMPLETE"
    name = f"daily {minute}"
    return [
        words.run_event("daily", minute=minute, state="START", run=name, inputs=["raw"]),
        words.run_event(
            "daily", output, words.written(written), minute=minute + 1, state=end, run=name, inputs=["raw"]
        ),
    ]


@pytest.fixture(scope="module")
def stores(words: Any, tmp_path_factory: pytest.TempPathFactory) -> list[Store]:
    """A job with few runs, and with many."""
    made = []
    for most in (FEW, MANY):
        store = open_store(str(tmp_path_factory.mktemp("pages") / f"{most}.db"))
        store.ingest([event for minute in range(most) for event in daily(words, minute, f"part {minute % 3}")])
        store.ingest([words.run_event("first", words.written("raw", {"x": ["outside.x"]}), minute=0)])
        store.analyze()
        made.append(store)
    return made


def steps(store: Store, question: Callable[[Connection], Any]) -> int:
    """How many steps a question takes."""
    taken = 0

    def step() -> int:
        nonlocal taken
        taken += 1
        return 0

    with store.read() as connection:
        question(connection)  # what a connection does once is not counted
        driver: Any = connection.connection.driver_connection
        driver.set_progress_handler(step, 1)
        question(connection)
        driver.set_progress_handler(None, 1)
    return taken


def dataset(connection: Connection) -> int:
    found = name_ids.dataset_id(connection, GOLD)
    assert found is not None
    return found


def job(connection: Connection) -> int:
    found = name_ids.job_id(connection, DAILY)
    assert found is not None
    return found


def newest(connection: Connection) -> int:
    return runs.newest(connection, [job(connection)], 1)[job(connection)][0]


PAGE = Page(10)
QUESTIONS: dict[str, Callable[[Connection], Any]] = {
    "versions of a dataset": lambda store: versions.of_dataset(store, dataset(store), GOLD, PAGE).items,
    "the current version": lambda store: datasets.outlines(store, [dataset(store)]),
    "versions of a job": lambda store: job_versions.versions(store, job(store), DAILY, "", PAGE).items,
    "jobs": lambda store: jobs.listing(store, JobFilter(), PAGE).items,
    "jobs in a state": lambda store: jobs.listing(store, JobFilter(states=frozenset({"COMPLETED"})), PAGE).items,
    "runs": lambda store: runs.listing(store, job(store), PAGE).items,
    "runs before a run": lambda store: list(runs.upstream(store, newest(store), 3)),
}

BEGIN = 1_767_225_600_000_000  # 2026-01-01
EDGES = [BEGIN + hour * 3_600_000_000 for hour in range(25)]
COUNTS: dict[str, Callable[[Connection], Any]] = {
    "events": lambda store: events.listing(store, EventFilter(), PAGE).total,
    "events of a namespace": lambda store: events.listing(store, EventFilter(namespace="demo"), PAGE).total,
    "statistics of events": lambda store: statistics.events(store, EDGES),
}
OF_EVENT = 25
"""Steps that it takes to count an event more, and to put it where it belongs."""


@pytest.mark.parametrize("name", COUNTS)
def test_counting_events_reads_none(name: str, stores: list[Store]) -> None:
    few, many = (steps(store, COUNTS[name]) for store in stores)
    assert many <= few * 1.1 + OF_EVENT * 2 * (MANY - FEW)
    with stores[1].read() as connection:
        statements: list[Any] = []
        event.listen(connection, "before_cursor_execute", lambda *arguments: statements.append(arguments[2:4]))
        COUNTS[name](connection)
        driver: Any = connection.connection.driver_connection
        plans = [row[3] for one in statements for row in driver.execute(f"EXPLAIN QUERY PLAN {one[0]}", one[1])]
    of_events = [plan for plan in plans if " event USING" in plan or plan.endswith(" event")]
    of_page = [plan for plan in of_events if "INTEGER PRIMARY KEY" in plan]
    assert [plan for plan in of_events if "COVERING INDEX" not in plan] == of_page
    assert len(of_page) <= 1


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_page_costs_the_same_however_many_runs_there_are(name: str, stores: list[Store]) -> None:
    few, many = (steps(store, QUESTIONS[name]) for store in stores)
    assert many <= few * 1.1 + COUNTING * (MANY - FEW)
