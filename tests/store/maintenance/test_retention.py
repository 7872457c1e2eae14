"""Pruning: what is old goes, and no answer about now or about a time after the cut is another."""

import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text
from tests.store.ingest.test_pipeline_laws import CHANGE, EVENT, OF_STREAM, change, event, store_of

from headwater.errors import HeadwaterError
from headwater.store import Store, open_store, schema
from headwater.store.catalog.datasets import whole
from headwater.store.maintenance.retention import Pruned, prune, would_prune
from headwater.store.questions import Bounds, Direction, coverage, datasets, jobs, roots_of, walk_from
from headwater.store.read_model import versions

NEW_YEAR = 1_767_225_600_000_000
MINUTE = 60_000_000


def moment(minute: float) -> int:
    return NEW_YEAR + int(minute * MINUTE)


def daily(words: Any, minute: int, source: str = "raw.x") -> dict[str, Any]:
    event: dict[str, Any] = words.run_event(
        "daily", words.written("gold", {"a": [source]}), minute=minute, inputs=["raw"]
    )
    return event


def count(store: Store, table: str) -> int:
    with store.read() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


def test_old_runs_go_and_what_now_needs_stays(store: Store, words: Any) -> None:
    for minute in range(10):
        store.ingest([daily(words, minute, f"raw.x{minute % 3}")])
    before = words.edges(store)
    assert would_prune(store, moment(7.5)) == Pruned(runs=7, events=7, edges=7)
    assert prune(store, moment(7.5)) == Pruned(runs=7, events=7, edges=7)
    assert (count(store, "run"), count(store, "event"), count(store, "lineage")) == (3, 3, 3)
    assert words.edges(store) == before
    assert prune(store, moment(7.5)) == Pruned()
    prune(store, moment(99))
    assert (count(store, "run"), words.edges(store)) == (1, before)


def test_unfinished_runs_and_failed_latest_ones_stay(store: Store, words: Any) -> None:
    for sent in (
        words.run_event("stream", words.written("live", {"a": ["raw.x"]}), run="s", state="START"),
        daily(words, 1),
        words.run_event("daily", words.written("gold"), minute=2, state="FAIL"),
        words.run_event("daily", words.written("gold"), minute=3, state="FAIL"),
    ):
        store.ingest([sent])
    assert prune(store, moment(99)) == Pruned(runs=1, events=1)
    assert {job.state for job in jobs(store)} == {"START", "FAIL"}
    assert words.edges(store) == {"gold.a <- raw.x IDENTITY"}


def test_of_runs_that_ended_at_one_moment_the_one_that_is_listed_stays(store: Store, words: Any) -> None:
    """Both orders of arrival and of ids, as states have an order too."""
    for number in range(8):
        states = ("FAIL", "COMPLETE") if number % 2 else ("COMPLETE", "FAIL")
        for run, state in enumerate(states):
            name = f"job {number}"
            store.ingest([words.run_event(name, words.written(name), run=f"{number}-{run}", state=state)])
    listed, covered = {job.job: job.state for job in jobs(store)}, coverage(store)
    assert prune(store, moment(99)).runs > 0
    assert {job.job: job.state for job in jobs(store)} == listed
    assert coverage(store) == covered


def test_parents_go_with_the_last_of_their_children(store: Store, words: Any) -> None:
    def child(minute: int) -> dict[str, Any]:
        parent = {"run": {"runId": f"app {minute}"}, "job": {"namespace": "demo", "name": "app"}}
        sent: dict[str, Any] = daily(words, minute)
        return {**sent, "run": {**sent["run"], "facets": {"parent": parent}}}

    def app(minute: int) -> dict[str, Any]:
        return {**words.run_event("app", minute=minute), "run": {"runId": f"app {minute}"}}

    for minute in range(4):
        store.ingest([child(minute), app(minute)])
    assert would_prune(store, moment(2)).runs == 4
    assert prune(store, moment(2)).runs == 4
    assert count(store, "run") == 4


