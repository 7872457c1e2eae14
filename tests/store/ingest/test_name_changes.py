"""Names over time: lineage survives renames, and is right before and after them."""

from collections import Counter
from typing import Any

import pytest

from headwater.model.names import dropped_name
from headwater.store import Store
from headwater.store.questions import (
    Bounds,
    Direction,
    compact_from,
    coverage,
    datasets,
    impact_of,
    reached_from,
    roots_of,
    view_of,
    walk_from,
)
from headwater.store.questions.snapshots import compared, snapshot

MINUTE = 60_000_000
BEGIN = 1_767_225_600_000_000  # 2026-01-01T00:00Z in microseconds


def roots(store: Store, name: str, minute: int | None = None) -> set[str]:
    """The roots of a column, now or in the middle of a minute, as ``/dataset.column``."""
    bounds = Bounds(as_of=None if minute is None else BEGIN + minute * MINUTE + MINUTE // 2)
    return {f"{root.column.dataset.dataset.name}.{root.column.name}" for root in roots_of(store, name, bounds).roots}


def downstream(store: Store, name: str) -> list[str]:
    return [found.dataset.dataset.name for found in impact_of(store, name).datasets]


def test_a_renamed_table_keeps_its_lineage(store: Store, words: Any) -> None:
    written, run_event, renamed = words.written, words.run_event, words.renamed
    store.ingest(
        [
            run_event("make", written("a", {"x": ["raw.x"]}, ["db.a"]), minute=0),
            run_event("read", written("c", {"y": ["a.x"]}), minute=1),
            run_event("ddl", renamed("a", "b", symlinks={"db.a": "db.b"}), minute=2),
        ]
    )
    assert roots(store, "b.x") == roots(store, "db.b.x") == roots(store, "c.y") == {"/raw.x"}
    assert downstream(store, "b.x") == ["/c"]
    assert roots(store, "a.x") == {"/raw.x"}, "nothing else is called so by now"
    assert roots(store, "a.x", minute=1) == {"/raw.x"}
    assert [one.dataset.dataset.name for one in datasets(store)] == ["/b", "/c", "/raw"]


def test_the_former_name_may_be_that_of_another_table(store: Store, words: Any) -> None:
    written, run_event, renamed = words.written, words.run_event, words.renamed
    store.ingest(
        [
            run_event("make", written("a", {"x": ["raw.x"]}), minute=0),
            run_event("read", written("c", {"y": ["a.x"]}), minute=1),
            run_event("ddl", renamed("a", "b"), minute=2),
            run_event("again", written("a", {"x": ["other.x"]}), minute=3),
        ]
    )
    assert roots(store, "a.x") == {"/other.x"}
    assert roots(store, "b.x") == roots(store, "c.y") == {"/raw.x"}
    assert roots(store, "a.x", minute=1) == {"/raw.x"}


def test_a_late_event_is_about_the_table_of_its_time(store: Store, words: Any) -> None:
    written, run_event, renamed = words.written, words.run_event, words.renamed
    store.ingest([run_event("again", written("a", {"x": ["other.x"]}), minute=3)])
    store.ingest([run_event("ddl", renamed("a", "b"), minute=2)])
    store.ingest([run_event("make", written("a", {"x": ["raw.x"]}), minute=0)])
    assert roots(store, "a.x") == {"/other.x"}
    assert roots(store, "b.x") == roots(store, "a.x", minute=0) == {"/raw.x"}


def test_renamed_columns_keep_their_lineage(store: Store, words: Any) -> None:
    written, run_event, renamed = words.written, words.run_event, words.renamed
    store.ingest(
        [
            run_event("make", written("a", {"x": ["raw.one"], "y": ["raw.two"]}), minute=0),
            run_event("read", written("c", {"from_x": ["a.x"]}), minute=1),
            run_event("ddl", renamed("a", "a", {"x": "z"}), minute=2),
        ]
    )
    assert roots(store, "a.z") == roots(store, "c.from_x") == roots(store, "a.x", minute=1) == {"/raw.one"}
    assert downstream(store, "a.z") == ["/c"]


def test_compact_answers_have_the_names_of_the_moment(store: Store, words: Any) -> None:
    odd = "quote \" back\\slash, 'n\u00e4me' \u2603\n"
    store.ingest(
        [
            words.run_event("make", words.written("a", {"x": ["raw.k"], odd: ["raw.k"]}), minute=0),
            words.run_event("ddl", words.renamed("a", "a", {"x": "y"}), minute=2),
        ]
    )
    for minute, name in ((1, "x"), (3, "y")):
        bounds = Bounds(as_of=BEGIN + minute * MINUTE)
        compact = compact_from(store, "file:/a", bounds=bounds)
        assert set(compact.fields.values()) == {name, odd, "k"}
        assert compact.fields == {one.id: one.name for one in walk_from(store, "file:/a", bounds=bounds).columns}
    assert set(compact_from(store, "file:/a").fields.values()) == {"y", odd, "k"}


def test_two_columns_change_places(store: Store, words: Any) -> None:
    written, run_event, renamed = words.written, words.run_event, words.renamed
    swap = [("x", "tmp"), ("y", "x"), ("tmp", "y")]
    store.ingest(
        [
            run_event("make", written("a", {"x": ["raw.one"], "y": ["raw.two"]}), minute=0),
            run_event("read", written("c", {"from_x": ["a.x"]}), minute=1),
            *(run_event("ddl", renamed("a", "a", {old: new}), minute=2 + at) for at, (old, new) in enumerate(swap)),
            run_event("read again", written("d", {"from_x": ["a.x"]}), minute=6),
        ]
    )
    assert roots(store, "a.x") == roots(store, "d.from_x") == {"/raw.two"}
    assert roots(store, "a.y") == roots(store, "c.from_x") == {"/raw.one"}
    assert roots(store, "a.x", minute=1) == roots(store, "a.tmp", minute=2) == {"/raw.one"}
    assert downstream(store, "a.y") == ["/c"]


def test_a_table_is_dropped_and_made_anew(store: Store, words: Any) -> None:
    written, run_event, renamed = words.written, words.run_event, words.renamed
    store.ingest(
        [
            run_event("make", written("a", {"x": ["raw.x"]}, ["db.a"]), minute=0),
            run_event("read", written("c", {"y": ["a.x"]}), minute=1),
            run_event("ddl", renamed("a", None, symlinks={"db.a": None}), minute=2),
        ]
    )
    assert roots(store, "a.x") == roots(store, "c.y") == {"/raw.x"}, "what was made of it still is"
    store.ingest([run_event("make", written("a", {"x": ["other.x"]}, ["db.a"]), minute=3)])
    assert roots(store, "a.x") == roots(store, "db.a.x") == {"/other.x"}
    assert roots(store, "c.y") == roots(store, "a.x", minute=1) == {"/raw.x"}
    assert downstream(store, "raw.x") == ["/c"], "a table that is no more is not impacted"
    assert [one.dataset.dataset.name for one in datasets(store)] == ["/a", "/c", "/other", "/raw"]
    store.ingest([run_event("read", written("c", {"y": ["a.x"]}), minute=4)])
    assert roots(store, "c.y") == {"/other.x"}


def test_walks_down_leave_out_tables_that_were_made_anew_but_for_those_on_a_path(store: Store, words: Any) -> None:
    """Of a table that is dropped and made each night, only the last one depends on what it is made of."""
    written, run_event, renamed = words.written, words.run_event, words.renamed
    made = written("a", {"x": ["raw.x"]}, ["db.a"])
    for night in range(3):
        store.ingest([run_event("make", made, minute=4 * night)])
        if night == 1:
            store.ingest([run_event("read", written("c", {"y": ["a.x"]}), minute=4 * night + 1)])
        store.ingest([run_event("ddl", renamed("a", None, symlinks={"db.a": None}), minute=4 * night + 2)])
    store.ingest([run_event("make", made, minute=12)])
    # Of four tables the one that was read, and the last.
    assert len(reached_from(store, "raw.x", Direction.DOWN).distance) == 4
    assert Counter(hop.output.name for hop in walk_from(store, "raw.x", Direction.DOWN).hops) == {"x": 2, "y": 1}
    assert sorted(one.dataset.name for one in view_of(store, "raw.x").graph.datasets.values()) == [
        "/a",
        "/a",
        "/c",
        "/raw",
    ]
    assert downstream(store, "raw.x") == ["/a", "/c"]
    assert [one.output.dataset.name for one in coverage(store) if one.output] == ["/a", "/c"]
    assert {str(one).rpartition("/")[2] for one in walk_from(store, "c.y").columns} == {"c.y", "a.x", "raw.x"}


def test_an_external_table_made_anew_over_its_files_is_the_same(store: Store, words: Any) -> None:
    written, run_event, renamed = words.written, words.run_event, words.renamed
    dropped = renamed("a", "a", symlinks={"db.a": None})
    dropped["facets"]["lifecycleStateChange"] = {"lifecycleStateChange": "DROP"}
    store.ingest(
        [
            run_event("make", written("a", {"x": ["raw.x"]}, ["db.a"]), minute=0),
            run_event("ddl", dropped, minute=1),
            run_event("read", written("c", {"y": ["a.x"]}, ["db.c"]), minute=2),
            run_event("make", written("a", None, ["db.a"]), minute=3),
        ]
    )
    assert roots(store, "c.y") == roots(store, "db.a.x") == {"/raw.x"}


def test_a_rename_that_failed_changes_nothing(store: Store, words: Any) -> None:
    written, run_event, renamed = words.written, words.run_event, words.renamed
    store.ingest(
        [
            run_event("make", written("a", {"x": ["raw.x"]}), minute=0),
            run_event("ddl", renamed("a", "b"), minute=1, state="FAIL"),
            run_event("make", written("a", {"x": ["raw.y"]}), minute=2),
        ]
    )
    assert roots(store, "a.x") == {"/raw.y"}
    assert [one.dataset.dataset.name for one in datasets(store)] == ["/a", "/raw"]


def test_the_standard_facet_of_a_rename_is_enough(store: Store, words: Any) -> None:
    new = words.written("b")
    previous = {"namespace": "file", "name": "/a"}
    new["facets"]["lifecycleStateChange"] = {"lifecycleStateChange": "RENAME", "previousIdentifier": previous}
    store.ingest(
        [words.run_event("make", words.written("a", {"x": ["raw.x"]}), minute=0), words.run_event("ddl", new, minute=1)]
    )
    assert roots(store, "b.x") == {"/raw.x"}


def test_a_view_that_is_redefined_has_the_lineage_of_its_time(store: Store, words: Any) -> None:
    written, run_event = words.written, words.run_event
    for minute, source in enumerate(["raw.x", "other.x"]):
        store.ingest([run_event("views", written("v", {"x": [source]}), minute=minute)])
    assert roots(store, "v.x", minute=0) == {"/raw.x"}
    assert roots(store, "v.x") == {"/other.x"}


def test_a_dropped_column_and_one_that_is_added_by_its_name_are_two(store: Store, words: Any) -> None:
    written, run_event, renamed = words.written, words.run_event, words.renamed
    store.ingest(
        [
            run_event("make", with_schema(written("t", {"id": ["raw.id"], "n": ["raw.x"]}), "id", "n"), minute=0),
            run_event("use", written("g", {"m": ["t.n"]}), minute=1),
            run_event(
                "drop", with_schema(renamed("t", "t", fields={"n": "n (dropped 2026-01-01T00:02:00Z)"}), "id"), minute=2
            ),
        ]
    )
    assert roots(store, "g.m") == {"/raw.x"}
    with store.read() as connection:
        then, now = snapshot(connection, BEGIN + MINUTE * 3 // 2), snapshot(connection)
    found = compared(then, now)
    assert ([str(one) for one in found.removed], found.added, found.rerouted) == (["file:/t.n"], (), ())
    store.ingest(
        [
            run_event("add", with_schema(renamed("t", "t"), "id", "n"), minute=3),
            run_event("fill", with_schema(written("t", {"n": ["other.y"]}), "id", "n"), minute=4),
        ]
    )
    assert (roots(store, "t.n"), roots(store, "g.m")) == ({"/other.y"}, {"/raw.x"})
    assert roots(store, "t.n", minute=1) == {"/raw.x"}, "the new one was not there"


@pytest.mark.parametrize("order", [1, -1])
def test_columns_of_one_name_that_were_dropped_one_after_the_other_are_apart(
    store: Store, words: Any, order: int
) -> None:
    events = []
    for place, source in enumerate(("raw.x", "other.y", "third.z")):
        minute = 10 * place
        made = with_schema(words.written("t", {"id": ["raw.id"], "n": [source]}, write="SOME_ROWS"), "id", "n")
        gone = words.renamed("t", "t", fields={"n": dropped_name("n", str(place))})
        events += [
            words.run_event(f"make{place}", made, minute=minute),
            words.run_event(f"use{place}", words.written(f"g{place}", {"m": ["t.n"]}), minute=minute + 1),
            words.run_event(f"drop{place}", with_schema(gone, "id"), minute=minute + 2),
        ]
    store.ingest(events[:-1][::order])
    assert [roots(store, f"g{place}.m") for place in range(3)] == [{"/raw.x"}, {"/other.y"}, {"/third.z"}]
    assert roots(store, "t.n") == {"/third.z"}
    assert [roots(store, "t.n", minute=minute) for minute in (1, 11, 21)] == [{"/raw.x"}, {"/other.y"}, {"/third.z"}]


def with_schema(output: Any, *names: str) -> Any:
    output["facets"]["schema"] = {"fields": [{"name": name, "type": "int"} for name in names]}
    return output
