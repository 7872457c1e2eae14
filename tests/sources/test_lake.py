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


FACETS = {
    "delta": ({"framework": "delta", "name": "spark_catalog", "type": "in-memory"}, "delta"),
    "iceberg": ({"framework": "iceberg", "name": "ice", "type": "hadoop"}, "iceberg"),
}


@pytest.mark.spark
@pytest.mark.parametrize("case", CHAINS, ids=str)
def test_a_table_says_its_catalog_and_its_format(case: SourceCase, application: Callable[[str], Application]) -> None:
    outputs = [output for event in application(case.application).events_of(case) for output in event["outputs"]]
    expected, layer = FACETS[case.family]
    of_catalog = [one["facets"]["catalog"] for one in outputs if "catalog" in one["facets"]]
    assert any(expected.items() <= facet.items() for facet in of_catalog)
    storages = [one["facets"]["storage"] for one in outputs if "storage" in one["facets"]]
    assert {facet["storageLayer"] for facet in storages} == {layer}
    assert "parquet" in {facet.get("fileFormat") for facet in storages}


@pytest.mark.spark
@pytest.mark.parametrize("case", CHAINS, ids=str)
def test_the_rows_that_a_run_wrote_are_counted(case: SourceCase, application: Callable[[str], Application]) -> None:
    events = application(case.application).events_of(case)
    counts = [
        output["outputFacets"]["outputStatistics"]["rowCount"]
        for event in events
        for output in event["outputs"]
        if event["eventType"] == "COMPLETE" and "outputStatistics" in output.get("outputFacets", {})
    ]
    assert counts[0] > 0
    assert all(count >= 0 for count in counts), "a DELETE of whole files adds no row"


@pytest.mark.spark
def test_iceberg_reports_its_commits_and_scans(application: Callable[[str], Application]) -> None:
    (case,) = [case for case in CHAINS if case.family == "iceberg"]
    events = [event for event in application(case.application).events_of(case) if event["eventType"] == "COMPLETE"]
    commits = [
        one["outputFacets"]["icebergCommitReport"]
        for event in events
        for one in event["outputs"]
        if "icebergCommitReport" in one.get("outputFacets", {})
    ]
    scans = [
        one["inputFacets"]["icebergScanReport"]
        for event in events
        for one in event["inputs"]
        if "icebergScanReport" in one.get("inputFacets", {})
    ]
    assert all(report["commitMetrics"]["totalRecords"] > 0 for report in commits)
    assert commits
    assert all(report["scanMetrics"]["resultDataFiles"] > 0 and report["projectedFieldNames"] for report in scans)
    assert scans


def test_there_are_chains_of_both_formats() -> None:
    assert {case.family for case in CHAINS} == {"delta", "iceberg"}
