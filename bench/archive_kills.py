"""``make bench-kills``: updates of an archive are killed at random points; the tables must end as one build makes them.

A first update is left alone. Each round then puts more events beside those that are there, begins an update in a
process of its own and kills that process (SIGKILL) a little after it has printed so many lines. The last update
is left alone again. Then all tables are compared with those of one build of everything.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.archive.conftest import SMALL
from tests.archive.test_archive_laws import worlds
from tests.class_archive import options
from tests.connectors import LAKE

from headwater.archive import build, read
from headwater.archive.tables import TABLES

LINES = 9  # of progress, about so many in an update
LATER = 4.0  # seconds at most after a line


def main(arguments: Sequence[str] | None = None) -> int:
    """Kill updates; return 1 when the tables are not those of one build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--format", default="delta", choices=("delta", "iceberg", "parquet"))
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    os.environ.update(options())
    with tempfile.TemporaryDirectory() as folder:
        kill(Path(folder), chosen.format, chosen.kills, random.Random(chosen.seed))
        differ = compare(Path(folder), chosen.format)
    print(
        f"{chosen.kills} kills, {chosen.format}: {'differ in ' + ', '.join(differ) if differ else 'all tables equal'}"
    )
    return bool(differ)


def kill(folder: Path, format: str, kills: int, chance: random.Random) -> None:
    """Kill so many updates, each after more events have come, and lets one come to its end."""
    events = [one for world in worlds(2 * kills + 4) for one in world]
    chance.shuffle(events)
    source = folder / "events"
    source.mkdir()
    share = len(events) // (kills + 1) + 1
    for number in range(kills + 1):
        some = events[number * share : (number + 1) * share] + chance.choices(events[: number * share + 1], k=3)
        _put(source / f"{number}.ndjson", some)
        if number:
            print(f"killed {number} of {kills} after: {_killed(folder, format, chance)}", flush=True)
        else:
            subprocess.run(_command(folder, format), check=True, capture_output=True)
    subprocess.run(_command(folder, format), check=True, capture_output=True)


def _put(path: Path, events: list[dict[str, Any]]) -> None:
    begun = path.with_name(f".{path.name}")
    begun.write_text("".join(f"{json.dumps(one)}\n" for one in events) + "no event\n")
    begun.rename(path)


def _killed(folder: Path, format: str, chance: random.Random) -> str:
    """The last line of progress of an update that is killed; or of one that had ended before."""
    left, last = chance.randrange(1, LINES + 1), ""
    process = subprocess.Popen(
        _command(folder, format),
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


def _command(folder: Path, format: str) -> list[str]:
    into = ["--format", format, "--into", "ice.lineage" if format == "iceberg" else str(folder / "lineage")]
    if format == "iceberg":
        into += ["--checkpoints", str(folder / "checkpoints")]
    conf = [part for key, value in _settings(folder).items() for part in ("--conf", f"{key}={value}")]
    return [sys.executable, "-m", "headwater", "archive", "update", str(folder / "events"), *into, *conf]


def _settings(folder: Path) -> dict[str, str]:
    return {"spark.master": "local[2]", **SMALL, **{key: value.format(folder=folder) for key, value in LAKE.items()}}


def compare(folder: Path, format: str) -> list[str]:
    """The tables that are not those of one build."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in _settings(folder).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    try:
        updated = read(spark, "ice.lineage" if format == "iceberg" else str(folder / "lineage"), format=format)
        with build(spark, str(folder / "events")) as whole:
            return [name for name in TABLES if _rows(updated[name]) != _rows(whole[name])]
    finally:
        spark.stop()


def _rows(frame: Any) -> list[str]:
    return sorted(map(str, frame.collect()))


if __name__ == "__main__":
    sys.exit(main())
