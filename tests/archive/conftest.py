"""A Spark for many small tables, and events as files."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Connection, text

from headwater.archive import Archive, build
from headwater.cli.archive_session import DEFAULTS
from headwater.errors import UnknownName
from headwater.store import Store
from headwater.store.maintenance.exporting import export
from headwater.store.questions.lookup.find import ExactName, find_exact
from tests.connectors import DELTA, ICEBERG, LAKE
from tests.extract.case_tables import SETTINGS, jvm_of_its_own
from tests.store.conftest import new_store, run_event, written

SMALL = {
    **SETTINGS,
    **DEFAULTS,
    "spark.sql.adaptive.enabled": "false",
    # Hundreds of small queries: to compile the expressions of each costs more than to run them, and so do more parts
    # than one, and texts of plans. The archive that questions are asked is built with two parts.
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.maxPlanStringLength": "100",
    "spark.ui.liveUpdate.period": "-1",
    # Each sort and each group of rows has a page of memory of its own, of 32 MB if left to Spark, whatever its rows.
    "spark.buffer.pageSize": "1m",
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
        with without_call_sites(running):
            yield running
        running.stop()


@contextmanager
def without_call_sites(spark: Any) -> Iterator[None]:
    """Spark does not look through its stack for who calls it, at each of the many steps of a query."""
    for form in ("short", "long"):
        spark.sparkContext.setLocalProperty(f"callSite.{form}", "tests")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "pyspark.traceback_utils.SCCallSiteSync._spark_stack_depth", 1
        )  # else it takes the short one away
        yield


MOMENT = datetime(2026, 1, 1, 0, 4, tzinfo=UTC)
THEN = int(MOMENT.timestamp() * 1_000_000)
NOW = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp() * 1_000_000)
"""A moment after all events: as of it the store walks over lineage that is current, and not what was read before."""

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


FIELDS = "SELECT f.id, d.namespace, d.name, f.name FROM field f JOIN dataset d ON d.id = f.dataset_id"
Named = tuple[str, str, str]
Event = dict[str, Any]


class Both(NamedTuple):
    """A store and an archive of what it exported, where that is.

    They ingested ``archived``; ``later`` has the rest of some of its ``worlds``.
    ``fields`` are those of the store by id, of the worlds in which each name has one meaning: tests know them by name.
    """

    store: Store
    archive: Archive
    into: str
    fields: dict[int, Named]
    worlds: list[list[Event]]
    later: list[Event]

    @property
    def archived(self) -> list[Event]:
        """The events of all worlds, and those of this file."""
        return [*(one for world in self.worlds for one in world), *EVENTS]


def loop(*names: str) -> dict[str, Any]:
    """An event by which fields of ``names`` are made of one another in a circle."""
    before = dict(zip(names, [names[-1], *names], strict=False))
    return run_event("loop", *(written(name, {"x": [f"{before[name]}.x"]}) for name in names), run=f"loop {names[0]}")


def reads_whole(event: dict[str, Any], *datasets: str) -> dict[str, Any]:
    """An event whose explicit lineage names datasets as sources of its output, and a job, and no column."""
    sources = [{"namespace": "file", "name": f"/{name}", "type": "DATASET"} for name in datasets]
    event["outputs"][0]["facets"]["lineage"] = {"inputs": [*sources, {"type": "JOB", "namespace": "demo", "name": "x"}]}
    return event


EVENTS = [
    run_event("lw", written("lwhole", {"x": ["raw.w1"], "y": ["raw.w2"]}), run="lw"),
    reads_whole(run_event("kw", written("kwhole"), run="kw"), "lwhole"),
    run_event("mw", written("mwhole", {"z": ["kwhole.a"]}), run="mw"),
    run_event("lf", written("lfiles", {"_c0": ["raw.f1"], "_c1": ["raw.f2"], "_c2": []}), run="lf"),
    run_event("kf", written("kfiles", {"x": ["lfiles.value"], "y": ["lfiles.more"]}), run="kf"),
    run_event("lt", written("llines", {"value": ["raw.t1"], "day": []}), run="lt"),
    run_event(
        "kt", written("klines", {"x": ["llines.a", "llines.content"], "y": ["llines.value", "llines.day"]}), run="kt"
    ),
    *(loop(*names) for names in (["self"], ["l1", "l2", "l3"], ["m2", "m1", "m3"])),
    run_event("k", written("k", {"x": ["l2.x", "self.x"]}), run="k"),
    run_event("m", written("m1", {"x": ["raw.m"]}), run="m"),
    run_event("gold", written("gold/z", {"x": ["raw/b.x"], "y": ["raw/b.y"]}), minute=1, run="1"),
    run_event("gold", written("gold/z", {"x": ["raw/c.x"], "y": ["raw/b.y"]}), minute=9, run="2"),
    run_event(
        "map", written("mapped", {"p": [], "q": [], "*": ["raw/w.x TRANSFORMATION", "raw/w.y FILTER"]}), run="map"
    ),
    run_event("other", written("other/z", {"x": ["raw/b.x"]}), run="3"),
    *(
        run_event("c", written("counted", {"x": [f"{one}.x"]}), minute=at, run=f"c{at}")
        for at, one in enumerate("aaba")
    ),
]


@pytest.fixture(scope="package")
def both(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("both")
    worlds, later = halves(60)
    with new_store(folder) as store:
        store.ingest([*(one for world in worlds for one in world), *EVENTS])
        assert export(store, folder / "events", packing="zst", size=20_000).files > 1
        into = str(folder / "lineage")
        with shuffle_partitions(spark, 2), pytest.MonkeyPatch.context() as patch:
            for most in ("FEW_EVENTS", "MANY_EVENTS"):  # as many events are built; other tests have few
                patch.setattr(f"headwater.archive.cache.{most}", 0)
            archive = build(spark, str(folder / "events"), into, format="parquet", roots=True)
        yield Both(store, archive, into, clear_fields(store), worlds, later)


@contextmanager
def shuffle_partitions(spark: Any, many: int) -> Iterator[None]:
    """Has shuffles make so many parts."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", str(many))
    yield
    spark.conf.set("spark.sql.shuffle.partitions", before)


def clear_fields(store: Store) -> dict[int, Named]:
    """The fields by id, without the worlds in which a name is not, now and then, that of the one field."""
    with store.read() as connection:
        fields = {row[0]: (row[1], row[2], row[3]) for row in connection.execute(text(FIELDS))}
        unclear = {world(name[0]) for key, name in fields.items() if not _is_clear(connection, key, name)}
    return {key: name for key, name in fields.items() if world(name[0]) not in unclear}


def _is_clear(connection: Connection, key: int, name: Named) -> bool:
    try:
        meant = [find_exact(connection, ExactName(*name), at) for at in (None, THEN)]
    except UnknownName:
        return False
    return all(one.id == key for one in meant)


def world(namespace: str) -> str:
    return namespace.lstrip(ascii_lowercase)


def halves(many: int) -> tuple[list[list[Event]], list[Event]]:
    """Of each of many worlds the events, and of every fourth only some, whatever their times are; and those left."""
    from .test_archive_laws import STAGES, worlds  # which imports this file

    chance = random.Random(4)
    found = worlds(many)
    halved = range(0, len(found) - len(STAGES), 4)
    cuts = [chance.randint(0, len(world)) if at in halved else len(world) for at, world in enumerate(found)]
    first = [world[:cut] for world, cut in zip(found, cuts, strict=True)]
    return first, [one for world, cut in zip(found, cuts, strict=True) for one in world[cut:]]
