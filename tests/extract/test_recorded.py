"""Every case on the plans recorded from every version of Spark: no JVM, the same expectation everywhere."""

import pytest
from tests.extract.case_file import Case, cases, difference
from tests.extract.recordings import VERSIONS, lineage, recorded

CASES = [
    pytest.param(version, case, id=f"{version}-{case}")
    for version in VERSIONS
    for case in cases()
    if case.is_for(version)
]


@pytest.mark.parametrize(("version", "case"), CASES)
def test_lineage_of_a_recorded_plan(version: str, case: Case) -> None:
    found = lineage(case, recorded(version, case))
    assert found is not None, f"the plan does not write {case.output!r}"
    assert difference(case, *found) == ""


def test_there_are_enough_cases() -> None:
    assert len(cases()) >= 150
