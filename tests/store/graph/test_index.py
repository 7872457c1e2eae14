"""Edges in memory answer as the database does, whoever writes to it meanwhile."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from headwater.errors import SettingError
from headwater.model import Subtype
from headwater.store import Store, open_store, schema
from headwater.store.graph.index import OPTION
from headwater.store.graph.index.memory import EdgeIndex
from headwater.store.graph.timeline import MOST
from headwater.store.maintenance.backup import back_up, empty, restore
from headwater.store.questions import Bounds, Direction, EdgeType
from headwater.store.questions.walk.closure import Closure, reach, walk

NAMES = st.sampled_from(["a", "b", "c", "d"])
COLUMNS = st.sampled_from(["x", "y"])
SOURCES = st.builds("{}.{} {}".format, NAMES, COLUMNS, st.sampled_from(["IDENTITY", "AGGREGATION masked", "FILTER"]))
FIELDS = st.dictionaries(st.sampled_from(["x", "y", "*"]), st.lists(SOURCES, max_size=2))
PARTS = {
    "job": st.sampled_from(["j1", "j2"]),
    "outputs": st.lists(st.tuples(NAMES, FIELDS, st.lists(st.sampled_from(["t1", "t2"]), max_size=1)), max_size=2),
    "minute": st.integers(0, 4),
    "run": st.integers(0, 5),
    "state": st.sampled_from(["START", "COMPLETE", "COMPLETE"]),
}
RENAME = st.fixed_dictionaries({"former": NAMES, "present": st.none() | NAMES, "minute": st.integers(0, 4)})

BOUNDS = (
    Bounds(),
    Bounds(depth=1),
    Bounds(columns=2),
    Bounds(EdgeType.DIRECT),
    Bounds(subtypes=frozenset({Subtype.FILTER})),
    Bounds(subtypes=frozenset({Subtype.SORT})),
    Bounds(masking=False),
    Bounds(namespaces=("hive*",)),
    Bounds(jobs=("first",)),
    Bounds(guess=True),
    Bounds(as_of=1_767_225_600_000_000 + 150_000_000),  # between the third minute and the fourth
)
FIRST = {"job": "first", "outputs": [("a", {"x": ["b.x"], "*": ["c.y FILTER"]}, [])], "minute": 0, "run": 9}


def event(words: Any, parts: dict[str, Any]) -> dict[str, Any]:
    if "former" in parts:
        names = words.renamed(parts["former"], parts["present"])
        return dict(words.run_event("ddl", names, minute=parts["minute"], run=str(parts)))
    outputs = [words.written(*output) for output in parts["outputs"]]
    run = f"{parts['job']} {parts['run']}"
    return dict(
        words.run_event(parts["job"], *outputs, minute=parts["minute"], run=run, state=parts.get("state", "COMPLETE"))
    )


def closures(connection: Connection) -> Iterator[Closure]:
    """Walks from each column and each dataset, and from some columns within all bounds, with and without links."""
    fields = connection.execute(select(schema.field.c.id)).scalars().all()
    datasets = connection.execute(select(schema.dataset.c.id)).scalars().all()
    for direction in (Direction.UP, Direction.DOWN):
        yield from (walk(connection, [one], direction, Bounds()) for one in fields)
        yield from (walk(connection, [-one], direction, Bounds()) for one in datasets)
        for bounds in BOUNDS:
            found, reached = (by(connection, fields[1::2], direction, bounds) for by in (walk, reach))
            yield found
            assert (found.distance, found.truncated) == (reached.distance, reached.truncated)
            yield reach(connection, fields[::2], direction, bounds)


def agree(store: Store, index: EdgeIndex) -> None:
    index.wait()
    with store.read() as connection:
        if index.at(connection) is None:
            index.wait()
        known = index.at(connection)
        assert known is not None
        in_memory = [(list(one.distance.items()), one) for one in closures(connection)]
        assert index.at(connection) is known
        by_database = connection.execution_options(**{OPTION: None})
        assert in_memory == [(list(one.distance.items()), one) for one in closures(by_database)]


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(st.lists(st.fixed_dictionaries(PARTS) | RENAME, min_size=1, max_size=3), max_size=3))
def test_it_answers_as_the_database_does(store: Store, words: Any, batches: list[list[dict[str, Any]]]) -> None:
    with store.write() as connection:
        empty(connection)
    store.ingest([event(words, FIRST)])
    index = store.keep_edges()
    agree(store, index)
    for batch in batches:
        store.ingest(event(words, one) for one in batch)
        agree(store, index)
    index.close()


@pytest.fixture
def chain(store: Store, words: Any) -> EdgeIndex:
    """The index of a store where b is made of a."""
    store.ingest([words.run_event("ab", words.written("b", {"x": ["a.x"]}), run="ab")])
    index = store.keep_edges()
    index.wait()
    return index


def upstream(connection: Connection, name: str) -> int:
    """How many columns stand before the field x of a dataset."""
    question = select(schema.field.c.id).join(schema.dataset, schema.dataset.c.id == schema.field.c.dataset_id)
    start = connection.execute(question.where(schema.dataset.c.name == name)).scalars().all()
    return len(reach(connection, start, Direction.UP, Bounds()).distance) - 1


def test_what_another_process_writes_is_there_at_once(store: Store, words: Any, chain: EdgeIndex) -> None:
    with open_store(store.url) as other:
        other.ingest([words.run_event("bc", words.written("c", {"x": ["b.x"]}), run="bc")])
    with store.read() as connection:
        assert chain.at(connection) is not None
        assert upstream(connection, "/c") == 2
    with open_store(store.url) as other:
        other.ingest([words.run_event("ab", words.written("b", {"x": []}), run="later", minute=5)])
    with store.read() as connection:
        assert chain.at(connection) is not None
        assert upstream(connection, "/c") == 1


def test_who_began_before_sees_what_was_before(store: Store, words: Any, chain: EdgeIndex) -> None:
    with store.read() as before:
        assert upstream(before, "/b") == 1
        store.ingest([words.run_event("ab", words.written("b", {"x": ["a.x", "d.x"]}), run="later", minute=5)])
        with store.read() as after:
            assert upstream(after, "/b") == 2
        assert chain.at(before) is None
        assert upstream(before, "/b") == 1
    chain.wait()
    with store.read() as after:
        assert chain.at(after) is not None


def test_a_restored_store_is_read_again(store: Store, words: Any, chain: EdgeIndex, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "other.db")) as other:
        other.ingest([words.run_event("ab", words.written("b", {"x": ["a.x", "d.x"]}), run="other")])
    back_up(str(tmp_path / "other.db"), tmp_path / "backup.db")
    with store.read() as connection:
        assert upstream(connection, "/b") == 1
    restore(tmp_path / "backup.db", store.url, force=True)
    with store.read() as connection:
        assert chain.at(connection) is None
        assert upstream(connection, "/b") == 2
    chain.wait()
    with store.read() as connection:
        assert chain.at(connection) is not None
        assert upstream(connection, "/b") == 2


def test_behind_many_changes_all_is_read_again(store: Store, words: Any, chain: EdgeIndex) -> None:
    store.ingest(words.run_event(f"j{n}", words.written(f"t{n}", {"x": ["b.x"]})) for n in range(MOST + 1))
    with store.read() as connection:
        assert chain.at(connection) is None
        assert upstream(connection, f"/t{MOST}") == 2
    chain.wait()
    with store.read() as connection:
        assert chain.at(connection) is not None
        assert upstream(connection, f"/t{MOST}") == 2


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize(("bounds", "links"), [(Bounds(), 1), (Bounds(as_of=1), 0), (Bounds(guess=True), 2)], ids=str)
def test_the_past_and_guesses_come_from_the_database(store: Store, words: Any, bounds: Bounds, links: int) -> None:
    store.ingest([words.run_event("ad", words.written("d"), inputs=["a"], run="ad")])
    with store.read() as connection:
        fields = connection.execute(select(schema.field.c.id)).scalars().all()
        assert len(walk(connection, fields, Direction.DOWN, bounds).rows) == links


def test_without_numpy_it_says_what_to_install(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numpy")
    monkeypatch.setattr(sys, "path", [])  # where packages are looked for
    with pytest.raises(SettingError, match=r"headwater\[index\]"):
        store.keep_edges()
