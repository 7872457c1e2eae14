"""A Spark for many small tables, and events as files."""

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headwater.archive import Archive, build
from tests.connectors import DELTA, ICEBERG, LAKE
from tests.extract.case_tables import SETTINGS, jvm_of_its_own

SMALL = {
    **SETTINGS,
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    # Hundreds of small queries: to compile the expressions of each costs more than to run them.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(scope="package")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Spark with Delta in its own catalog and Iceberg in ``ice``."""
    from pyspark.sql import SparkSession

    if not (DELTA and ICEBERG):
        pytest.skip("there is no Delta or no Iceberg for this Spark")
    folder = tmp_path_factory.mktemp("lake")
    with jvm_of_its_own():
        builder = SparkSession.builder.master("local[2]").appName("archive")
        for key, value in {**SMALL, **LAKE}.items():
            builder = builder.config(key, value.format(folder=folder))
        running = builder.getOrCreate()
        running.sparkContext.setLogLevel("OFF")
        yield running
        running.stop()


Build = Callable[[Iterable[Any]], Archive]


@pytest.fixture
def built(spark: Any, tmp_path: Path) -> Iterator[Build]:
    """Makes the tables of events, or of lines as they are."""
    archives: list[Archive] = []

    def make(events: Iterable[Any]) -> Archive:
        folder = tmp_path / f"events{len(archives)}"
        folder.mkdir()
        lines = (one if isinstance(one, str) else json.dumps(one) for one in events)
        (folder / "events.ndjson").write_text("".join(f"{line}\n" for line in lines))
        archives.append(build(spark, str(folder)))
        return archives[-1]

    yield make
    for archive in archives:
        archive.close()
