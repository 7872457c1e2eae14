"""Columns are one per name, whatever its case: as Spark's resolver takes them, and shown as the table has them."""

import random
import tempfile
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.conftest import new_store

from headwater.errors import UnknownName
from headwater.store import Store, open_store
from headwater.store.questions import UNBOUNDED, Direction, ExactName, find_columns, impact_of, roots_of, walk_from

from .test_pipeline_laws import COLUMNS, NAMES

SPELLED = [str.lower, str.upper, str.title]
STEP = st.tuples(NAMES, st.dictionaries(COLUMNS.map(str.lower), st.lists(st.tuples(NAMES, COLUMNS), max_size=2)))
CHANGED = st.tuples(NAMES, st.just({"x": "z"}))


def events(words: Any, steps: list[Any], spell: Callable[[str], str]) -> list[dict[str, Any]]:
    """A job that writes a dataset in each step, or renames a column of it; names are spelled as they come."""
    sent = []
    renamed = set()
    for minute, (name, fields) in enumerate(steps):
        if fields == {"x": "z"}:
            if name in renamed:  # no table lets a column have the name of another
                continue
            renamed.add(name)
            output = words.renamed(name, name, {spell(old): spell(new) for old, new in fields.items()})
            sent.append(words.run_event("ddl", output, minute=minute, run=f"ddl{minute}"))
            continue
        own = {
            spell(field): [f"{source}.{spell(column.lower())}" for source, column in inputs]
            for field, inputs in fields.items()
        }
        sent.append(words.run_event(f"job{name}", words.written(name, own), minute=minute, run=f"run{minute}"))
    return sent


def by_chance(chance: random.Random) -> Callable[[str], str]:
    """Spells each name in another case."""

    def spell(name: str) -> str:
        return chance.choice(SPELLED)(name)

    return spell


def closures(store: Store) -> dict[str, Any]:
    """Each column in lower case with its roots and with what depends on it."""
    found: dict[str, Any] = {}
    for one in find_columns(store, "", 1000).found:
        start = ExactName("file", one.column.dataset.dataset.name, one.column.name)
        roots = sorted((str(root.column).lower(), root.origin.value) for root in roots_of(store, start).roots)
        impact = impact_of(store, start)
        below = sorted(str(column.column).lower() for of in impact.datasets for column in of.columns)
        found[str(one.column).lower()] = roots, below
    return found


@settings(max_examples=25)
@given(steps=st.lists(STEP | CHANGED, min_size=1, max_size=6), chance=st.randoms(use_true_random=False))
def test_spelling_changes_no_closure(words: Any, steps: list[Any], chance: random.Random) -> None:
    alike = events(words, steps, str.lower)
    mixed = events(words, steps, by_chance(chance))
    late = list(mixed)
    chance.shuffle(late)
    found = []
    for sent, one_by_one in ((alike, False), (mixed, False), (late, True)):
        with tempfile.TemporaryDirectory() as folder, new_store(folder) as store:
            for batch in [[one] for one in sent] if one_by_one else [sent]:
                assert not store.ingest(batch).rejected
            found.append(closures(store))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("seed", range(4))
def test_spelling_changes_no_closure_on_either_database(words: Any, store: Store, seed: int) -> None:
    chance = random.Random(seed)

    steps = [("a", {"x": [("raw", "x")], "y": [("raw", "y")]}), ("b", {"x": [("a", "x")], "y": [("a", "y")]})]
    steps += [("a", {"x": "z"}), ("c", {"y": [("a", "z"), ("b", "y")]})]
    sent = events(words, steps, by_chance(chance))
    chance.shuffle(sent)
    for one in sent:
        store.ingest([one])
    found = closures(store)
    assert found["file:/c.y"][0] == [("file:/raw.x", "source"), ("file:/raw.y", "source")]
    assert found["file:/raw.x"][1] == ["file:/a.z", "file:/b.x", "file:/c.y"]


