"""How many events a server takes: batches over HTTP from several connections, and what becomes of size over runs."""

import json
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from typing import Any
from uuid import UUID

from bench.server.layered import WIDTH
from bench.server.places import connected, cpu_of_all, serving
from headwater.store import Store, open_store

EDGES = 2 * WIDTH
"""Column edges of an event."""

CONNECTIONS = 2
"""To each process of the server."""

PROCESSES = (1, 2)
BATCH = 100
_WARM = 1_000_000  # the first of the jobs that do not count
_BEGUN = datetime(2026, 2, 1, tzinfo=UTC)
PRODUCER = "https://example.org/bench"
_COLUMNS = [f"c{place}" for place in range(WIDTH)]

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Taken:
    """Events a second with so many edges in the store before; ``cpu`` is the server's, in ms an event.

    ``kind`` says whether the events tell lineage that is new or that of a run before; ``processes`` are the server's.
    """

    edges: int
    place: str
    kind: str
    processes: int
    events: int
    seconds: float
    cpu: float

    @property
    def rate(self) -> float:
        """Events a second."""
        return self.events / self.seconds


@dataclass(frozen=True, slots=True)
class Size:
    """Distinct edges and the bytes of their table with its index, after so many runs of the same lineage."""

    edges: int
    place: str
    runs: int
    count: int
    bytes: int

    @property
    def each(self) -> float:
        """Bytes for a distinct edge."""
        return self.bytes / max(1, self.count)


def event(job: int, run: int, *, described: bool = False) -> Json:
    """A run that makes a table of `WIDTH` columns, each from a column of two others: one whole and one not.

    ``described`` says that the latter has the text of its expression, of which a hundred jobs have others each.
    """
    # Of ten jobs that read the same tables each reads other columns of them: no two tell the same lineage.
    read = [*_COLUMNS[job % 10 :], *_COLUMNS[: job % 10]]
    made = zip(_COLUMNS, read, strict=True)
    text = f"round({{}} * 1.19 + {job % 100}, 2)" if described else ""
    fields = {name: {"inputFields": [_input(job, 0, one), _input(job, 1, one, text)]} for name, one in made}
    schema = {"fields": [{"name": name, "type": "string"} for name in _COLUMNS]}
    facets = {"schema": schema, "columnLineage": {"fields": fields}}
    moment = _BEGUN + timedelta(seconds=job, hours=run)
    return {
        "eventType": "COMPLETE",
        "eventTime": moment.isoformat(),
        "producer": PRODUCER,
        "run": {"runId": str(UUID(int=(job << 32) + run + 1))},
        "job": {"namespace": "prod", "name": f"ingest_{job}"},
        "inputs": [{"namespace": "s3://lake", "name": _table(job, side)} for side in (0, 1)],
        "outputs": [{"namespace": "s3://lake", "name": f"made/table_{job:06}", "facets": facets}],
    }


def _input(job: int, side: int, name: str, text: str = "") -> Json:
    transformation = {
        "type": "DIRECT",
        "subtype": "TRANSFORMATION" if side else "IDENTITY",
        "masking": False,
        "description": text.format(name),
    }
    return {"namespace": "s3://lake", "name": _table(job, side), "field": name, "transformations": [transformation]}


def _table(job: int, side: int) -> str:
    """Ten jobs read each table."""
    return f"raw/table_{(job + side) // 10:06}"


def bodies(jobs: Sequence[int], run: int, *, described: bool = False) -> list[bytes]:
    """Events of jobs as requests."""
    return [
        json.dumps([event(job, run, described=described) for job in jobs[begin : begin + BATCH]]).encode()
        for begin in range(0, len(jobs), BATCH)
    ]


def rates(url: str, place: str, edges: int, count: int, *, described: bool = False) -> Iterator[Taken]:
    """A server takes so many events: of new jobs, and then of the same jobs once more."""
    for turn, processes in enumerate(PROCESSES):
        jobs = range(turn * count, (turn + 1) * count)
        with serving(url, "--workers", str(processes)) as (address, pid):
            connections = connected(address, pid, processes, CONNECTIONS)
            _send(connections, bodies(range(_WARM, _WARM + BATCH * len(connections)), turn))
            for kind, run in (("new lineage", 1), ("lineage as before", 2)):
                requests = bodies(jobs, run, described=described)
                cpu, begun = cpu_of_all(pid), time.perf_counter()
                _send(connections, requests)
                seconds = time.perf_counter() - begun
                used = 1e3 * (cpu_of_all(pid) - cpu) / count
                yield Taken(edges, place, kind, processes, count, seconds, used)


def _send(connections: Sequence[HTTPConnection], requests: Sequence[bytes]) -> None:
    count = len(connections)
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(_send_some, connections, [requests[n::count] for n in range(count)]))


def _send_some(connection: HTTPConnection, requests: Sequence[bytes]) -> None:
    for body in requests:
        connection.request("POST", "/api/v1/lineage", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answered = answer.read()
        assert answer.status == 201, answered


def sizes(url: str, place: str, jobs: int, runs: Sequence[int]) -> Iterator[Size]:
    """The size of the edges after so many runs of the same jobs."""
    done = 0
    for until in runs:
        with serving(url) as (address, pid):
            connections = connected(address, pid, 1, CONNECTIONS)
            for run in range(done, until):
                _send(connections, bodies(range(jobs), run))
        done = until
        with open_store(url) as store:
            yield size(store, place, until)


def size(store: Store, place: str, runs: int) -> Size:
    """The size of the edges that hold now, with their index."""
    with store.read() as connection:
        count = int(connection.exec_driver_sql("SELECT count(*) FROM edge").scalar_one())
        bytes_ = int(connection.exec_driver_sql(_BYTES[connection.dialect.name]).scalar_one())
    return Size(count, place, runs, count, bytes_)


_BYTES = {
    "sqlite": "SELECT sum(pgsize) FROM dbstat WHERE name IN ('edge', 'edge_down')",
    "postgresql": "SELECT pg_total_relation_size('edge')",
}
