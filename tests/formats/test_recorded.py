"""The cases of table formats on recorded plans: no JVM and no connector."""

import pytest
from tests.extract.case_file import Case, difference
from tests.extract.recordings import lineage
from tests.formats.formats import CASES, recorded


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lineage_of_a_recorded_plan(case: Case) -> None:
    found = lineage(case, recorded(case))
    assert found is not None
    assert difference(case, *found) == ""
