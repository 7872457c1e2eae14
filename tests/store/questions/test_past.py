"""Roots lead to all that was in a dataset when it was read, however often the job that wrote it ran again since."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.store.conftest import new_store, run_event, written

from headwater.store import Store
from headwater.store.maintenance.retention import prune
from headwater.store.questions import roots_of


class Write(NamedTuple):
    """A run that wrote a dataset from another one: all of its rows, or some more; of one of two jobs."""

    output: str
    source: str
    write: str = "ALL_ROWS"
    job: str = "job"

    def event(self, minute: int) -> dict[str, Any]:
        """The event of its end, whose job has the same lineage each time."""
        output = written(self.output, {"x": [f"{self.source}.x"]}, (), self.write)
        return run_event(f"{self.job} {self.source} to {self.output}", output, minute=minute, run=str(minute))


STAGES = ["stage", "table", "mart", "report"]
WRITES = st.builds(
    Write,
    st.sampled_from(STAGES),
    st.sampled_from([*STAGES, *STAGES, "raw0", "raw1", "raw2"]),
    st.sampled_from(["ALL_ROWS", "ALL_ROWS", "SOME_ROWS"]),
    st.sampled_from(["job", "job", "other"]),
)


@st.composite
def nights(draw: st.DrawFn) -> list[Write]:
    """Jobs that run again and again, in any order, while the source of the first stage changes."""
    jobs = [Write("stage", "raw0"), Write("stage", "raw1"), Write("table", "stage"), Write("mart", "table")]
    jobs += draw(st.lists(WRITES, max_size=2))
    return draw(st.lists(st.sampled_from(jobs), min_size=4, max_size=12))


def in_rows(runs: Iterable[Write]) -> dict[str, set[str]]:
    """The sources whose values are in the rows of each dataset after some runs."""
    found: dict[str, set[str]] = {}
    for one in runs:
        read = {one.source} if one.source.startswith("raw") else found.get(one.source, set())
        found[one.output] = read if one.write == "ALL_ROWS" else read | found.get(one.output, set())
    return found


def roots(store: Store, dataset: str) -> set[str]:
    """The datasets of the roots of a dataset's column."""
    found = roots_of(store, f"{dataset}.x").roots
    return {str(root.column).rpartition("/")[2].removesuffix(".x") for root in found}


def ingested(store: Store, runs: Sequence[Write], batch: int = 0) -> None:
    """Ingest runs, each a minute after the other, so many at once."""
    events = [one.event(minute) for minute, one in enumerate(runs)]
    size = batch or len(events)
    for begin in range(0, len(events), size):
        store.ingest(events[begin : begin + size])


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nights() | st.lists(WRITES, min_size=2, max_size=9), st.sampled_from([0, 1, 3]))
def test_every_source_whose_values_are_in_the_rows_is_a_root(runs: list[Write], batch: int) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(folder) as store:
        ingested(store, runs, batch)
        for dataset, sources in in_rows(runs).items():
            assert sources <= roots(store, dataset), dataset


FILLED = Write("stage", "raw0")
REFILLED = Write("stage", "raw1", job="other")
MADE, READ, ADDED = Write("table", "stage"), Write("mart", "table"), Write("mart", "table", "SOME_ROWS")
HISTORIES: Mapping[str, tuple[list[Write], set[str]]] = {
    "read, then made anew": ([FILLED, MADE, READ, REFILLED, MADE], {"raw0", "raw1"}),
    "added to, made anew, and added to": ([FILLED, MADE, ADDED, REFILLED, MADE, ADDED], {"raw0", "raw1"}),
    "made anew after it": ([FILLED, MADE, READ, REFILLED, MADE, READ], {"raw1"}),
    "made of others since": ([FILLED, MADE, READ, REFILLED, MADE, Write("table", "raw2")], {"raw0", "raw1", "raw2"}),
    "added to by one of two": (
        [FILLED, MADE, READ, REFILLED, MADE, Write("table", "stage", "SOME_ROWS")],
        {"raw0", "raw1"},
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_reader_has_the_rows_of_before_the_job_ran_again(store: Store, name: str) -> None:
    runs, expected = HISTORIES[name]
    ingested(store, runs)
    assert roots(store, "mart") == expected


def test_each_night_reads_what_the_stage_had_then(store: Store) -> None:
    """The stage is filled from another source each night; who reads the table a night late has that night alone."""
    every = [
        one
        for night in range(6)
        for one in (Write("stage", f"raw{night}", job=f"fill {night}"), MADE, Write("mart", "table"))
    ]
    ingested(store, every[:-1])
    assert roots(store, "mart") == {"raw4", "raw5"}


def test_what_is_pruned_takes_no_source_away(store: Store) -> None:
    ingested(store, [FILLED, MADE, READ, REFILLED, MADE, MADE])
    before = roots(store, "mart")
    prune(store, 1_767_225_600_000_000 + 90 * 60_000_000)
    assert roots(store, "mart") == before
