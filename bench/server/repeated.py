"""Time of questions about lineage from one run, and about the same lineage from many runs."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from bench.server.ingest import PRODUCER
from bench.server.layered import SUBTYPES, WIDTH, Edge, Shape, edges, start
from bench.server.reads import DIRECTIONS, Ask, Timing, ids_of, starts, timing
from headwater.store import Store, open_store

GRAPH = Shape(10_000)
"""The graph of which the events have the lineage."""

AFTER = ", after "
"""Stands between the place and the number of runs."""

_BEGUN = datetime(2026, 3, 1, tzinfo=UTC)
_AT_ONCE = 100

Json = dict[str, Any]


def of_runs(url: str, place: str, runs: Sequence[int], count: int) -> Iterator[Timing]:
    """Closures as ids after so many runs of the same jobs, asked within the process."""
    done = 0
    with open_store(url) as store:
        for until in runs:
            for run in range(done, until):
                _ingest(store, list(events(GRAPH, run)))
            done = until
            store.analyze()
            for direction in DIRECTIONS:
                kind = (f"{place}{AFTER}{until} run{'s' * (until > 1)}", f"{direction.value}stream ids")
                yield timing(GRAPH, kind, Ask(partial(ids_of, store, direction)), starts(GRAPH, direction, count))


def _ingest(store: Store, found: list[Json]) -> None:
    for begin in range(0, len(found), _AT_ONCE):
        store.ingest(found[begin : begin + _AT_ONCE])


def events(shape: Shape, run: int) -> Iterator[Json]:
    """A run of each job of a layered graph."""
    for job, mine in groupby(edges(shape), itemgetter(2)):
        yield _event(shape, job, list(mine), run)


def _event(shape: Shape, job: int, mine: list[Edge], run: int) -> Json:
    fields: dict[str, Json] = {}
    for output, source, _, transformation in mine:
        found = {
            **_column(shape, source),
            "transformations": [{"type": "DIRECT", "subtype": SUBTYPES[transformation - 1]}],
        }
        fields.setdefault(_column(shape, output)["field"], {"inputFields": []})["inputFields"].append(found)
    return {
        "eventType": "COMPLETE",
        "eventTime": (_BEGUN + timedelta(seconds=job, hours=run)).isoformat(),
        "producer": PRODUCER,
        "run": {"runId": str(UUID(int=(job << 32) + run + 1))},
        "job": {"namespace": "prod", "name": f"make_{job}"},
        "inputs": [_table(name) for name in sorted({_column(shape, source)["name"] for _, source, *_ in mine})],
        "outputs": [_table(_column(shape, mine[0][0])["name"], columnLineage={"fields": fields})],
    }


def _table(name: str, **facets: Json) -> Json:
    columns = [{"name": f"c{place}", "type": "string"} for place in range(WIDTH)]
    return {"namespace": "s3://lake", "name": name, "facets": {"schema": {"fields": columns}, **facets}}


def _column(shape: Shape, field: int) -> Json:
    layer, number = divmod(field - 1, shape.columns)
    named = start(shape, layer, number)
    return {"namespace": named.namespace, "name": named.dataset, "field": named.field}
