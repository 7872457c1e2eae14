"""Tags that flow over large stores: seconds of CPU from every column of the first layer to nearly all others, and how
long it takes to bring many tags up to date after an event.

``python -m bench.server.tags --edges 10000000 --folder DIR`` prints a line for each place of edges.
"""

import argparse
import os
import random
import statistics
import time
import uuid
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from bench.server.layered import SINCE, WIDTH, Shape, fill, start
from bench.server.places import places
from headwater.model.time import iso
from headwater.policies.flows import Flows
from headwater.policies.tag_file import Breaker, TagFile, TagName
from headwater.store import Store, open_store
from headwater.store.ingest.tags import Tagging, put_tags
from headwater.store.questions.lists.changes import latest_event
from headwater.store.questions.walk.tag_walk import Arriving
from headwater.yaml_map import Place

T = TypeVar("T")
TAG = TagName("pii")
_MORE_TAGS = 20
_EVENTS = 42
_NEAR = "near replacements"
_BREAKERS = TagFile(
    breakers=tuple(
        Breaker(kind, pattern, ("*",), "", "", date.max, Place("tags.yml", 1, 1))
        for kind, pattern in (("job", "late_7"), ("job", "late_1*"), ("function", "coarsen_age"))
    )
)


def main() -> None:
    """Fill stores unless they are there, tag the first layer, and print the seconds that flows take."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--edges", type=int, default=1_000_000)
    options.add_argument("--folder", type=Path, required=True)
    options.add_argument("--postgres", action="store_true", help="a new database of a PostgreSQL server, too")
    chosen = options.parse_args()
    shape = Shape(chosen.edges)
    _measure(str(chosen.folder / f"tags-{chosen.edges}.db"), shape)
    if chosen.postgres:
        with places(chosen.folder) as at:
            _measure(at.postgres(f"tags_{uuid.uuid4().hex}"), shape)


def _measure(url: str, shape: Shape) -> None:
    print(f"{urlsplit(url).scheme or 'sqlite'}, load {os.getloadavg()[0]:.1f}")
    with open_store(url) as store:
        if not latest_event(store):
            print(f"{fill(store, shape):,} edges written", flush=True)
            _tag_first_layer(store, shape)
            store.ingest([_event(shape, random.Random(0), 0, 0)])
        index, seconds = _timed(store.keep_edges)
        _, waited = _timed(index.wait)
        print(f"edges read into memory: {seconds + waited:.1f} s", flush=True)
        _print(store, "in memory")
        _follow_events(store, shape)
    with open_store(url) as store:
        _print(store, "in the database")


def _tag_first_layer(store: Store, shape: Shape) -> None:
    with store.write() as connection:
        datasets = [(dataset + 1, shape.field(0, dataset * 25)) for dataset in range(shape.datasets)]
        put_tags(connection, [((dataset, 0), SINCE, Tagging(0, TAG.tag)) for dataset, _ in datasets])


def _print(store: Store, place: str) -> None:
    for _ in range(3):
        with store.read() as connection:
            flows, begin = Flows(connection, guess=False), time.perf_counter()
            starts, prepared = _timed(lambda: flows.starts[TAG])  # noqa: B023 - called at once
            flow, seconds = _timed(lambda: flows.of(TAG))  # noqa: B023
        reached = len(flow.reached(Arriving.VALUE))
        whole = time.perf_counter() - begin
        print(
            f"{place}: {len(starts.columns):,} tagged, {reached:,} reached in {seconds:.2f} s of CPU "
            f"(names {prepared:.2f} s), {whole:.2f} s by the clock",
            flush=True,
        )


def _follow_events(store: Store, shape: Shape) -> None:
    """Take in events one by one, half of them changing what the one before said, and bring all tags up to date."""
    draw, begun = random.Random(2), latest_event(store) + 1
    for number in range(1, _MORE_TAGS):
        with store.write() as connection:
            put_tags(connection, [((1 + draw.randrange(shape.datasets), 0), SINCE, Tagging(0, f"tag{number}"))])
    for guess, file, kind in (
        (False, TagFile(), ""),
        (True, TagFile(), ""),
        (True, _BREAKERS, ""),
        (True, _BREAKERS, "ALL_ROWS"),
        (False, TagFile(), _NEAR),
        (True, _BREAKERS, _NEAR),
    ):
        _reach(store, guess, file)
        clock, used = [], []
        for number in range(begun, begun + _EVENTS):
            near = kind == _NEAR
            event = _near_replacements(shape, draw, number) if near else _event(shape, draw, number // 2, number, kind)
            store.ingest([event])
            before = time.process_time()
            clock.append(_reach(store, guess, file))
            used.append(time.process_time() - before)
        begun += _EVENTS
        times = " ".join(f"{name} {_milliseconds(some)}" for name, some in (("clock", clock), ("CPU", used)))
        after = f"all of {_MORE_TAGS} tags after an event {kind}, guess={guess}, {len(file.breakers)} breakers"
        print(f"{after}, median / p95 / most ms: {times}", flush=True)


def _milliseconds(seconds: list[float]) -> str:
    shown = (statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1], max(seconds))
    return " / ".join(f"{1000 * one:.0f}" for one in shown)


def _reach(store: Store, guess: bool, file: TagFile) -> float:
    begin = time.perf_counter()
    with store.read() as connection:
        flows = Flows(connection, file, guess=guess)
        for tag in flows.tags:
            flows.of(tag)
    return time.perf_counter() - begin


def _event(shape: Shape, draw: random.Random, job: int, number: int, write: str = "") -> dict[str, Any]:
    """A run that makes each column of a dataset of two columns of the layer before, and may replace all rows."""
    place = (job * 7919) % shape.datasets
    return _made(shape, draw, _Run(f"late_{job}", 1 + job % (shape.layers - 1), place, 10, write), number)


def _near_replacements(shape: Shape, draw: random.Random, number: int) -> dict[str, Any]:
    """A run that reads a dataset, or one of two others that then replace that by something else."""
    stage, step = divmod(number, 3)
    layer, place = 2 + stage % (shape.layers - 3), (stage * 6007) % shape.datasets
    if step == 0:
        return _made(shape, draw, _Run(f"reads_{stage}", layer + 1, place, 1, "ALL_ROWS"), number)
    return _made(shape, draw, _Run(f"replaces_{step}_{stage}", layer, place, 10, "ALL_ROWS"), number)


class _Run(NamedTuple):
    """A job with the layer and place of its output, how many datasets it may read, and which rows it replaces."""

    job: str
    layer: int
    place: int
    wide: int
    write: str


def _made(shape: Shape, draw: random.Random, run: _Run, number: int) -> dict[str, Any]:
    output = start(shape, run.layer, run.place * WIDTH)

    def inputs() -> list[dict[str, Any]]:
        near = [start(shape, run.layer - 1, run.place * WIDTH + draw.randrange(run.wide * WIDTH)) for _ in range(2)]
        how = {"type": "DIRECT", "subtype": "TRANSFORMATION", "description": "", "masking": False}
        return [
            {"namespace": one.namespace, "name": one.dataset, "field": one.field, "transformations": [how]}
            for one in near
        ]

    fields = {f"c{at}": {"inputFields": inputs()} for at in range(WIDTH)}
    read = {
        one["name"]: {"namespace": one["namespace"], "name": one["name"]}
        for f in fields.values()
        for one in f["inputFields"]
    }
    return {
        "eventType": "COMPLETE",
        "eventTime": iso(SINCE + number * 1_000_000),
        "run": {"runId": str(uuid.uuid5(uuid.NAMESPACE_OID, f"{number}"))},
        "job": {"namespace": "prod", "name": run.job},
        "inputs": list(read.values()),
        "outputs": [
            {
                "namespace": output.namespace,
                "name": output.dataset,
                "facets": {"columnLineage": {"fields": fields}},
                "outputFacets": {"headwater_write": {"replaces": run.write}} if run.write else {},
            }
        ],
    }


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    begin = time.process_time()
    found = call()
    return found, time.process_time() - begin


if __name__ == "__main__":
    main()
