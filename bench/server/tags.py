"""Seconds of CPU of tags that flow over large stores, from every column of the first layer to nearly all others.

``python -m bench.server.tags --edges 10000000 --folder DIR`` prints a line for each place of edges.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from bench.server.layered import SINCE, Shape, fill
from headwater.policies.flows import Flows
from headwater.policies.tag_file import TagName
from headwater.store import Store, open_store
from headwater.store.ingest.tags import Tagging, put_tags
from headwater.store.questions.walk.tag_walk import Arriving

T = TypeVar("T")
TAG = TagName("pii")


def main() -> None:
    """Fill a store unless it is there, tag the first layer, and print the seconds of CPU that the flow takes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--edges", type=int, default=1_000_000)
    options.add_argument("--folder", type=Path, required=True)
    chosen = options.parse_args()
    shape = Shape(chosen.edges)
    path = chosen.folder / f"tags-{chosen.edges}.db"
    new = not path.exists()
    with open_store(str(path)) as store:
        if new:
            print(f"{fill(store, shape):,} edges written", flush=True)
            _tag_first_layer(store, shape)
        index, seconds = _timed(store.keep_edges)
        _, waited = _timed(index.wait)
        print(f"edges read into memory: {seconds + waited:.1f} s", flush=True)
        _print(store, "in memory")
    with open_store(str(path)) as store:
        _print(store, "in the database")


def _tag_first_layer(store: Store, shape: Shape) -> None:
    with store.write() as connection:
        datasets = [(dataset + 1, shape.field(0, dataset * 25)) for dataset in range(shape.datasets)]
        put_tags(connection, [((dataset, 0), SINCE, Tagging(0, TAG.tag)) for dataset, _ in datasets])


def _print(store: Store, place: str) -> None:
    for _ in range(3):
        with store.read() as connection:
            flows = Flows(connection, guess=False)
            starts, prepared = _timed(lambda: flows.starts[TAG])  # noqa: B023 - called at once
            flow, seconds = _timed(lambda: flows.of(TAG))  # noqa: B023
        reached = len(flow.reached(Arriving.VALUE))
        print(
            f"{place}: {len(starts):,} tagged, {reached:,} reached in {seconds:.2f} s (names {prepared:.2f} s)",
            flush=True,
        )


def _timed(call: Callable[[], T]) -> tuple[T, float]:
    begin = time.process_time()
    found = call()
    return found, time.process_time() - begin


if __name__ == "__main__":
    main()
