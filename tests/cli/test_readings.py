"""The tree of `headwater show`: below each reader of a stage stands what the stage had when it was read."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.store.conftest import new_store, run_event, written
from tests.store.questions.test_past import WRITES, Write, ingested, nights

from headwater.cli import trees
from headwater.cli.output import Branch
from headwater.cli.trees import walk_tree
from headwater.store import Store
from headwater.store.questions import roots_of, walk_from

WEEK = [
    Write("stage", "raw0", job="fill monday"),
    Write("monday", "stage"),
    Write("stage", "raw1", job="fill friday"),
    Write("friday", "stage"),
]
"""A stage that is filled again between two readers."""

BOTH = written("both", {"x": ["monday.x", "friday.x"]}, (), "ALL_ROWS")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with new_store(tmp_path) as opened:
        yield opened


def shown(store: Store, dataset: str) -> Branch:
    return walk_tree(walk_from(store, f"{dataset}.x", ends=True))


def columns(tree: Branch) -> Iterator[tuple[str, ...]]:
    """The names of columns from each line of a tree back to its root."""
    name = tree.line.plain.split()[0]
    yield (name,)
    for one in tree.children:
        yield from ((*path, name) for path in columns(one))


def test_a_reader_of_friday_has_no_source_of_monday_below_it(store: Store) -> None:
    ingested(store, WEEK)
    store.ingest([run_event("join", BOTH, minute=30)])
    paths = set(columns(shown(store, "both")))
    assert ("raw0.x", "stage.x", "monday.x", "both.x") in paths
    assert ("raw1.x", "stage.x", "friday.x", "both.x") in paths
    assert ("raw0.x", "stage.x", "friday.x", "both.x") not in paths


def test_rows_that_were_filtered_by_a_stage_of_before_stand_below_who_read_them(store: Store) -> None:
    for minute, (day, source) in enumerate((("monday", "raw0"), ("friday", "raw1"))):
        stage = written("stage", {"x": [f"{source}.x"], "*": [f"{source}.f FILTER"]}, (), "ALL_ROWS")
        reader = written(day, {"x": ["stage.x"]}, (), "ALL_ROWS")
        store.ingest([run_event(f"fill {day}", stage, minute=2 * minute)])
        store.ingest([run_event(day, reader, minute=2 * minute + 1)])
    store.ingest([run_event("join", BOTH, minute=5)])
    paths = list(columns(shown(store, "both")))
    of_friday, of_monday = ({path[0] for path in paths if reader in path} for reader in ("friday.x", "monday.x"))
    assert of_friday - {"rows"} == {"friday.x", "stage.x", "raw1.x", "raw1.f"}
    assert {"raw0.x", "raw0.f"} <= of_monday


@pytest.mark.parametrize("most", [5_000, 2])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(runs=nights() | st.lists(WRITES, min_size=2, max_size=9))
def test_every_root_stands_in_the_tree(monkeypatch: pytest.MonkeyPatch, most: int, runs: list[Write]) -> None:
    monkeypatch.setattr(trees, "MOST_VISITS", most)
    with tempfile.TemporaryDirectory() as folder, new_store(folder) as store:
        ingested(store, runs)
        for dataset in {one.output for one in runs}:
            roots = {str(one.column).rpartition("/")[2] for one in roots_of(store, f"{dataset}.x").roots}
            assert roots <= {path[0] for path in columns(shown(store, dataset))}, dataset
