"""Runs every case of a kind of application in one Spark application, once a session, and keeps their events."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from ..connectors import AVRO, DELTA, ICEBERG, LAKE, POSTGRESQL, packages
from ..openlineage.naming.test_jdbc import TABLES
from .case_file import source_cases
from .postgres import PASSWORD, running_postgres
from .watched import Application, Plan, once_each

HERE = Path(__file__).parent
URLS = [(url, table) for url, table, _, _ in TABLES]
DRIVER = "org.postgresql.Driver"

ICEBERG_ALONE = {
    "spark.jars.packages": packages(ICEBERG),
    "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}
CONF: Mapping[str, Mapping[str, str]] = {
    "memory": {"spark.sql.catalogImplementation": "in-memory"},
    "hive": {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:;databaseName={folder}/metastore;create=true",
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
    },
    "lake": {
        "spark.sql.catalogImplementation": "in-memory",
        **LAKE,
        "spark.sql.catalog.mem": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.mem.catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog",
        "spark.sql.catalog.mem.warehouse": "{folder}/mem",
    },
    "only_iceberg": {
        **ICEBERG_ALONE,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.spark_catalog.type": "hadoop",
        "spark.sql.catalog.spark_catalog.warehouse": "{folder}/warehouse",
    },
    "with_iceberg": {
        **ICEBERG_ALONE,
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:derby:;databaseName={folder}/metastore;create=true",
        "spark.hadoop.datanucleus.schema.autoCreateAll": "true",
        "spark.hadoop.hive.metastore.schema.verification": "false",
        "spark.sql.catalog.spark_catalog": "org.apache.iceberg.spark.SparkSessionCatalog",
        "spark.sql.catalog.spark_catalog.type": "hive",
        "spark.hadoop.iceberg.engine.hive.lock-enabled": "false",
    },
    "connectors": {
        "spark.sql.catalogImplementation": "in-memory",
        "spark.jars.packages": packages(POSTGRESQL, AVRO),
        "spark.sql.catalog.pg": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "spark.sql.catalog.pg.url": "{url}?user=postgres&password={password}",
        "spark.sql.catalog.pg.driver": DRIVER,
    },
}


INPUTS = {
    "customers": "VALUES (1, 'Ann', 'DE'), (2, 'Bob', 'FR') AS t(id, name, country)",
    "orders": "VALUES (10, 1, 5.0D, DATE '2026-01-01'), (11, 2, 7.5D, DATE '2026-01-02')"
    " AS t(id, customer, amount, day)",
}
OF_ICEBERG = ("only_iceberg", "with_iceberg")
OWN = {"spark.master": "local[1]", "spark.app.name": "sources"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "source_case" in metafunc.fixturenames:
        metafunc.parametrize("source_case", source_cases(), ids=str)


def run_application(kind: str, folder: Path, running: ExitStack) -> Application:
    """The application of a kind after its run, with the database that it needs."""
    if kind == "lake" and not (DELTA and ICEBERG):
        pytest.skip("there is no build of Delta and Iceberg for this Spark")
    if kind in OF_ICEBERG and not ICEBERG:
        pytest.skip("there is no build of Iceberg for this Spark")
    values = _database(folder, running) if kind == "connectors" else {}
    cases = [case for case in source_cases() if case.application == kind]
    provider = "iceberg" if kind == "only_iceberg" else "parquet"
    return Application(Plan(cases, INPUTS, {**OWN, **CONF[kind]}, _scope(values), provider=provider), folder, values)


def _database(folder: Path, running: ExitStack) -> Mapping[str, str]:
    (folder / "postgres").mkdir()
    setup = (HERE / "postgres.sql").read_text()
    server = running.enter_context(running_postgres(folder / "postgres", setup))
    return {"server": server.address, "url": server.url, "password": PASSWORD}


def _scope(values: Mapping[str, str]) -> Mapping[str, object]:
    return {"driver": {"driver": DRIVER}, "connection": _connection(values), "urls": URLS}


def _connection(values: Mapping[str, str]) -> dict[str, str]:
    """The options of JDBC for a case in Python."""
    known = {name: values[name] for name in ("url", "password") if name in values}
    return {"user": "postgres", "driver": DRIVER, **known}


@pytest.fixture(scope="session")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Application]]:
    """The application of a kind; it runs when the first test asks for it."""
    yield from once_each(run_application, tmp_path_factory)
