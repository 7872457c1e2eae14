"""The cases of table formats, each on a running Spark with the real connector."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.connectors import DELTA, ICEBERG, packages
from tests.extract.case_file import Case, cases, difference
from tests.extract.case_tables import jvm_of_its_own, spark_for_cases
from tests.extract.recordings import LivePlans, lineage

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(not (DELTA and ICEBERG), reason="there is no build of Delta and Iceberg for this Spark"),
]

CASES = cases(Path(__file__).parent / "cases")
SETTINGS = {
    "spark.jars.packages": packages(DELTA, ICEBERG),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type": "hadoop",
    "spark.databricks.delta.snapshotPartitions": "1",
}


class Formats:
    """A running Spark with the connectors, and the plans of what it runs."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self._spark = spark
        self._plans = LivePlans(spark, folder)

    def plan(self, case: Case) -> Any:
        """The plan of a case; its table in the Iceberg catalog is dropped."""
        try:
            return self._plans.plan(case)
        finally:
            self._spark.sql("DROP TABLE IF EXISTS ice.d.out")


@pytest.fixture(scope="module")
def formats(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Formats]:
    folder: Path = tmp_path_factory.mktemp("formats")
    settings = {**SETTINGS, "spark.sql.catalog.ice.warehouse": str(folder / "ice")}
    with jvm_of_its_own(), spark_for_cases(folder, settings) as spark:
        spark.sql("CREATE NAMESPACE ice.d")
        yield Formats(spark, folder)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_lineage_of_a_format(case: Case, formats: Formats) -> None:
    found = lineage(case, formats.plan(case))
    assert found is not None
    assert difference(case, *found) == ""
