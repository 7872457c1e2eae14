"""``make soak``: small queries by the thousand in one application; memory, time and events must hold."""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import headwater
from bench import drawing
from bench.figures import line, table
from bench.probe import Memory, Probe
from bench.session import session

PLOT = Path("docs/img/soak.svg")
# The first part of a run is warm-up: Spark fills what it retains, the JVM compiles.
WARM_UP = 0.25
# What a run may grow from the end of the warm-up to its end, along the straight line through what was measured.
MOST_HEAP = 8.0
MOST_PYTHON = 8.0
MOST_BINDINGS = 5
MOST_TIME = 1.15


@dataclass(frozen=True, slots=True)
class Sample:
    """Measurements after so many queries; ``milliseconds`` is the median query since the sample before."""

    queries: int
    milliseconds: float
    memory: Memory
    bindings: int


def samples(spark: Any, folder: Path, queries: int, every: int) -> Iterator[Sample]:
    """Run the queries, and look every so often."""
    probe, taken = Probe(spark), []
    for number in range(1, queries + 1):
        begun = time.perf_counter()
        query(spark, folder, number)
        taken.append(1000 * (time.perf_counter() - begun))
        if number % every == 0:
            probe.when_idle()
            yield Sample(number, median(taken), probe.memory(), probe.bindings())
            taken = []


def query(spark: Any, folder: Path, number: int) -> None:
    """One of four small statements that write, never twice the same text."""
    kind = number % 4
    source = f"SELECT id, b + {number} AS x, sum(c) AS y FROM small GROUP BY id, b"
    if kind == 0:
        spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW seen AS {source}")
        spark.sql(f"INSERT OVERWRITE DIRECTORY '{folder}/out0' USING parquet SELECT * FROM seen")
    elif kind == 1:
        spark.sql(f"INSERT OVERWRITE DIRECTORY '{folder}/out1' USING parquet {source}")
    elif kind == 2:
        spark.sql(source).write.mode("overwrite").parquet(f"{folder}/out2")
    else:
        frame = spark.table("small").where(f"id < {number}").withColumnRenamed("b", "x")
        frame.write.mode("overwrite").parquet(f"{folder}/out3")


def lost(events: Path, queries: int) -> list[str]:
    """The events that are missing: every query writes once, and has one START and one COMPLETE."""
    states: dict[str, list[str]] = {}
    for text in events.read_text(encoding="utf-8").splitlines():
        event = json.loads(text)
        if event["outputs"] and not event["job"]["name"].endswith(".seen"):
            states.setdefault(event["run"]["runId"], []).append(event["eventType"])
    problems = [f"{len(states)} runs told of, {queries} expected"] if len(states) != queries else []
    return problems + [f"run {run} has {found}" for run, found in states.items() if found != ["START", "COMPLETE"]]


def growth(seen: Sequence[Sample]) -> dict[str, float]:
    """How much each figure grew after the warm-up; the time as a ratio of the last quarter to the first."""
    warm = seen[int(WARM_UP * len(seen)) :]
    quarter = max(1, len(warm) // 4)
    first, last = warm[:quarter], warm[-quarter:]
    return {
        "JVM heap after GC, MB": _grown(warm, [one.memory.heap for one in warm]),
        "Python, MB": _grown(warm, [one.memory.python for one in warm]),
        "py4j bindings": _grown(warm, [one.bindings for one in warm]),
        "time per query, ratio": median(one.milliseconds for one in last) / median(one.milliseconds for one in first),
    }


def _grown(seen: Sequence[Sample], values: Sequence[float]) -> float:
    fitted = line([one.queries for one in seen], values)
    return fitted.slope * (seen[-1].queries - seen[0].queries)


def problems(grown: dict[str, float]) -> list[str]:
    """Which figures grew by more than they may."""
    limits = dict(zip(grown, (MOST_HEAP, MOST_PYTHON, MOST_BINDINGS, MOST_TIME), strict=True))
    return [f"{what}: {grown[what]:.2f}, at most {most:g}" for what, most in limits.items() if grown[what] > most]


def run(folder: Path, queries: int, every: int, watched: bool) -> tuple[list[Sample], list[str]]:
    """The samples, and what is wrong with the events."""
    spark = session(folder, memory="512m")
    spark.range(100).selectExpr("id", "id * 2 AS b", "id % 7 AS c").write.parquet(f"{folder}/small")
    spark.read.parquet(f"{folder}/small").createOrReplaceTempView("small")
    events = folder / "events.ndjson"
    if watched:
        headwater.attach(spark, events=str(events), quiet=True)
    seen = []
    for one in samples(spark, folder, queries, every):
        seen.append(one)
        print(f"{one.queries} queries", file=sys.stderr, flush=True)
    spark.stop()
    return seen, lost(events, queries) if watched else []


def report(seen: Sequence[Sample], grown: dict[str, float]) -> str:
    """The samples as a table, and the growth after the warm-up."""
    head = ["queries", "ms per query", "JVM heap MB", "beside heap MB", "Python MB", "py4j bindings"]
    rows = [
        [
            f"{one.queries:,}",
            f"{one.milliseconds:.1f}",
            *(f"{value:.1f}" for value in _megabytes(one)),
            str(one.bindings),
        ]
        for one in seen
    ]
    lines = [f"{what}: {value:.2f}" for what, value in grown.items()]
    return table(head, rows) + "\n\nGrowth after the warm-up:\n" + "\n".join(lines)


def _megabytes(one: Sample) -> tuple[float, float, float]:
    return one.memory.heap, one.memory.beside_heap, one.memory.python


def main() -> int:
    """Run, print, draw, judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=5_000)
    parser.add_argument("--every", type=int, default=250)
    parser.add_argument("--plot", type=Path, default=PLOT)
    parser.add_argument("--bare", action="store_true", help="without headwater, to see what Spark itself does")
    parser.add_argument(
        "--only-events", action="store_true", help="judge the events and the bindings, not a short run's growth"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seen, wrong = run(Path(folder), options.queries, options.every, watched=not options.bare)
    grown = growth(seen)
    memories = [one.memory for one in seen]
    print(report(seen, grown))
    done, taken = [one.queries for one in seen], [one.milliseconds for one in seen]
    memory = {"JVM heap after GC": [m.heap for m in memories], "Python": [m.python for m in memories]}
    drawing.soak(done, memory, taken, options.plot)
    found = problems(grown)
    wrong += [one for one in found if not options.only_events or one.startswith("py4j")]
    print("\nVerdict: " + ("; ".join(wrong[:10]) if wrong else "flat, and no event lost"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
