"""Second half of ``make bench-growth``: ``mapInPandas`` over many columns, with headwater and without.

Its columns are written as they are, or each is added to a column of another table.

Each application runs in processes of its own: what the write and ``stop()`` take, the peaks of memory, the event.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import headwater
from bench.figures import table
from bench.session import session

COLUMNS = (300, 1_500)
SHAPES = ("written", "added")
AGENTS: dict[str, dict[str, str]] = {
    "none": {},
    "events": {"events": "events.ndjson"},
    "store": {"store": "lineage.db"},
}
FIGURES = ("write s", "stop() s", "Python MB", "JVM MB", "largest event kB")


def application(columns: int, shape: str, agent: str, folder: Path) -> dict[str, float]:
    """One application that writes what a function makes of so many columns."""
    spark = session(folder)
    names = [f"c{place}" for place in range(columns)]
    spark.range(10).selectExpr(*(f"id + {place} AS {name}" for place, name in enumerate(names))).write.parquet(
        f"{folder}/source"
    )
    if agent != "none":
        headwater.attach(spark, **{key: f"{folder}/{name}" for key, name in AGENTS[agent].items()}, quiet=True)
    source = spark.read.parquet(f"{folder}/source")
    begun = time.perf_counter()
    mapped = source.mapInPandas(lambda frames: frames, source.schema)
    if shape == "added":
        other = source.toDF(*(f"o{place}" for place in range(columns)))
        sums = (f"c{place} + o{place} AS c{place}" for place in range(columns))
        mapped = mapped.join(other, mapped.c0 == other.o0).selectExpr(*sums)
    mapped.write.parquet(f"{folder}/target")
    written = time.perf_counter()
    jvm = _peak_of_jvm(spark)
    spark.stop()
    stopped = time.perf_counter()
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return dict(zip(FIGURES, (written - begun, stopped - written, own, jvm, _largest(folder)), strict=True))


def _peak_of_jvm(spark: Any) -> float:
    pid = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


def _largest(folder: Path) -> float:
    """The size of the largest event in kB, 0 where no file has them."""
    path = folder / "events.ndjson"
    return max(map(len, path.read_bytes().splitlines())) / 1000 if path.exists() else 0.0


def measured(columns: int, shape: str, agent: str, rounds: int) -> list[str]:
    """The medians of some rounds."""
    found = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "bench.opaque", "--one", str(columns), shape, agent, folder]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
    middle = {name: median(one[name] for one in found) for name in FIGURES}
    shown = [f"{middle[name]:.{2 * name.endswith(' s')}f}" if middle[name] else "" for name in FIGURES]
    return [f"{columns:,} columns", shape, agent, *shown]


def main() -> None:
    """Measure every combination and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--one", nargs=4, metavar=("COLUMNS", "SHAPE", "AGENT", "FOLDER"), help="a single application, as JSON"
    )
    options = parser.parse_args()
    if options.one:
        columns, shape, agent, folder = options.one
        print(json.dumps(application(int(columns), shape, agent, Path(folder))), flush=True)
        return
    rows = [
        measured(columns, shape, agent, options.rounds) for columns in COLUMNS for shape in SHAPES for agent in AGENTS
    ]
    print(table(["mapInPandas", "columns are", "headwater", *FIGURES], rows))


if __name__ == "__main__":
    main()
