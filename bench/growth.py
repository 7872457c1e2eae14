"""``make bench-growth``: time and memory of extraction over the size of the plan, with a plot and straight lines."""

import argparse
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import headwater
from bench import drawing
from bench.figures import line, table
from bench.probe import Probe
from bench.session import session
from bench.synthetic import projections
from headwater.extract import column_lineage
from headwater.plan import decode

SHAPES = tuple((columns, steps) for columns in (100, 300, 1_000, 2_500, 5_000) for steps in (1, 5, 20, 60))
DEPTHS = (100, 500, 1_000, 2_500, 5_000)
REPEATED = 3
PLOT = Path("docs/img/growth.svg")
GOAL_SECONDS = 5.0
LEAST_R_SQUARED = 0.95


@dataclass(frozen=True, slots=True)
class Point:
    """The cost of one plan: seconds of CPU to decode it and to extract from it, and megabytes at the peak."""

    title: str
    nodes: int
    decode: float
    extract: float
    memory: float

    @property
    def seconds(self) -> float:
        """Both steps."""
        return self.decode + self.extract


def point(title: str, text: str) -> Point:
    """One plan, in a process of its own, so that the peak of its memory is known."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        nodes, decoding, extracting, memory = pool.apply(_taken, (text,))
    return Point(title, nodes, decoding, extracting, memory)


def _taken(text: str) -> tuple[int, float, float, float]:
    """Nodes, the shortest times of a few repetitions, and how much memory the process grew by."""
    first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    nodes, *times = zip(*(_times(text) for _ in range(REPEATED)), strict=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return nodes[0], min(times[0]), min(times[1]), (peak - first) / 1024


def _times(text: str) -> tuple[int, float, float]:
    begun = time.process_time()
    plan = decode(text)
    decoded = time.process_time()
    lineage, gaps = column_lineage(plan)
    done = time.process_time()
    assert all(lineage.fields.values())
    assert not gaps
    return len(plan.nodes), decoded - begun, done - decoded


def recorded(largest: int) -> Iterator[Point]:
    """Wide plans of every shape and deep ones, no larger than ``largest`` columns times steps."""
    wide = [(f"{columns:,} columns x {steps}", columns, steps) for columns, steps in SHAPES]
    deep = [(f"{depth:,} operators deep", 3, depth) for depth in DEPTHS]
    for title, columns, steps in (*wide, *deep):
        if columns * steps <= largest:
            yield point(title, projections(columns, steps))


def live(folder: Path, share: float) -> Iterator[list[str]]:
    """The two large frames on a real Spark: seconds of ours, wall and CPU of both sides; Spark's own analysis apart."""
    spark = session(folder, memory="6g")
    probe = Probe(spark)
    wide, steps = round(5_000 * share), 20
    frames: dict[str, Callable[[], Any]] = {
        "300 columns x 60 withColumn": lambda: with_columns(spark, folder, 300, 60),
        f"{wide:,} columns x {steps} select": lambda: selects(spark, folder, wide, steps),
    }
    try:
        for title, build in frames.items():
            begun = time.perf_counter()
            frame = build()
            built = time.perf_counter() - begun
            row = _live_row(title, built, [_timed(frame, probe) for _ in range(3)])
            print(*row, file=sys.stderr, flush=True)
            yield row
    finally:
        spark.stop()


def _live_row(title: str, built: float, taken: list[tuple[float, float, float]]) -> list[str]:
    first, best = taken[0], min(taken)
    return [title, f"{built:.1f}", f"{first[0]:.2f}", f"{best[0]:.2f}", f"{best[1]:.2f}", f"{best[2]:.2f}"]


def _timed(frame: Any, probe: Probe) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds in the JVM and in Python."""
    java, python, begun = probe.own_cpu(), time.thread_time(), time.perf_counter()
    found = headwater.lineage(frame)
    taken = (time.perf_counter() - begun, probe.own_cpu() - java, time.thread_time() - python)
    assert all(found.edges(column) for column in found.columns)
    return taken


def _source(spark: Any, folder: Path, columns: int) -> Any:
    """A table of that many columns without a row: only its schema matters."""
    path = folder / f"source{columns}"
    path.mkdir(exist_ok=True)
    return spark.read.schema(", ".join(f"c{place} bigint" for place in range(columns))).parquet(str(path))


def with_columns(spark: Any, folder: Path, columns: int, steps: int) -> Any:
    """``steps`` times withColumn over a table of ``columns`` columns."""
    from pyspark.sql import functions as sf

    def step(frame: Any, number: int) -> Any:
        return frame.withColumn(f"c{number}", sf.col(f"c{number}") + sf.col(f"c{number + 1}"))

    return reduce(step, range(steps), _source(spark, folder, columns))


def selects(spark: Any, folder: Path, columns: int, steps: int) -> Any:
    """``steps`` projections which compute every column anew."""

    def step(frame: Any, number: int) -> Any:
        return frame.selectExpr(*(f"c{place} + {number} AS c{place}" for place in range(columns)))

    return reduce(step, range(1, steps + 1), _source(spark, folder, columns))


def main() -> int:
    """Measure, print, draw, and fail when growth is not linear."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=300_000, help="leave out plans of more columns times steps")
    parser.add_argument("--plot", type=Path, default=PLOT)
    parser.add_argument("--live-share", type=float, default=1.0, help="part of the 5,000 columns on Spark; 0 for none")
    options = parser.parse_args()
    points = list(recorded(options.largest))
    rows = [
        [one.title, f"{one.nodes:,}", f"{one.decode:.3f}", f"{one.extract:.3f}", f"{one.memory:.0f}"] for one in points
    ]
    print(table(["recorded plan", "nodes", "decode s", "extract s", "peak MB"], rows), flush=True)
    nodes = [one.nodes for one in points]
    time_line, memory_line = (
        line(nodes, values) for values in ([one.seconds for one in points], [one.memory for one in points])
    )
    print(f"\nTime: {1e6 * time_line.slope:.2f} µs a node, R² = {time_line.r_squared:.4f}", flush=True)
    print(f"Memory: {2**20 * memory_line.slope:.0f} bytes a node, R² = {memory_line.r_squared:.4f}\n", flush=True)
    series = {
        "seconds of CPU": ([one.seconds for one in points], time_line),
        "MB at the peak": ([one.memory for one in points], memory_line),
    }
    drawing.growth(nodes, series, options.plot)
    if options.live_share:
        with tempfile.TemporaryDirectory() as folder:
            head = [
                "headwater.lineage(df) on Spark",
                "analysis by Spark s",
                "first s",
                "best of 3 s",
                "JVM CPU s",
                "Python CPU s",
            ]
            print(table(head, list(live(Path(folder), options.live_share))))
    return 0 if min(time_line.r_squared, memory_line.r_squared) >= LEAST_R_SQUARED else 1


if __name__ == "__main__":
    sys.exit(main())
