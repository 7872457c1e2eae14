"""Archives on a standalone cluster and an object store: machines are lost, listings change, and no row differs."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

from headwater.archive import build, cycles, find_fields, impact, read, roots, update
from headwater.errors import ArchiveError
from tests.archive.test_tables import counted
from tests.store.conftest import run_event, written

from .conftest import Files, Lake, rows
from .processes import addresses_listened_on

pytestmark = pytest.mark.spark
LATER = 1.0  # seconds after a line of progress: in the middle of the next step


def put(lake: Lake, folder: str, files: dict[str, bytes]) -> None:
    for name, lines in files.items():
        lake.store.put(f"{folder}/{name}", lines)


def at_line(start: str, act: Callable[[], Any], done: list[str]) -> Callable[[str], None]:
    """Progress that acts a second after the first line that starts so."""

    def progress(line: str) -> None:
        if line.startswith(start) and not done:
            done.append(line)
            Timer(LATER, act).start()

    return progress


def different(archive: Any, source: str, files: Files) -> list[str]:
    """The tables whose rows are not those of a local build."""
    found = rows(archive, source)
    return [name for name in found if found[name] != files.rows[name]]


def wait_for_executors(lake: Lake, many: int) -> None:
    """Wait until so many executors have registered, each for a core."""
    end = time.monotonic() + 90
    while lake.spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1 < many:
        assert time.monotonic() < end, "executors are missing"
        time.sleep(0.2)


def test_an_update_outlives_the_loss_of_a_worker(lake: Lake, files: Files) -> None:
    """Delta tables: a worker with its executor, its shuffles and cached rows is killed while names are resolved."""
    source, into, names = "s3a://lake/delta-events", "s3a://lake/delta", sorted(files.content)
    wait_for_executors(lake, 2)
    put(lake, "delta-events", {name: files.content[name] for name in names[:3]})
    update(lake.spark, source, into, format="delta")
    put(lake, "delta-events", {name: files.content[name] for name in names[3:]})
    done: list[str] = []
    before = len(lake.cluster.executors())
    updated = update(
        lake.spark, source, into, format="delta", progress=at_line("Outputs", lake.cluster.kill_worker, done)
    )
    assert done
    assert len(lake.cluster.executors()) < before == 2
    assert different(updated, source, files) == []
    lake.cluster.add_worker()


def test_a_build_outlives_the_loss_of_an_executor_and_does_not_see_what_comes_later(lake: Lake, files: Files) -> None:
    """Iceberg tables in a JDBC catalog; an object that is put during the build is for the next one."""
    source, into = "s3a://lake/iceberg-events", "ice.lineage"
    wait_for_executors(lake, 2)
    put(lake, "iceberg-events", files.content)
    late = f"{json.dumps(run_event('late', written('late', {'x': ['raw.late']}), run='late'))}\n".encode()
    killed: list[str] = []

    def lose() -> None:
        lake.store.put("iceberg-events/late.ndjson", late)
        lake.cluster.executors()[0].kill()

    built = build(lake.spark, source, into, format="iceberg", progress=at_line("Names", lose, killed))
    assert killed
    assert different(built, source, files) == []
    again = update(lake.spark, source, into, format="iceberg", checkpoints="s3a://lake/checkpoints")
    assert again.column_edges.where("output_dataset = '/late'").count() == 1
    assert again.events.count() == len(files.rows["events"]) + 1


def test_questions_outlive_the_loss_of_an_executor(lake: Lake, files: Files) -> None:
    """Levels of a walk are checkpoints in the store, which outlive those who wrote them."""
    wait_for_executors(lake, 2)
    archive = read(lake.spark, "ice.lineage", format="iceberg")
    found = [sorted(map(str, one.collect())) for one in questions(archive)]
    walked = questions(archive)
    lake.cluster.executors()[0].kill()
    assert [sorted(map(str, one.collect())) for one in walked] == found
    assert all(found)


def questions(archive: Any) -> list[Any]:
    gold = find_fields(archive, "gold/z")
    return [roots(archive, gold), impact(archive, find_fields(archive, "raw/b.x")), cycles(archive)]


def test_of_two_builds_at_once_one_is_refused(lake: Lake, files: Files) -> None:
    """Parquet tables, whose state is one object: a whole build that ends during another one is the one that stays."""
    source, into = "s3a://lake/parquet-events", "s3a://lake/parquet"
    wait_for_executors(lake, 2)
    put(lake, "parquet-events", files.content)
    inner: list[Any] = []

    def build_inside(line: str) -> None:
        if line.startswith("quarantine"):
            inner.append(build(lake.spark.newSession(), source, into, format="parquet"))

    with pytest.raises(ArchiveError, match=r"has written the tables of s3a://lake/parquet/headwater\.json meanwhile"):
        build(lake.spark, source, into, format="parquet", progress=build_inside)
    assert different(inner[0], source, files) == []
    assert different(read(lake.spark, into), source, files) == []


def test_writers_of_an_object_do_not_lose_what_others_wrote(lake: Lake) -> None:
    counted(lake.spark, "s3a://lake/counted")


def test_nothing_is_on_disks_of_one_machine_or_listens_to_others(lake: Lake) -> None:
    """The driver's folder, which is its working folder, has only Spark's own temporary files."""
    assert [one.name for one in Path.cwd().iterdir() if not one.name.startswith(("blockmgr-", "spark-"))] == []
    assert {one.removeprefix("::ffff:") for one in addresses_listened_on()} == {"127.0.0.1"}
