"""A Spark with Delta and Iceberg, or with Hudi, and the plans of the cases of table formats, live and recorded.

``python -m tests.formats.formats [case ...]`` records anew those of the formats that there is a build of.
"""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyspark
from tests.connectors import DELTA, HUDI, ICEBERG, LAKE
from tests.extract.case_file import Case, cases
from tests.extract.case_tables import jvm_of_its_own, spark_for_cases
from tests.extract.recordings import FOLDER, LivePlans, read_plans, write_plans

CASES = tuple(case for case in cases(Path(__file__).parent / "cases") if case.is_for(pyspark.__version__))
PLANS = FOLDER / "formats"
# Many small statements: what makes large ones fast costs more than it gives.
SMALL = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}
OF_HUDI = {
    **SMALL,
    "spark.jars.packages": HUDI,
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
}
FAMILIES = {"lake": ("delta", "iceberg"), "hudi": ("hudi",)}
BUILDS = {"lake": bool(DELTA and ICEBERG), "hudi": bool(HUDI)}


class Formats:
    """A running Spark with the connectors, and the plans of what it runs."""

    def __init__(self, spark: Any, folder: Path) -> None:
        self._spark = spark
        self._plans = LivePlans(spark, folder)

    def plan(self, case: Case) -> Mapping[str, Any]:
        """The plan of a case; its tables in the Iceberg catalog are dropped.

        Raises:
            LookupError: nothing that the case did writes its output.
        """
        try:
            return self._plans.plan(case)
        finally:
            if case.family == "iceberg":
                for table in self._spark.sql("SHOW TABLES IN ice.d").collect():
                    self._spark.sql(f"DROP TABLE ice.d.{table.tableName} PURGE")


def cases_of(kind: str) -> list[Case]:
    """The cases of ``lake`` or ``hudi``."""
    return [case for case in CASES if case.family in FAMILIES[kind]]


@contextmanager
def running_formats(kind: str, folder: Path) -> Iterator[Formats]:
    """A Spark in a JVM of its own; Delta's Python package, which its jar holds, can be imported meanwhile."""
    settings = (
        OF_HUDI if kind == "hudi" else {**SMALL, **{key: value.format(folder=folder) for key, value in LAKE.items()}}
    )
    with jvm_of_its_own(), spark_for_cases(folder, settings) as spark:
        jars = spark.sparkContext.getConf().get("spark.jars").split(",")
        delta = [jar.removeprefix("file://") for jar in jars if "delta-spark" in jar]
        if kind == "lake":
            spark.sql("CREATE NAMESPACE ice.d")
        sys.path.extend(delta)
        try:
            yield Formats(spark, folder)
        finally:
            for jar in delta:
                sys.path.remove(jar)


def recorded(case: Case) -> Mapping[str, Any]:
    """The recorded plan of a case.

    Raises:
        KeyError: it was not recorded; this module does that.
    """
    return read_plans(_file(case.family))[case.name]


def _file(family: str) -> Path:
    return PLANS / f"{family}.jsonl.gz"


def record(kind: str, chosen: list[str]) -> int:
    """Record the cases of a kind that are asked for, or all; the number of those that could not be."""
    plans = {family: dict(read_plans(_file(family))) for family in FAMILIES[kind]}
    wrong = 0
    with TemporaryDirectory() as folder, running_formats(kind, Path(folder)) as formats:
        for case in (case for case in cases_of(kind) if not chosen or str(case) in chosen or case.family in chosen):
            try:
                plans[case.family][case.name] = formats.plan(case)
                print(case, flush=True)
            except Exception as error:  # the next case may be in order
                wrong += 1
                print(f"{case}: {type(error).__name__}: {str(error)[:300]}", flush=True)
    for family, found in plans.items():
        known = {case.name for case in CASES if case.family == family}
        write_plans(_file(family), {name: plan for name, plan in found.items() if name in known})
    return wrong


def main(chosen: list[str]) -> int:
    """Record what can be on the installed Spark: Hudi needs 3.5, the plans of the others are those of 4.1."""
    kind = "hudi" if HUDI else "lake"
    return min(record(kind, chosen), 100)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
