"""Runs every case of a kind of application in one Spark application, once a session, and keeps what was told."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ..connectors import AVRO, DELTA, ICEBERG, POSTGRESQL, packages
from ..openlineage.test_jdbc import TABLES
from .case_file import SourceCase, source_cases
from .postgres import PASSWORD, running_postgres
from .told import told

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
EVENTS = "events.ndjson"

URLS = [(url, table) for url, table, _, _ in TABLES]
DRIVER = "org.postgresql.Driver"

COMMON = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.warehouse.dir": "{folder}/warehouse",
    "spark.driver.extraJavaOptions": "-Dderby.system.home={folder}",
    "spark.openlineage.columnLineage.descriptionsEnabled": "true",
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
        "spark.jars.packages": packages(DELTA, ICEBERG),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": "{folder}/ice",
        "spark.sql.catalog.mem": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.mem.catalog-impl": "org.apache.iceberg.inmemory.InMemoryCatalog",
        "spark.sql.catalog.mem.warehouse": "{folder}/mem",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
    },
    "connectors": {
        "spark.sql.catalogImplementation": "in-memory",
        "spark.jars.packages": packages(POSTGRESQL, AVRO),
        "spark.sql.catalog.pg": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "spark.sql.catalog.pg.url": "{url}?user=postgres&password={password}",
        "spark.sql.catalog.pg.driver": DRIVER,
    },
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "source_case" in metafunc.fixturenames:
        metafunc.parametrize("source_case", source_cases(), ids=str)


@dataclass(frozen=True)
class Plan:
    """What an application is to run; ``jars`` are Maven coordinates of jars to be added without what they depend on."""

    cases: Sequence[SourceCase]
    conf: Mapping[str, str]
    scope: Mapping[str, object]
    jars: Sequence[str] = ()


class Application:
    """One Spark application that has run the cases of its kind; ``values`` stand for ``{names}`` in cases and conf."""

    def __init__(self, script: Path, plan: Plan, folder: Path, values: Mapping[str, str]) -> None:
        self.folder = folder
        self.cases = plan.cases
        self.values = {**values, "folder": str(folder)}
        text = {
            "conf": {key: self._filled(value) for key, value in {**COMMON, **plan.conf}.items()},
            "folder": str(folder),
            "scope": plan.scope,
            "jars": plan.jars,
            "cases": [{**asdict(case), "body": self._filled(case.body)} for case in self.cases],
        }
        (folder / "plan.json").write_text(json.dumps(text))
        self.said = run_watched(script, str(folder / "plan.json"), folder=folder)
        self.ran = json.loads((folder / "ran.json").read_text())
        self.events = [json.loads(line) for line in (folder / EVENTS).read_text().splitlines()]

    def told(self, case: SourceCase) -> str:
        """The text of the case's events, its folder and database as the case calls them."""
        number = self.cases.index(case)
        text = told(self.events_of(case))
        text = text.replace(f"{self.folder}/warehouse", "{warehouse}").replace(f"{self.folder}/data_{number}", "{data}")
        text = text.replace(f"case_{number}", "{db}").replace(str(self.folder), "{folder}")
        text = text.replace(f"kafka://{self.values.get('broker', '-')}", "{broker}")
        return text.replace(f"postgres://{self.values.get('server', '-')}", "{server}")

    def events_of(self, case: SourceCase) -> list[dict[str, Any]]:
        """What was told while the case ran; the case must not have failed."""
        ran = self.ran[self.cases.index(case)]
        assert not ran["error"], ran["error"]
        return [event for event in self.events if ran["began"] <= _seconds(event["eventTime"]) <= ran["ended"]]

    def _filled(self, text: str) -> str:
        for name, value in self.values.items():
            text = text.replace(f"{{{name}}}", value)
        return text


def run_watched(script: Path, *arguments: str, folder: Path) -> str:
    """What a job prints that runs in ``folder`` under ``headwater run``; fails when it fails."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-m", "headwater", "run", "--events", EVENTS, str(script), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if "unresolved dependenc" in done.stderr:
        pytest.skip("the packages of the connectors cannot be had from here")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def run_application(kind: str, folder: Path, running: ExitStack) -> Application:
    """The application of a kind after its run, with the database that it needs."""
    script, cases = HERE / "application.py", [case for case in source_cases() if case.application == kind]
    if kind != "connectors":
        return Application(script, Plan(cases, CONF[kind], _scope({})), folder, {})
    (folder / "postgres").mkdir()
    setup = (HERE / "postgres.sql").read_text()
    server = running.enter_context(running_postgres(folder / "postgres", setup))
    values = {"server": server.address, "url": server.url, "password": PASSWORD}
    return Application(script, Plan(cases, CONF[kind], _scope(values)), folder, values)


def _scope(values: Mapping[str, str]) -> Mapping[str, object]:
    return {"driver": {"driver": DRIVER}, "connection": _connection(values), "urls": URLS}


def _connection(values: Mapping[str, str]) -> dict[str, str]:
    """What a case in Python gives to JDBC."""
    known = {name: values[name] for name in ("url", "password") if name in values}
    return {"user": "postgres", "driver": DRIVER, **known}


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


@pytest.fixture(scope="session")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Application]]:
    """The application of a kind; it runs when the first test asks for it."""
    ran: dict[str, Application] = {}
    with ExitStack() as running:

        def of_kind(kind: str) -> Application:
            if kind == "lake" and not (DELTA and ICEBERG):
                pytest.skip("there is no build of Delta and Iceberg for this Spark")
            if kind not in ran:
                ran[kind] = run_application(kind, tmp_path_factory.mktemp(kind), running)
            return ran[kind]

        yield of_kind
