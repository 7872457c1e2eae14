"""``make bench-archive``: archives of events made into tables, by headwater on Spark and beside it by DuckDB."""

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import drawing
from bench.archive.builds import DUCKDB, HEADWATER, Built, built, differences
from bench.archive.events import write
from bench.archive.scaling import report_scalings, scalings
from bench.archive.shapes import EDGES, Shape
from bench.archive.updates import FORMATS, report_updates, updates
from bench.figures import table

SIZES = (20_000, 100_000, 1_000_000)
CORES = (1, 2)
PLOT = Path("docs/img/archive.svg")
_DAY = 86_400
_LARGE = 10_000_000_000  # edges


@dataclass(slots=True)
class Results:
    """All that was measured, written to a file after each build; with ``go_on`` beside what the file has."""

    path: Path
    go_on: bool = False
    builds: list[Built] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.go_on and self.path.exists():
            self.builds = [Built.of(row) for row in json.loads(self.path.read_text())["builds"]]

    def note(self, one: Built) -> None:
        """Add a build."""
        self.builds.append(one)
        times = f"{one.by} {one.events:,} events, {one.cores} cores: {one.wall:.0f} s, {one.cpu:.0f} s of CPU"
        print(f"{times}, {one.memory:,.0f} MB", file=sys.stderr, flush=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        builds = [one.row() for one in self.builds]
        self.path.write_text(json.dumps({"load": os.getloadavg(), "builds": builds}, indent=1) + "\n")


def measure(options: argparse.Namespace, folder: Path, results: Results) -> None:
    """Each size by each of the two, on so many cores; what both have made must be equal.

    Raises:
        SystemExit: it is not.
    """
    for size in options.sizes:
        shape, here = Shape(size, options.runs, options.skew), folder / f"events{size}"
        print(f"{write(shape, here / 'events'):,} lines", file=sys.stderr)
        for cores in options.cores:
            into = {by: here / f"{by} {cores}" for by in (HEADWATER, DUCKDB)}
            for by, place in into.items():
                if by not in options.without:
                    results.note(built(by, shape, here / "events", place, range(cores)))
            if all(place.exists() for place in into.values()):
                _compare(differences(into[HEADWATER], into[DUCKDB]))


def _compare(found: dict[str, tuple[int, int, int]]) -> None:
    result = "; ".join(
        f"{name}: {rows:,} rows, only headwater's {one:,}, only DuckDB's {other:,}"
        for name, (rows, one, other) in found.items()
    )
    print(result, file=sys.stderr)
    if any(one or other or not rows for rows, one, other in found.values()):
        raise SystemExit(f"The two did not make the same edges: {result}.")


def report(builds: Sequence[Built]) -> Iterator[str]:
    """Tables of all builds, of the steps of each, and what follows for very many edges."""
    head = ["build", "cores", "s", "s of CPU", "CPU ms an event", "JVM MB", "Python MB", "at once MB"]
    yield table(head, [_row(one) for one in builds])
    for by in dict.fromkeys(one.by for one in builds):
        some = [one for one in builds if one.by == by]
        head = [f"{by}: s (s of CPU), MB", *(f"{one.events:,}, {one.cores} cores" for one in some)]
        names = list(dict.fromkeys(step.name for one in some for step in one.steps))
        yield "\n" + table(head, [[name, *(_step(one, name) for one in some)] for name in names])
    ours = [one for one in builds if one.by == HEADWATER]
    if len({one.events for one in ours}) > 1:
        yield "\n" + estimate(ours)


def _row(one: Built) -> list[str]:
    skew = f", {one.skew:.0%} of edges with one dataset" if one.skew else ""
    memory = [f"{value:,.0f}" for value in (one.java, one.python, one.memory)]
    each = f"{one.cpu / one.events * 1000:.2f}"
    named = f"{one.by}, {one.events:,} events, {one.edges:,} edges{skew}"
    return [named, str(one.cores), f"{one.wall:,.0f}", f"{one.cpu:,.0f}", each, *memory]


def _step(one: Built, name: str) -> str:
    same = (step for step in one.steps if step.name == name)
    return ", ".join(f"{step.wall:,.1f} ({step.cpu:,.1f}), {step.memory:,.0f}" for step in same)


def estimate(builds: Iterable[Built]) -> str:
    """The CPU for ten billion edges in events, by the CPU for each more event between the sizes measured."""
    small, *_, large = sorted(builds, key=lambda one: (one.events, -one.cores))
    each = (large.cpu - small.cpu) / (large.events - small.events)
    events = _LARGE // EDGES
    hours = events * each / 3600
    return (
        f"{_LARGE:,} edges in {events:,} events, by {each * 1000:.2f} ms of CPU for each event more: {hours:,.0f} "
        f"hours of a core, {math.ceil(events * each / _DAY):,} cores for a day."
    )


def draw(builds: Sequence[Built], path: Path) -> None:
    """Seconds by the clock and of CPU over edges in events, a line for each number of cores and each of the two."""
    plots: dict[str, Any] = {"seconds": _series(builds, "wall"), "seconds of CPU": _series(builds, "cpu")}
    drawing.over_edges(plots, path, where="edges in the events")


def _series(builds: Sequence[Built], value: str) -> dict[str, tuple[list[int], list[float]]]:
    series: dict[str, tuple[list[int], list[float]]] = {}
    for one in builds:
        edges, values = series.setdefault(f"{one.by}, {one.cores} cores", ([], []))
        edges.append(one.edges)
        values.append(getattr(one, value))
    return series


def main() -> None:
    """Measure, compare, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", "--events", type=int, nargs="*", default=SIZES, help="events of the archives")
    parser.add_argument("--cores", type=int, nargs="*", default=CORES, help="cores of Spark and of DuckDB")
    parser.add_argument("--runs", type=int, default=50, help="runs of each job")
    parser.add_argument("--skew", type=float, default=0.0, help="share of the edges that one dataset is in")
    parser.add_argument("--without", nargs="*", choices=(HEADWATER, DUCKDB), default=(), help="who does not build")
    parser.add_argument("--folder", type=Path, help="where archives and tables are; they stay there")
    parser.add_argument("--results", type=Path, default=Path("build/bench-archive.json"))
    parser.add_argument("--go-on", action="store_true", help="beside the builds that the results have")
    parser.add_argument("--updates", type=int, nargs=2, metavar=("EVENTS", "NEW"), help="measure updates, not builds")
    parser.add_argument("--formats", nargs="*", choices=FORMATS, default=FORMATS, help="formats of the updates")
    parser.add_argument("--scaling", type=int, metavar="TIMES", help="measure what a second core brings, so many times")
    parser.add_argument("--plot", type=Path, default=PLOT)
    options = parser.parse_args()
    results = Results(options.results, options.go_on)
    with tempfile.TemporaryDirectory() as folder:
        if options.updates:
            place = options.folder or Path(folder)
            events, new = options.updates
            print(report_updates(updates(events, new, place, max(options.cores), options.formats)))
            return
        if options.scaling:
            shape = Shape(options.sizes[0], options.runs, options.skew)
            print(report_scalings([*scalings(shape, options.folder or Path(folder), options.scaling)]))
            return
        measure(options, options.folder or Path(folder), results)
    print(*report(results.builds), sep="\n")
    draw(results.builds, options.plot)


if __name__ == "__main__":
    main()
