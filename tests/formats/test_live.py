"""Cases of table formats on a running Spark with the real connector: each fourth, in ``make test-matrix`` all.

The recorded plans of all of them are in every test run.
"""

from collections.abc import Iterator

import pytest
from tests.extract.case_file import Case, difference, some
from tests.extract.recordings import lineage
from tests.formats.formats import BUILDS, Formats, cases_of, running_formats

# What PySpark and connectors advise about the code of a case is no fault of ours.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Formats]:
    with running_formats("lake", tmp_path_factory.mktemp("lake")) as running:
        yield running


@pytest.fixture(scope="module")
def hudi(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Formats]:
    with running_formats("hudi", tmp_path_factory.mktemp("hudi")) as running:
        yield running


@pytest.mark.skipif(not BUILDS["lake"], reason="there is no build of Delta and Iceberg for this Spark")
@pytest.mark.parametrize("case", some(cases_of("lake"), every=4), ids=str)
def test_lineage_of_delta_and_iceberg(case: Case, lake: Formats) -> None:
    check(case, lake)


@pytest.mark.skipif(not BUILDS["hudi"], reason="there is no build of Hudi for this Spark")
@pytest.mark.parametrize("case", some(cases_of("hudi"), every=4), ids=str)
def test_lineage_of_hudi(case: Case, hudi: Formats) -> None:
    check(case, hudi)


def check(case: Case, formats: Formats) -> None:
    found = lineage(case, formats.plan(case))
    assert found is not None
    assert difference(case, *found) == ""
