"""Tables of Delta and Iceberg in a store: one dataset, however a job reaches it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from headwater.store import open_store
from headwater.store.questions import Bounds, EdgeType, roots_of

from .case_file import SourceCase, source_cases
from .watched import Application

CHAINS = [case for case in source_cases() if case.application == "lake" and case.title.startswith("one table,")]


@pytest.mark.spark
@pytest.mark.parametrize("case", CHAINS, ids=str)
def test_roots_are_found_through_all_that_wrote_a_table(
    case: SourceCase, application: Callable[[str], Application], tmp_path: Path
) -> None:
    events = application(case.application).events_of(case)
    last = [event["outputs"][0]["name"] for event in events if event["eventType"] == "COMPLETE"][-1]
    with open_store(str(tmp_path / "lineage.db")) as store:
        store.ingest(events)
        roots = roots_of(store, f"{last}.name", Bounds(edge_type=EdgeType.DIRECT)).roots
    found = {(root.column.dataset.dataset.name.rpartition("/")[2], root.column.name) for root in roots}
    assert found == {("customers", "name"), ("customers", "country")}


def test_there_are_chains_of_both_formats() -> None:
    assert {case.family for case in CHAINS} == {"delta", "iceberg"}