def test_a_source_of_rows_that_another_table_still_has_stays(store: Store, words: Any) -> None:
    """A stage is filled, read and emptied: what it was filled from stays until its reader is made anew."""
    loaded = words.written("v", {"y": ["stage.x"]}, (), "ALL_ROWS")
    store.ingest(
        [
            words.run_event(
                "fill", words.written("stage", {"x": ["people.email"], "*": ["people.id"]}, (), "ALL_ROWS")
            ),
            words.run_event("load", loaded, minute=1),
            words.run_event("empty", words.written("stage", None, (), "ALL_ROWS"), minute=2),
        ]
    )
    before = roots_of(store, "v.y").roots
    assert {root.column.name for root in before} == {"email", "id"}
    assert prune(store, moment(90)).edges == 0
    assert roots_of(store, "v.y").roots == before
    store.ingest(
        [
            words.run_event("other", words.written("stage", {"x": ["shop.name"]}, (), "ALL_ROWS"), minute=91),
            words.run_event("load", words.written("v", {"z": ["stage.x"]}, (), "ALL_ROWS"), minute=92),
        ]
    )
    went = [prune(store, moment(93)).edges for _ in range(3)]
    assert (went[0] > 0, went[-1]) == (True, 0)
    assert (count(store, "edge_history"), count(store, "dataset_edge_history")) == (0, 0)
    assert {root.column.name for root in roots_of(store, "v.z").roots} == {"name"}


def shown(store: Store) -> Any:
    """All of each dataset, and the fields of its version of now."""
    with store.read() as connection:
        every = whole(connection, connection.execute(select(schema.dataset.c.id)).scalars().all())
        return every, versions.fields_of(connection, [one.version for one in every.values() if one.version])


def plain(words: Any, name: str, **facets: Any) -> Any:
    output = words.written(name)
    output["facets"] |= facets
    return output


FIELDS = {"fields": [{"name": "a", "type": "string"}]}
OWNED = {"documentation": {"description": "Gold."}}


@pytest.mark.parametrize("what", ["facets", "schema", "change", "event"])
def test_a_run_stays_while_something_of_it_is_shown(store: Store, words: Any, what: str) -> None:
    other = words.run_event("other", plain(words, "gold", schema={"fields": [{"name": "b"}]}), minute=1, state="FAIL")
    sent = {
        "facets": [words.run_event("daily", plain(words, "gold", **OWNED))],
        "schema": [words.run_event("daily", plain(words, "gold", schema=FIELDS)), other],
        "change": [
            words.run_event("daily", words.written("old", None, (), "DROP")),
            words.run_event("other", words.written("old", None, (), "CREATE"), minute=1),
        ],
        "event": [
            words.run_event("daily", words.written("gold"), run="first"),
            words.run_event("daily", minute=50, run="first", state="OTHER"),
        ],
    }[what]
    store.ingest([*sent, *(words.run_event("daily", words.written("gold"), minute=minute) for minute in (2, 3, 4))])
    before = shown(store)
    assert would_prune(store, moment(20)).runs == 2
    assert prune(store, moment(20)).runs == 2
    assert shown(store) == before


def test_lineage_stays_while_later_runs_have_none(store: Store, words: Any) -> None:
    """They wrote the table and say nothing of its columns: what an earlier run said of these still holds."""
    output = words.written("gold", {"a": [], "b": ["raw.x"]})
    del output["facets"]["schema"]  # a run with a schema stays for that
    other = words.written("gold", {"c": ["raw.z"]})  # of which the latest facets of the table are
    store.ingest([words.run_event("daily", output), words.run_event("other", other, minute=1)])
    store.ingest([words.run_event("daily", words.written("gold"), minute=minute) for minute in (2, 3, 4)])
    before = words.edges(store)
    assert prune(store, moment(99)).runs == 2
    assert words.edges(store) == before
    store.ingest([words.run_event("daily", words.written("gold", {"a": ["raw.late"]}), minute=-1)])
    assert words.edges(store) == before == {"gold.b <- raw.x IDENTITY", "gold.c <- raw.z IDENTITY"}


def test_many_runs_go_in_small_transactions(store: Store, words: Any) -> None:
    store.ingest([daily(words, minute, f"raw.x{minute % 2}") for minute in range(500)])
    assert prune(store, moment(450)).runs == 450
    assert words.edges(store) == {"gold.a <- raw.x1 IDENTITY"}


