"""``make bench-server``: how fast a server reads and takes in, and how large its store is, as edges become more."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from bench import drawing
from bench.figures import table
from bench.server import ingest, reads, repeated
from bench.server.ingest import Size, Taken
from bench.server.layered import Shape, fill
from bench.server.places import Places, places
from bench.server.reads import Timing
from headwater.store import open_store

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
DEEP = Shape(100_000, layers=18, spread=11)
"""Closures of this have some 11,000 columns, more than twice as many as those of 12 layers."""

MOST_ROWS = 1_000_000
"""Rows per run beyond which the peer is not asked."""

PLOTS = Path("docs/img")
Series = dict[str, tuple[list[int], list[float]]]
STORES = SQLITE, POSTGRES = "SQLite", "PostgreSQL"


@dataclass(slots=True)
class Results:
    """All that one run measured, written to a file after each step."""

    path: Path
    timings: list[Timing] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    sizes: list[Size] = field(default_factory=list)

    def note(self, kind: str, found: Iterable[Any]) -> None:
        """Adds figures as they come."""
        for one in found:
            getattr(self, kind).append(one)
            print(" ".join(_shown(value) for value in asdict(one).values()), file=sys.stderr, flush=True)
            self._write()

    def _write(self) -> None:
        kinds = {name: [asdict(one) for one in getattr(self, name)] for name in ("timings", "taken", "sizes")}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps({"load": os.getloadavg(), **kinds}, indent=1) + "\n")


def measure(at: Places, options: argparse.Namespace, results: Results) -> None:
    """Every size, the deep graph, and the same lineage over many runs."""
    shapes = [*map(Shape, options.sizes), *([] if options.sizes_only or options.events_only else [DEEP])]
    for place in options.stores:
        make = at.sqlite if place == SQLITE else at.postgres
        if not options.sizes_only:
            results.note("taken", ingest.rates(make("empty"), place, 0, options.events, described=options.described))
        for number, shape in enumerate(shapes):
            url = make(f"size{number}")
            _reads(url, shape, place, options, results)
            if shape is not DEEP:
                results.note(
                    "taken", ingest.rates(url, place, shape.edges, options.events, described=options.described)
                )
        if not options.sizes_only:
            results.note("sizes", ingest.sizes(make("again"), place, jobs=100, runs=(1, 10)))
        if not options.sizes_only and not options.events_only:
            results.note("timings", repeated.of_runs(make("repeated"), place, (1, 10, 50), options.starts))


def _reads(url: str, shape: Shape, place: str, options: argparse.Namespace, results: Results) -> None:
    with open_store(url) as store:
        fill(store, shape)
        if options.events_only:
            return
        results.note("timings", reads.of_store(shape, place, store, options.starts))
        if options.index:
            indexed = reads.of_store(shape, f"{place} with --index", store, options.starts, index=True)
            results.note("timings", indexed)
        results.note("sizes", [ingest.size(store, place, 0)])
        if place == POSTGRES:
            for runs in (one for one in options.runs if one * shape.edges <= MOST_ROWS):
                results.note("timings", reads.of_per_run_rows(shape, store, runs, options.starts))


def report(results: Results) -> Iterator[str]:
    """Tables of all figures."""
    head = ["question", "edges", "layers", "asked", "p50 ms", "p95 ms", "CPU ms", "columns", "at most"]
    for place, timings in groupby(sorted(results.timings, key=attrgetter("place")), attrgetter("place")):
        yield f"\n{place}\n"
        yield table(head, [_timing_row(one) for one in timings])
    head = ["events", "processes", "edges before", "events", "events/s", "CPU ms an event"]
    yield "\n" + table(head, [_taken_row(one) for one in results.taken])
    head = ["store", "runs", "distinct edges", "bytes", "bytes an edge"]
    rows = [[one.place, str(one.runs), f"{one.count:,}", f"{one.bytes:,}", f"{one.each:.1f}"] for one in results.sizes]
    yield "\n" + table(head, rows)


def _timing_row(one: Timing) -> list[str]:
    times = [f"{value:,.1f}" for value in (one.p50, one.p95, one.cpu)]
    return [
        one.question,
        f"{one.edges:,}",
        str(one.layers),
        str(one.questions),
        *times,
        f"{one.columns:,}",
        f"{one.most:,}",
    ]


def _taken_row(one: Taken) -> list[str]:
    return [
        f"{one.place}, {one.kind}",
        str(one.processes),
        f"{one.edges:,}",
        f"{one.events:,}",
        f"{one.rate:,.0f}",
        f"{one.cpu:.2f}",
    ]


def draw(results: Results, folder: Path) -> None:
    """Times of questions, and events a second, over the number of edges; of what was measured."""
    filled = [one for one in results.taken if one.edges]
    rates = _series(filled, lambda one: f"{one.place}, {one.kind}{', two processes' * (one.processes > 1)}", "rate")
    sizes = _series([one for one in results.sizes if not one.runs], attrgetter("place"), "each", "count")
    _plot(_times(results.timings), folder / "server-reads.svg", logarithmic=True)
    _plot({"events a second": rates, "bytes a distinct edge": sizes}, folder / "server-ingest.svg", logarithmic=False)


def _times(timings: Sequence[Timing]) -> dict[str, Series]:
    """Of walks upstream; those of peers beside the ids."""
    layered = [one for one in timings if one.layers != DEEP.layers and repeated.AFTER not in one.place]
    ids = [one for one in layered if one.question == "upstream ids"]
    compact = [one for one in layered if one.question == "upstream compact, HTTP"]
    peers = [one for one in layered if one.question.startswith("upstream, ")]
    of_peers = _series(peers, lambda one: f"{one.place}:{one.question.removeprefix('upstream,')}", "p95")
    return {
        "ms at p95, ids": _series(ids, attrgetter("place"), "p95") | of_peers,
        "ms at p95, compact, HTTP": _series(compact, attrgetter("place"), "p95"),
    }


def _plot(plots: dict[str, Series], path: Path, *, logarithmic: bool) -> None:
    measured = {label: series for label, series in plots.items() if series}
    if measured:
        drawing.over_edges(measured, path, logarithmic=logarithmic)


def _series(found: Sequence[Any], name: Any, value: str, over: str = "edges") -> Series:
    series: Series = {}
    for one in found:
        edges, values = series.setdefault(name(one), ([], []))
        edges.append(getattr(one, over))
        values.append(getattr(one, value))
    return series


def _shown(value: Any) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def main() -> None:
    """Measure, print and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, help="edges of the graphs of 12 layers")
    parser.add_argument("--runs", type=int, nargs="*", default=(1, 10), help="runs of each job in the peer's rows")
    parser.add_argument("--starts", type=int, default=100, help="columns to ask about")
    parser.add_argument("--events", type=int, default=2_000, help="events of each kind at each size")
    parser.add_argument("--stores", nargs="*", choices=STORES, default=STORES)
    parser.add_argument("--sizes-only", action="store_true", help="without the deep graph, an empty store, many runs")
    parser.add_argument("--events-only", action="store_true", help="ask nothing")
    parser.add_argument("--described", action="store_true", help="events with the texts of expressions")
    parser.add_argument("--index", action="store_true", help="ask once more with the edges in memory")
    parser.add_argument("--results", type=Path, default=Path("build/bench-server.json"))
    parser.add_argument("--plots", type=Path, default=PLOTS)
    options = parser.parse_args()
    results = Results(options.results)
    with tempfile.TemporaryDirectory() as folder, places(Path(folder)) as at:
        measure(at, options, results)
    print(*report(results), sep="\n")
    draw(results, options.plots)


if __name__ == "__main__":
    main()