def test_names_are_shown_in_the_tables_own_spelling(words: Any, tmp_path: Path) -> None:
    """A writer's goes before a reader's, that of its latest schema before all, in any order of events."""
    sent = [
        words.run_event("read", words.written("gold", {"k": ["mid.ID"], "n": ["mid.nAmE"]}), minute=9, run="1"),
        words.run_event("make", words.written("mid", {"id": ["raw.x"], "Name": []}), minute=1, run="2"),
        words.run_event("make", words.written("mid", {"Id": ["raw.x"]}), minute=2, run="3"),
    ]
    for number, order in enumerate(permutations(sent)):
        with open_store(str(tmp_path / f"{number}.db")) as store:
            for one in order:
                store.ingest([one])
            shown = {str(one.column) for one in find_columns(store, "mid", 10).found}
            assert shown == {"file:/mid.Id", "file:/mid.Name"}
            for typed in ("mid.ID", "MID.id", ExactName("file", "/mid", "iD")):
                assert str(roots_of(store, typed).column) == "file:/mid.Id"
            [root] = roots_of(store, "gold.k").roots
            assert str(root.column) == "file:/raw.x"


def test_columns_of_one_event_that_differ_in_case_are_two(words: Any, store: Store) -> None:
    """A schema with ``a`` and ``A`` was made by a case-sensitive session, also when that comes late."""
    read = words.run_event("read", words.written("gold", {"k": ["mid.a"], "m": ["mid.A"]}), minute=2, run="1")
    store.ingest([read])
    assert len(find_columns(store, "mid", 10).found) == 1
    store.ingest([words.run_event("make", words.written("mid", {"a": ["raw.x"], "A": ["raw.y"]}), minute=1, run="2")])
    assert {str(one.column) for one in find_columns(store, "mid", 10).found} == {"file:/mid.a", "file:/mid.A"}
    assert [str(root.column) for root in roots_of(store, "gold.k").roots] == ["file:/raw.x"]
    assert [str(root.column) for root in roots_of(store, "gold.m").roots] == ["file:/raw.y"]
    with pytest.raises(UnknownName, match=r"no column 'B'"):
        roots_of(store, ExactName("file", "/mid", "B"))


def test_names_are_compared_as_spark_does_it(words: Any, store: Store) -> None:
    """By lower case: ``ß`` is not ``ss``, ``É`` is ``é``, and the sign for kelvin is a ``k``."""
    store.ingest([words.run_event("make", words.written("mid", {"straße": ["raw.a"], "É": ["raw.b"], "k": ["raw.c"]}))])
    sent = {"x": ["mid.STRASSE"], "y": ["mid.é"], "z": ["mid.\N{KELVIN SIGN}"]}
    store.ingest([words.run_event("read", words.written("gold", sent), minute=1)])
    graph = walk_from(store, "gold", Direction.UP, UNBOUNDED)
    assert {str(hop.input) for hop in graph.hops} == {
        "file:/mid.STRASSE",
        "file:/mid.É",
        "file:/mid.k",
        "file:/raw.b",
        "file:/raw.c",
    }


def test_names_of_the_past_are_found_however_they_are_spelled(words: Any, store: Store) -> None:
    sent = [
        words.run_event("make", words.written("mid", {"Id": ["raw.x"]}), minute=1, run="1"),
        words.run_event("ddl", words.renamed("mid", "mid", {"ID": "Key"}), minute=5, run="2"),
        words.run_event("read", words.written("gold", {"k": ["mid.KEY"]}), minute=6, run="3"),
    ]
    store.ingest(reversed(sent))
    assert [str(one.column) for one in find_columns(store, "mid", 10).found] == ["file:/mid.Key"]
    assert [str(root.column) for root in roots_of(store, "gold.k").roots] == ["file:/raw.x"]
    assert str(roots_of(store, "mid.KEY").column) == "file:/mid.Key"