def test_others_write_while_it_goes_on(store: Store, words: Any) -> None:
    store.ingest([daily(words, minute, f"raw.x{minute % 2}") for minute in range(300)])
    late = [daily(words, minute, f"raw.y{minute % 2}") for minute in range(250, 310)]

    def write() -> None:
        with open_store(store.url) as mine:
            for sent in late:
                mine.ingest([sent])

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        prune(store, moment(290))
    writer.join()
    assert words.edges(store) == {"gold.a <- raw.y1 IDENTITY"}
    assert prune(store, moment(1000)).runs > 0
    assert words.edges(store) == {"gold.a <- raw.y1 IDENTITY"}


def test_a_version_from_before_the_cut_brings_back_only_what_is_left(store: Store, words: Any) -> None:
    def write(minute: int, sources: list[str], rows: str) -> Any:
        return words.run_event("load", words.written("gold", {"a": sources}, write=rows), minute=minute)

    store.ingest([write(1, ["raw.x"], "ALL_ROWS @1"), write(2, ["raw.y"], "ALL_ROWS @2"), write(7, [], "ALL_ROWS @3")])
    prune(store, moment(5))
    store.ingest([write(8, [], "SOME_ROWS @4 <1")])
    assert words.edges(store) == set()
    store.ingest([write(9, [], "SOME_ROWS @5 <2")])
    assert words.edges(store) == {"gold.a <- raw.y IDENTITY"}


WITH_LINEAGE = {"outputs": [("b", {"x": []}, [])], "state": "COMPLETE", "inputs": [], "minute": 0, "run": "r3"}
WITHOUT_LINEAGE = {"outputs": [("a", None, [])], "state": "COMPLETE", "inputs": ["b"]}
"""A run that tells what it read and wrote, and no columns."""


def answers(store: Store, words: Any, cut: int) -> dict[str, Any]:
    """All that can be asked about now, and the lineage of moments from the cut on."""
    contents = words.contents(store)
    now = {name: contents[name] for name in ("datasets", "names", "renames", "fields", "edge", "dataset_edge")}
    listed = {"datasets": datasets(store), "jobs": [(job.job, job.type, job.state, job.at) for job in jobs(store)]}
    gaps = {(one.job, one.output, one.covered) for one in coverage(store)}
    return now | listed | {"coverage": gaps} | {at: as_of(store, at) for at in (cut, cut + 3 * MINUTE // 2)}


def restores_nothing(one: dict[str, Any]) -> bool:
    """Whether an event brings no earlier version back, whose lineage may be gone."""
    return not any("<" in text for output in one["outputs"] for text in output[3:])


def as_of(store: Store, at: int) -> list[Any]:
    found: list[Any] = []
    for name in ("/a", "/b", "/c"):
        try:
            for guess in (False, True):
                found.append(walk_from(store, name, Direction.DOWN, Bounds(as_of=at, guess=guess)))
                found.append(roots_of(store, f"{name}.x", Bounds(as_of=at, guess=guess)))
        except HeadwaterError as fault:
            found.append(str(fault))
    return found


@settings(max_examples=25)
@given(
    parts=st.lists(EVENT | OF_STREAM, min_size=1, max_size=8),
    changes=st.lists(CHANGE, max_size=2),
    late=st.lists(EVENT.filter(restores_nothing), max_size=2),
    minute=st.integers(0, 5),
)
@example(parts=[], changes=[], late=[], minute=3)
@example(
    parts=[WITHOUT_LINEAGE | {"minute": 4, "run": "r2"}, WITHOUT_LINEAGE | {"minute": 1, "run": "r1"}, WITH_LINEAGE],
    changes=[],
    late=[],
    minute=2,
)
def test_no_answer_about_now_or_after_the_cut_changes(
    words: Any, parts: list[Any], changes: list[Any], late: list[Any], minute: int
) -> None:
    """Neither at once, nor when later events come in afterwards."""
    sent = [*(event(words, one) for one in parts), *(change(words, one) for one in changes)]
    news = [event(words, {**one, "minute": one["minute"] + 10, "run": f"{one['run']} again"}) for one in late]
    cut = moment(minute)
    with tempfile.TemporaryDirectory() as folder, store_of(Path(folder), [sent]) as store:
        before, expected = answers(store, words, cut), would_prune(store, cut)
        went = prune(store, cut)
        assert (went.runs, went.events) == (expected.runs, expected.events)
        assert went.edges >= expected.edges
        assert answers(store, words, cut) == before
        store.ingest(news)
        with tempfile.TemporaryDirectory() as other, store_of(Path(other), [sent, news]) as unpruned:
            assert words.edges(store) == words.edges(unpruned)
