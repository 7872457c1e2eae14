"""Cases on a running Spark: the recorded plans are still what Spark makes, and the same edges come out.

Each twelfth; ``make test-matrix`` runs all, on every version of Spark. Their recorded plans are in every test run.
"""

from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from tests.extract.case_file import Case, cases, difference, some
from tests.extract.case_tables import spark_for_cases
from tests.extract.recordings import LivePlans, lineage

# What PySpark advises about the code of a case is no fault of ours.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

CASES = some([case for case in cases() if case.is_for(pyspark.__version__)], every=12)


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePlans]:
    folder: Path = tmp_path_factory.mktemp("live")
    with spark_for_cases(folder) as spark:
        yield LivePlans(spark, folder)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lineage_of_a_live_plan(case: Case, live: LivePlans) -> None:
    found = lineage(case, live.plan(case))
    assert found is not None
    assert difference(case, *found) == ""
