"""The lineage of every case from what a real Spark Connect server told: exact, or a limit with its reason."""

import tomllib
from pathlib import Path

import pytest
from tests.capture.connect.recordings import OF_FORMATS, format_cases, lineage, recordings
from tests.extract.case_file import Case, cases, difference

LIMITS = tomllib.loads((Path(__file__).parent / "limits.toml").read_text())
CASES = [case for case in cases() if str(case) in recordings()]
COARSER = {name for limit in LIMITS["coarser"] for name in limit["cases"]}
WITH_GAP = {
    name: limit.get("gap", False)
    for kind in ("coarser", "missing")
    for limit in LIMITS[kind]
    for name in limit["cases"]
}
TOLD = [case for case in CASES if "failed" not in recordings()[str(case)]]


@pytest.mark.parametrize("case", [case for case in TOLD if str(case) not in WITH_GAP], ids=str)
def test_the_lineage_is_that_of_the_case(case: Case) -> None:
    found = lineage(case, recordings()[str(case)])
    assert found is not None
    assert difference(case, *found) == ""


@pytest.mark.parametrize("case", [case for case in TOLD if str(case) in COARSER], ids=str)
def test_a_limit_misses_no_input(case: Case) -> None:
    """Where the text says too little, the kinds of the edges may be others, but no input column is missing."""
    found = lineage(case, recordings()[str(case)])
    assert found is not None
    covering = found[0].dataset
    for name, edges in case.expected.columns:
        wanted = {(edge.dataset, edge.field) for edge in edges}
        covered = found[0].fields[name] | covering
        assert wanted <= {(edge.input.dataset.name.rpartition("/")[2], edge.input.name) for edge in covered}


@pytest.mark.parametrize("case", [case for case in TOLD if str(case) in WITH_GAP], ids=str)
def test_a_limit_is_one_still(case: Case) -> None:
    """A variable and what was collected have a gap; what is named otherwise has none."""
    found = lineage(case, recordings()[str(case)])
    assert found is not None
    assert difference(case, *found) != "", "it is exact now: take it out of limits.toml"
    assert found[1] or not WITH_GAP[str(case)]


@pytest.mark.parametrize(
    "case",
    [case for case in format_cases() if str(case) not in LIMITS["not_there"]],
    ids=str,
)
def test_a_change_of_rows_has_the_lineage_of_its_case(case: Case) -> None:
    found = lineage(case, recordings(OF_FORMATS)[str(case)])
    assert found is not None
    assert difference(case, *found) == ""


def test_every_case_has_the_answer_of_a_server() -> None:
    both = {**recordings(), **recordings(OF_FORMATS)}
    failed = {name for name, one in both.items() if "failed" in one}
    assert failed == set(LIMITS["not_there"]), "make them anew: python -m tests.capture.connect.recordings"
