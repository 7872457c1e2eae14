"""The cases of table formats on recorded plans: no JVM and no connector."""

import pytest
from tests.extract.case_file import Case, difference
from tests.extract.recordings import lineage
from tests.formats.formats import CASES, recorded

from headwater.extract import statement
from headwater.plan import decode_document


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lineage_of_a_recorded_plan(case: Case) -> None:
    found = lineage(case, recorded(case))
    assert found is not None
    assert difference(case, *found) == ""


@pytest.mark.parametrize("case", [case for case in CASES if str(case) == "delta/merge_evolves"], ids=str)
def test_the_schema_of_an_evolving_merge_has_the_columns_that_it_gains(case: Case) -> None:
    (output,) = statement(decode_document(dict(recorded(case)))).outputs
    assert [field.name for field in output.description.schema] == ["id", "note", "status"]
