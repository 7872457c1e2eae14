"""Edges that no event has and walks follow on request: from all that a run read to all that it wrote."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.ingest.test_pipeline_laws import EVENT, OF_STREAM, event, store_of

from headwater.model import Subtype
from headwater.store import Store
from headwater.store.questions import (
    Bounds,
    Covered,
    Direction,
    EdgeType,
    Graph,
    Origin,
    coverage,
    datasets_from,
    impact_of,
    paths_between,
    reached_from,
    roots_of,
    walk_from,
)

NEW_YEAR = 1_767_225_600_000_000
MINUTE = 60_000_000
GUESS = Bounds(guess=True)


def short(column: Any) -> str:
    return f"{column.dataset.dataset.name[1:]}.{column.name}"


def hops(graph: Graph) -> set[str]:
    """``"out.* <- silver.x by export?"``, with a question mark where it is a guess."""
    return {
        f"{hop.output_dataset.dataset.name[1:]}.{hop.output.name if hop.output else '*'} <- {short(hop.input)} "
        f"by {hop.job.name}{'?' if step.guess else ''}"
        for hop in graph.hops
        for step in hop.transformations
    }


@pytest.fixture
def shop(store: Store, words: Any) -> Store:
    """A job that tells columns, one that tells none of a dataset without columns, and one that reads a known one."""
    silver = words.written("silver", {"x": ["raw.x"], "y": ["raw.y"]})
    gold = words.written("gold", {"a": ["silver.x"]})
    store.ingest(
        [
            words.run_event("clean", silver, minute=1),
            words.run_event("gold", gold, minute=2),
            words.run_event("export", words.written("out"), inputs=["silver"], minute=3),
            words.run_event("copy", words.written("gold"), inputs=["raw", "other"], minute=4),
        ]
    )
    return store


def test_every_known_column_of_every_input_may_have_gone_into_the_whole_output(shop: Store) -> None:
    assert hops(walk_from(shop, "/out", Direction.UP)) == set()
    up = walk_from(shop, "/out", Direction.UP, GUESS)
    guessed = {"out.* <- silver.x by export?", "out.* <- silver.y by export?"}
    assert hops(up) == guessed | {"silver.x <- raw.x by clean", "silver.y <- raw.y by clean"}
    assert {short(column): far for column, far in up.columns.items()} == {
        "silver.x": 1,
        "silver.y": 1,
        "raw.x": 2,
        "raw.y": 2,
    }
    down = walk_from(shop, "raw.y", Direction.DOWN, GUESS)
    assert hops(down) == {
        *("silver.y <- raw.y by clean", "out.* <- silver.y by export?", "gold.* <- raw.y by copy?"),
    }
    (step,) = {step for hop in up.hops for step in hop.transformations if step.guess}
    assert (step.opaque, step.masking, step.description[:6]) == (True, False, "guess:")


def test_a_guess_stands_beside_lineage_of_events_and_coverage_stays(shop: Store) -> None:
    before = coverage(shop)
    without, both = (walk_from(shop, "gold.a", Direction.UP, bounds) for bounds in (Bounds(), GUESS))
    assert hops(without) == {"gold.a <- silver.x by gold", "silver.x <- raw.x by clean"}
    assert hops(both) == hops(without) | {"gold.* <- raw.x by copy?", "gold.* <- raw.y by copy?"}
    assert coverage(shop) == before
    assert {one.job.name for one in before if one.covered is Covered.NONE} == {"export", "copy"}


def test_roots_impact_and_paths_say_what_is_a_guess(store: Store, words: Any) -> None:
    events = [
        words.run_event("copy", words.written("b", None), inputs=["a"], minute=1),
        words.run_event("sum", words.written("c", {"x": ["b.x AGGREGATION"]}), minute=2),
        words.run_event("make", words.written("a", {"x": ["raw.x"]}), minute=3),
    ]
    store.ingest(events)
    (before,) = roots_of(store, "c.x").roots
    assert (short(before.column), before.origin) == ("b.x", Origin.UNKNOWN)
    (root,) = roots_of(store, "c.x", GUESS).roots
    assert (short(root.column), root.distance, [job.name for job in root.jobs]) == ("raw.x", 3, ["make", "copy", "sum"])
    (step,) = root.transformations
    assert (step.transformation.subtype, step.transformation.guess, step.whole_dataset) == (
        Subtype.AGGREGATION,
        True,
        True,
    )
    impacted = {one.dataset.dataset.name: one for one in impact_of(store, "a.x", GUESS).datasets}
    assert {name: one.distance for name, one in impacted.items()} == {"/b": 1, "/c": 2}
    (column,) = impacted["/c"].columns
    assert column.transformations == root.transformations
    (path,) = paths_between(store, "a.x", "c.x", bounds=GUESS).paths
    assert [short(column) for column in path.columns] == ["a.x", "b.x", "c.x"]
    assert paths_between(store, "a.x", "c.x").paths == ()


def test_paths_from_events_decide_the_direction(store: Store, words: Any) -> None:
    guessed_back = words.run_event("back", words.written("b"), inputs=["a"], minute=2)
    store.ingest([words.run_event("there", words.written("a", {"x": ["b.x"]}), minute=1), guessed_back])
    answer = paths_between(store, "a.x", "b.x", bounds=GUESS)
    assert (short(answer.source), short(answer.target), len(answer.paths)) == ("b.x", "a.x", 1)


def test_the_latest_successful_run_of_a_moment_decides(store: Store, words: Any) -> None:
    def out(minute: int, lineage: Any = None, state: str = "COMPLETE") -> Any:
        return words.run_event("job", words.written("out", lineage), inputs=["in"], minute=minute, state=state)

    store.ingest([words.run_event("in", words.written("in", {"x": []}), minute=0)])
    store.ingest([out(1), out(3, {"a": ["in.x"]}), out(5), out(7, {"a": ["in.x SORT"]}, "FAIL"), out(8, None, "START")])

    def guessed(minute: float | None) -> bool:
        moment = None if minute is None else NEW_YEAR + int(minute * MINUTE)
        found = walk_from(store, "in.x", Direction.DOWN, Bounds(guess=True, as_of=moment))
        return "out.* <- in.x by job?" in hops(found)

    assert [guessed(minute) for minute in (0.5, 1, 2, 3, 4, 5, 6, 9, None)] == [
        *(False, True, True, False, False, True, True, True, True)
    ]


def test_later_lineage_of_a_stream_is_no_guess(store: Store, words: Any) -> None:
    streaming = {"jobType": {"processingType": "STREAMING"}}
    running = words.run_event(
        *("job", words.written("out", {"a": ["in.x"]})), minute=5, state="RUNNING", job_facets=streaming, inputs=["in"]
    )
    store.ingest([words.run_event("job", words.written("out"), inputs=["in"], minute=1), running])
    assert hops(walk_from(store, "in.x", Direction.DOWN, GUESS)) == {"out.a <- in.x by job"}
    earlier = Bounds(guess=True, as_of=NEW_YEAR + 2 * MINUTE)
    assert hops(walk_from(store, "in.x", Direction.DOWN, earlier)) == {"out.* <- in.x by job?"}


@pytest.mark.parametrize(
    ("bounds", "followed"),
    [
        (Bounds(guess=True, masking=False), True),
        (Bounds(guess=True, masking=True), False),
        (Bounds(guess=True, edge_type=EdgeType.DIRECT), False),
        (Bounds(guess=True, edge_type=EdgeType.INDIRECT), False),
        (Bounds(guess=True, subtypes=frozenset(Subtype)), False),
        (Bounds(guess=True, jobs=("export",)), True),
        (Bounds(guess=True, jobs=("clean",)), False),
        (Bounds(guess=True, namespaces=("f*",)), True),
        (Bounds(guess=True, namespaces=("hive",)), False),
    ],
)
def test_filters_hold_for_guesses(shop: Store, bounds: Bounds, followed: bool) -> None:
    for found in (walk_from(shop, "/out", Direction.UP, bounds), walk_from(shop, "silver.x", Direction.DOWN, bounds)):
        assert any("?" in hop for hop in hops(found)) is followed


def test_columns_that_only_a_guess_leads_to_are_known_among_ids(shop: Store) -> None:
    ids = {short(one): one.id for one in walk_from(shop, "gold.a", Direction.UP, GUESS).columns}
    answer = reached_from(shop, "gold.a", Direction.UP, GUESS)
    assert (set(answer.distance), answer.guessed) == (set(ids.values()), {ids["raw.y"]})
    assert reached_from(shop, "gold.a", Direction.UP).guessed == set()
    assert reached_from(shop, "/out", Direction.UP, GUESS).guessed == {
        ids.get(short(one), one.id) for one in walk_from(shop, "/out", Direction.UP, GUESS).columns
    }


@settings(max_examples=25)
@given(parts=st.lists(EVENT | OF_STREAM, min_size=1, max_size=7), minute=st.none() | st.integers(0, 5))
def test_guesses_are_added_and_take_nothing_away(words: Any, parts: list[Any], minute: int | None) -> None:
    moment = None if minute is None else NEW_YEAR + minute * MINUTE
    without, guess = Bounds(as_of=moment), Bounds(as_of=moment, guess=True)
    events = [event(words, one) for one in parts]
    names = sorted({one["name"] for each in events for one in (*each["inputs"], *each["outputs"])})
    with tempfile.TemporaryDirectory() as folder, store_of(Path(folder), [events]) as store:
        for name in names:
            for direction in Direction:
                less, more = (walk_from(store, name, direction, bounds) for bounds in (without, guess))
                assert less.columns.keys() <= more.columns.keys()
                assert hops(less) <= hops(more)
                assert "?" not in "".join(hops(less))
                new = {hop for hop in hops(more) if "?" not in hop} - hops(less)
                assert not new or any("?" in hop for hop in hops(more))
                assert datasets_from(store, name, direction, without).datasets.keys() <= (
                    datasets_from(store, name, direction, guess).datasets.keys()
                )
            depending = [
                {
                    one.dataset: {column.column for column in one.columns}
                    for one in impact_of(store, name, bounds).datasets
                }
                for bounds in (without, guess)
            ]
            assert all(columns <= depending[1][dataset] for dataset, columns in depending[0].items())
