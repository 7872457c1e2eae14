"""All queries of TPC-DS and TPC-H, analyzed by a live Spark."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.tpc.comparison import Source, source
from tests.tpc.queries import SUITES, queries
from tests.tpc.recordings import recorded
from tests.tpc.spark_tables import create_tables, spark_session

from headwater.model import ColumnLineage

pytestmark = pytest.mark.spark

Edge = tuple[Source, str, bool]


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with spark_session() as session:
        for suite in SUITES:
            create_tables(session, suite)
        yield session


@pytest.mark.parametrize("suite", SUITES)
def test_the_lineage_of_a_query_is_that_of_its_recorded_plan(spark: Any, suite: str) -> None:
    import headwater

    spark.catalog.setCurrentDatabase(suite)
    for query in queries(suite):
        found = headwater.lineage(spark.sql(query.text))
        assert not found.gaps, str(query)
        assert edges(found.lineage) == edges(recorded(suite)[query.number][0]), str(query)


def edges(lineage: ColumnLineage) -> dict[str, set[Edge]]:
    """The edges of each column, and those of the dataset under ``*``, wherever the tables are."""
    return {
        name: {(source(edge.input), edge.transformation.subtype.value, edge.transformation.masking) for edge in found}
        for name, found in (*lineage.fields.items(), ("*", lineage.dataset))
    }
