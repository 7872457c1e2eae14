"""How long questions take: closures as ids and over HTTP, roots, impact; beside recursive SQL over per-run rows."""

import random
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from itertools import product
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit
from uuid import UUID

import orjson

from bench.figures import quantile
from bench.server import perrun
from bench.server.layered import Shape, start
from bench.server.places import cpu_of, serving, wait_until_idle
from headwater.errors import StoreError
from headwater.store import Store
from headwater.store.questions import Direction, ExactName, ImpactedDataset, impact_of, reached_from, roots_of

DIRECTIONS = (Direction.UP, Direction.DOWN)
WARMING = 5
FEW = 5
PATIENCE = 30
"""Seconds that the peer's question may take."""


class Start(NamedTuple):
    """A column to ask about."""

    name: ExactName
    id: int


class Ask(NamedTuple):
    """How to ask about a column, how many columns an answer has, and the CPU time of who answers."""

    ask: Callable[[Start], Any]
    size: Callable[[Any], int] = len
    clock: Callable[[], float] = time.process_time


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of a question, and how many columns its answers had; ``place`` is where and over what.

    ``cpu`` are those of the process that answers, on average, and not those of PostgreSQL.
    """

    edges: int
    layers: int
    place: str
    question: str
    questions: int
    p50: float
    p95: float
    columns: int
    most: int
    cpu: float = 0.0


def starts(shape: Shape, direction: Direction, count: int) -> list[Start]:
    """Columns at the end of the graph from which a walk in a direction goes through all of it; always the same."""
    draw = random.Random(7)
    layer = shape.layers - 1 if direction is Direction.UP else 0
    places = [draw.randrange(shape.columns) for _ in range(count)]
    return [Start(start(shape, layer, place), shape.field(layer, place)) for place in places]


def timing(shape: Shape, kind: tuple[str, str], how: Ask, chosen: Sequence[Start]) -> Timing:
    """Asks about each, after a few that do not count."""
    for one in chosen[:WARMING]:
        how.ask(one)
    taken, answers, used = [], [], how.clock()
    for one in chosen:
        begun = time.perf_counter()
        answer = how.ask(one)
        taken.append(1e3 * (time.perf_counter() - begun))
        answers.append(answer)
    cpu = 1e3 * (how.clock() - used) / len(chosen)
    times = (quantile(taken, 0.5), quantile(taken, 0.95))
    counts = [how.size(answer) for answer in answers]
    return Timing(shape.edges, shape.layers, *kind, len(chosen), *times, int(quantile(counts, 0.5)), max(counts), cpu)


def of_store(shape: Shape, place: str, store: Store, count: int, *, index: bool = False) -> Iterator[Timing]:
    """Questions to a store: in this process, and over HTTP to a server process; by an index or without."""
    if index:
        store.keep_edges().wait()
    with serving(store.url, *(["--index"] if index else [])) as (address, pid):
        wait_until_idle(pid)
        for direction in DIRECTIONS:
            chosen, stream = starts(shape, direction, count), f"{direction.value}stream"
            yield timing(shape, (place, f"{stream} ids"), Ask(partial(ids_of, store, direction)), chosen)
            connection = HTTPConnection(urlsplit(address).netloc)  # the server closes one that is silent for long
            for form in ("ids", "compact"):
                ask = partial(_over_http, connection, f"/api/v2/{stream}", form)
                how = Ask(ask, _columns, partial(cpu_of, pid))
                yield timing(shape, (place, f"{stream} {form}, HTTP"), how, chosen)
            connection.close()
    some = max(FEW, count // 4)
    up, down = (starts(shape, direction, some) for direction in DIRECTIONS)
    yield timing(shape, (place, "roots"), Ask(lambda one: roots_of(store, one.name).roots), up)
    yield timing(shape, (place, "impact"), Ask(lambda one: impact_of(store, one.name).datasets, _impacted), down)


def of_per_run_rows(shape: Shape, store: Store, runs: int, count: int) -> Iterator[Timing]:
    """Recursive SQL over the rows of so many runs: each field once, and over all paths, a few times."""
    perrun.fill(store, runs)
    place = f"rows of {runs} run{'s' * (runs > 1)} each"
    forms = (("each field once", perrun.REACHED, count), ("all paths", perrun.PATHS, FEW))
    for (title, question, most), direction in product(forms, DIRECTIONS):
        kind = (place, f"{direction.value}stream, {title}")
        try:
            ask = partial(_per_run, store, question, direction)
            yield timing(shape, kind, Ask(ask), starts(shape, direction, most))
        except StoreError:
            yield Timing(shape.edges, shape.layers, *kind, 1, 1e3 * PATIENCE, 1e3 * PATIENCE, 0, 0)


def ids_of(store: Store, direction: Direction, one: Start) -> Collection[int]:
    """The columns of a closure."""
    return reached_from(store, one.name, direction).distance


def _impacted(datasets: Collection[ImpactedDataset]) -> int:
    return sum(len(dataset.columns) for dataset in datasets)


def _over_http(connection: HTTPConnection, path: str, form: str, one: Start) -> bytes:
    namespace, dataset, field = one.name.namespace, one.name.dataset, one.name.field
    query = urlencode({"namespace": namespace, "dataset": dataset, "field": field, "form": form})
    connection.request("GET", f"{path}?{query}")
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, body
    return body


def _columns(body: bytes) -> int:
    return len(orjson.loads(body)["columns"]["id"])


def _per_run(store: Store, question: str, direction: Direction, one: Start) -> Collection[UUID]:
    with store.read() as connection:
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{PATIENCE}s'")
        return perrun.ask(connection, question, perrun.uuid_of(one.id), direction)
