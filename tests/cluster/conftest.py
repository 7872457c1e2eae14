"""One cluster with an object store and a catalog for all tests of it, and the rows that a local build makes."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from headwater.archive import build
from headwater.archive.tables import TABLES
from tests.archive.conftest import EVENTS, SMALL
from tests.archive.test_archive_laws import worlds
from tests.class_archive import options
from tests.connectors import LAKE, POSTGRESQL, S3A, packages
from tests.extract.case_tables import jvm_of_its_own
from tests.sources.postgres import PASSWORD, running_postgres

from .processes import HOST, Cluster, ObjectStore, cluster, object_store

WORLDS = 12
Rows = dict[str, list[str]]

MODEST = {
    **SMALL,
    "spark.sql.shuffle.partitions": "3",
    "spark.driver.memory": "1g",
    "spark.executor.memory": "1g",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.driver.host": HOST,
    "spark.driver.bindAddress": HOST,
    "spark.network.timeout": "60s",
}
"""Settings for little memory, and for shuffles in which every worker takes part."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of the cluster unless `make test-cluster` runs them, which installs the store."""
    if "CLUSTER" not in os.environ:
        for one in items:
            if Path(__file__).parent in one.path.parents:
                one.add_marker(pytest.mark.skip(reason="make test-cluster runs them: minutes"))


class Files(NamedTuple):
    """Files of events by name, and the rows of the tables that one local build makes of them."""

    content: dict[str, bytes]
    rows: Rows


class Lake(NamedTuple):
    """A session on a cluster, with the store that both use."""

    spark: Any
    cluster: Cluster
    store: ObjectStore


def rows(archive: Any, root: str) -> Rows:
    """The rows of all tables as text, with paths below the root of their source."""
    return {name: sorted(str(row).replace(root, "") for row in archive[name].collect()) for name in TABLES}


def content() -> dict[str, bytes]:
    """Events of some worlds in six files, and lines that are none."""
    events = [*(one for world in worlds(WORLDS) for one in world), *EVENTS]
    parts = [[f"{json.dumps(one)}\n" for one in events[at::6]] for at in range(6)]
    return {f"{at}.ndjson": f"{''.join(part)}no event {at}\n".encode() for at, part in enumerate(parts)}


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    from pyspark.sql import SparkSession

    folder, found = tmp_path_factory.mktemp("events"), content()
    for name, lines in found.items():
        (folder / name).write_bytes(lines)
    os.environ.update(options())
    with jvm_of_its_own():
        builder = SparkSession.builder.master("local[2]")
        for key, value in MODEST.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        try:
            with build(spark, str(folder)) as archive:
                return Files(found, rows(archive, f"file:{folder}"))
        finally:
            spark.stop()


@pytest.fixture(scope="session")
def lake(files: Files, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A master and two workers, tables on S3 and a catalog of Iceberg in PostgreSQL, and an empty folder to work in."""
    from pyspark.sql import SparkSession

    folder, before = tmp_path_factory.mktemp("lake"), Path.cwd()
    with (
        object_store(folder / "s3") as store,
        running_postgres(folder / "postgres", "") as postgres,
        cluster(folder) as machines,
        jvm_of_its_own(),
    ):
        catalog = {
            "type": "jdbc",
            "uri": postgres.url,
            "jdbc.user": "postgres",
            "jdbc.password": PASSWORD,
            "jdbc.schema-version": "V1",
            "warehouse": "s3a://lake/iceberg",
        }
        settings = {
            **LAKE,
            **MODEST,
            **store.settings,
            **{f"spark.sql.catalog.ice.{key}": value for key, value in catalog.items()},
            "spark.jars.packages": packages(LAKE["spark.jars.packages"], S3A["spark.jars.packages"], POSTGRESQL),
            "spark.checkpoint.dir": "s3a://lake/levels",
            "spark.local.dir": str(folder / "driver"),
        }
        os.chdir(machines.folder)
        builder = SparkSession.builder.master(machines.master).appName("archive")
        for key, value in settings.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        try:
            spark.sparkContext.setLogLevel("OFF")
            yield Lake(spark, machines, store)
        finally:
            os.chdir(before)
            spark.stop()
