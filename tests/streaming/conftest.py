"""Runs the streaming cases, once a session: those without connectors, and those with Kafka and table formats."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from ..connectors import DELTA, ICEBERG, KAFKA_JARS, packages
from ..openlineage.conftest import check
from ..sources.case_file import source_cases
from ..sources.conftest import Application, Plan
from .broker import running_broker

__all__ = ["check"]

HERE = Path(__file__).parent
CASES = source_cases(HERE / "cases")
CONF: Mapping[str, Mapping[str, str]] = {
    "streams": {"spark.sql.catalogImplementation": "in-memory"},
    "kafka": {
        "spark.sql.catalogImplementation": "in-memory",
        "spark.jars.packages": packages(DELTA, ICEBERG),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": "{folder}/ice",
        "spark.databricks.delta.snapshotPartitions": "1",
    },
}
PASSWORD = "hunter2-of-the-broker"


def run_application(kind: str, folder: Path, running: ExitStack) -> Application:
    """The application of a kind after its run, with the broker that it needs."""
    cases = [case for case in CASES if case.application == kind]
    if kind == "streams":
        return Application(HERE / "application.py", Plan(cases, CONF[kind], {}), folder, {})
    broker = running.enter_context(running_broker(folder))
    values = {"broker": broker, "password": PASSWORD}
    scope = {"kafka": {"kafka.bootstrap.servers": broker}, "password": PASSWORD}
    return Application(HERE / "application.py", Plan(cases, CONF[kind], scope, KAFKA_JARS), folder, values)


@pytest.fixture(scope="session")
def streaming(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Application]]:
    """The application of a kind; it runs when the first test asks for it."""
    ran: dict[str, Application] = {}
    with ExitStack() as running:

        def of_kind(kind: str) -> Application:
            if kind not in ran:
                ran[kind] = run_application(kind, tmp_path_factory.mktemp(kind), running)
            return ran[kind]

        yield of_kind
