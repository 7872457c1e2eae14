"""An intake asks once for the kinds of rows that few stores have, and not for those of them that there are none."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event, text
from tests.store.conftest import run_event, written

from headwater.store import Store
from headwater.store.maintenance.forgotten_jobs import forget_job

RARE = ("replacement", "hidden_at", "field_rename", "first_key IS NOT NULL")


@contextmanager
def questions() -> Iterator[list[tuple[str, Any]]]:
    """The questions that are sent to any database meanwhile, with their parameters."""
    sent: list[tuple[str, Any]] = []

    def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        if statement.startswith("SELECT"):
            sent.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def rare(sent: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    return [one for one in sent if any(word in one[0] for word in RARE)]


def filled(minute: int, write: str = "") -> dict[str, Any]:
    return run_event("fill", written("stage", {"x": ["raw.x"]}, (), write), minute=minute)


def test_a_batch_asks_once_for_rows_that_there_are_none_of(store: Store) -> None:
    store.ingest([filled(0)])
    with questions() as sent:
        store.ingest([filled(1)])
    assert len(rare(sent)) == 1


def test_no_table_is_read_to_find_that_there_are_none(store: Store) -> None:
    """That of replacements grows by a row for each run that overwrites: none of a thousand restored a version."""
    with questions() as sent:
        store.ingest([filled(0, "ALL_ROWS")])
    (statement, parameters), *_ = rare(sent)
    with store.read() as connection:
        if connection.dialect.name != "sqlite":
            pytest.skip("PostgreSQL chooses by how many rows there are")
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
    steps = [str(row[-1]) for row in plan]
    assert any("replacement_restores" in one for one in steps)
    assert any("job_hidden" in one for one in steps)


def test_what_there_is_counts_all_the_same(store: Store, words: Any) -> None:
    """Replacements, restored versions and forgotten jobs, of before and of the batch itself."""
    store.ingest([filled(0, "ALL_ROWS @0")])
    others = written("stage", {"x": ["shop.x"]}, (), "ALL_ROWS @1")
    store.ingest([run_event("other", others, minute=1)])
    assert words.edges(store) == {"stage.x <- shop.x IDENTITY"}
    back = written("stage", {"x": ["stage.x"]}, (), "SOME_ROWS @2 <0")
    store.ingest([run_event("restore", back, minute=3), run_event("late", others, minute=2)])
    assert words.edges(store) == {"stage.x <- raw.x IDENTITY"}
    forget_job(store, "restore")
    store.ingest([run_event("restore", back, minute=3, run="again")])
    with store.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM edge")).scalar_one() == 0
