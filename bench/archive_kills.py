"""``make bench-kills``: updates of an archive are killed at random points; the tables must end as one build makes them.

A first update is left alone. Each round then puts more events beside those that are there, begins an update in a
process of its own and kills that process (SIGKILL) a little after it has printed so many lines. The last update
is left alone again. Then all tables are compared with those of one build of everything. ``--on s3a`` has events and
tables in an object store on this machine (moto) in place of its disk.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.archive.conftest import SMALL
from tests.archive.test_archive_laws import worlds
from tests.class_archive import options
from tests.cluster.processes import ObjectStore, object_store
from tests.connectors import LAKE, packages

from headwater.archive import build, read
from headwater.archive.tables import TABLES

LINES = 9  # of progress, about so many in an update
LATER = 4.0  # seconds at most after a line


@dataclass(frozen=True, slots=True)
class Place:
    """Where an archive is: its events and how to put more of them there, its tables, and Spark's settings for these."""

    source: str
    put: Callable[[str, bytes], object]
    into: str
    format: str
    settings: Mapping[str, str]

    def update(self) -> list[str]:
        """The command that updates the tables."""
        into = ["--format", self.format, "--into", self.into]
        if self.format == "iceberg":
            into += ["--checkpoints", f"{Path(self.source).parent}/checkpoints"]
        conf = [part for key, value in self.settings.items() for part in ("--conf", f"{key}={value}")]
        return [sys.executable, "-m", "headwater", "archive", "update", self.source, *into, *conf]


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill updates; return 1 when the tables are not those of one build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--format", default="delta", choices=("delta", "iceberg", "parquet"))
    parser.add_argument("--on", default="disk", choices=("disk", "s3a"))
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    if (chosen.on, chosen.format) == ("s3a", "iceberg"):
        parser.error("the catalog of Iceberg tables is a folder here, which an object store cannot replace in one step")
    os.environ.update(options())
    with tempfile.TemporaryDirectory() as folder, _place(Path(folder), chosen.format, chosen.on) as place:
        kill(place, chosen.kills, random.Random(chosen.seed))
        differ = compare(place)
    result = f"differ in {', '.join(differ)}" if differ else "all tables equal"
    print(f"{chosen.kills} kills, {chosen.format} on {chosen.on}: {result}")
    return bool(differ)


@contextmanager
def _place(folder: Path, format: str, on: str) -> Iterator[Place]:
    lake = {key: value.format(folder=folder) for key, value in LAKE.items()}
    settings = {"spark.master": "local[2]", **SMALL, **lake}
    if on == "disk":
        (folder / "events").mkdir()
        into = "ice.lineage" if format == "iceberg" else f"{folder}/lineage"
        yield Place(f"{folder}/events", partial(_put, folder / "events"), into, format, settings)
        return
    with object_store(folder / "store") as store:
        both = packages(lake["spark.jars.packages"], store.settings["spark.jars.packages"])
        settings = {**settings, **store.settings, "spark.jars.packages": both}
        yield Place("s3a://lake/events", partial(_put_object, store), "s3a://lake/lineage", format, settings)


def _put_object(store: ObjectStore, name: str, content: bytes) -> None:
    store.put(f"events/{name}", content)


def kill(place: Place, kills: int, chance: random.Random) -> None:
    """Kill so many updates, each after more events have come, and let one come to its end."""
    events = [one for world in worlds(2 * kills + 4) for one in world]
    chance.shuffle(events)
    share = len(events) // (kills + 1) + 1
    for number in range(kills + 1):
        some = events[number * share : (number + 1) * share] + chance.choices(events[: number * share + 1], k=3)
        place.put(f"{number}.ndjson", "".join([*(f"{json.dumps(one)}\n" for one in some), "no event\n"]).encode())
        if number:
            print(f"killed {number} of {kills} after: {_killed(place, chance)}", flush=True)
        else:
            subprocess.run(place.update(), check=True, capture_output=True)
    subprocess.run(place.update(), check=True, capture_output=True)


def _put(folder: Path, name: str, content: bytes) -> None:
    begun = folder / f".{name}"
    begun.write_bytes(content)
    begun.rename(folder / name)


def _killed(place: Place, chance: random.Random) -> str:
    """The last line of progress of an update that is killed; or of one that had ended before."""
    left, last = chance.randrange(1, LINES + 1), ""
    process = subprocess.Popen(
        place.update(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(("Batch", "Outputs", *(f"{name}: " for name in TABLES))):
            last, left = line.strip(), left - 1
            if left == 0:
                time.sleep(chance.uniform(0, LATER))
                os.killpg(process.pid, signal.SIGKILL)
                break
    else:
        last += " (it had ended)"
    process.stderr.close()
    process.wait()
    return last


def compare(place: Place) -> list[str]:
    """The tables that are not those of one build."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in place.settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        updated = read(spark, place.into, format=place.format)
        with build(spark, place.source) as whole:
            return [name for name in TABLES if _rows(updated[name]) != _rows(whole[name])]
    finally:
        spark.stop()


def _rows(frame: Any) -> list[str]:
    return sorted(map(str, frame.collect()))


if __name__ == "__main__":
    sys.exit(main())
