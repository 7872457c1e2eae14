"""A column that one statement writes and another reads is one: roots and impact lead through every pair."""

from fnmatch import filter as filter_names

import pytest
from _pytest.mark import ParameterSet

from headwater.store import Store
from headwater.store.questions import Bounds, EdgeType, ExactName, Origin, impact_of, roots_of

from .conftest import Chains
from .long import long_chains
from .pairs import Pair, all_pairs, expectation, known_failures, pairs_of

KINDS = ("plain", "lake")
DIRECT = Bounds(edge_type=EdgeType.DIRECT)


def parameters() -> list[ParameterSet]:
    return [
        pytest.param(kind, pair, database, id=f"{pair}, {database}", marks=expectation(str(pair)))
        for database in ("sqlite", "postgres")
        for kind in KINDS
        for pair in pairs_of(kind)
    ]


@pytest.mark.spark
@pytest.mark.parametrize(("kind", "pair", "database"), parameters())
def test_roots_and_impact_lead_through(kind: str, pair: Pair, database: str, chains: Chains) -> None:
    ran = chains.application(kind)
    if ran.errors[str(pair.number)]:
        pytest.fail(ran.errors[str(pair.number)])
    store = chains.store(database, kind)
    out, source = f"{ran.folder}/out_{pair.number}", f"{ran.folder}/source_{pair.made}"
    found, depending = {}, {}
    for column, expected in pair.roots.items():
        found[column], elsewhere = roots(store, out, column, source)
        assert not elsewhere, f"{column} ends in {elsewhere}"
        depending[column] = {root for _, root in expected if column in impact(store, source, root, out)}
    assert found == pair.roots
    assert depending == {column: {root for _, root in expected} for column, expected in pair.roots.items()}


def roots(store: Store, dataset: str, column: str, source: str) -> tuple[frozenset[tuple[str, str]], list[str]]:
    """The roots of a column in the source, with their direct kinds; and the other roots, direct or not."""
    found = roots_of(store, ExactName("file", dataset, column))
    inside = {
        (path.transformation.subtype.value, root.column.name)
        for root in found.roots
        if root.column.dataset.dataset.name == source
        for path in root.transformations
        if path.transformation.direct and not path.whole_dataset
    }
    others = [root for root in found.roots if root.column.dataset.dataset.name != source]
    return frozenset(inside), [
        f"{root.column} ({root.origin.value})" for root in others if root.origin != Origin.CONSTANT
    ]


def impact(store: Store, source: str, column: str, out: str) -> set[str]:
    """The columns of ``out`` that a column of the source goes into."""
    found = impact_of(store, ExactName("file", source, column), DIRECT)
    return {one.column.name for at in found.datasets if at.dataset.dataset.name == out for one in at.columns}


def test_every_writer_and_every_reader_is_in_one_of_the_few_pairs_that_run() -> None:
    chosen = [pair for kind in KINDS for pair in pairs_of(kind)]
    every = [pair for kind in KINDS for pair in all_pairs(kind)]
    assert len(set(map(str, every))) >= 1000
    for side in ("writer", "reader"):
        assert {getattr(pair, side).title for pair in chosen} == {getattr(pair, side).title for pair in every}


def test_known_failures_have_names_that_there_are() -> None:
    names = [*(str(pair) for kind in KINDS for pair in all_pairs(kind)), *map(str, long_chains(every=True))]
    assert [pattern for pattern in known_failures() if not filter_names(names, pattern)] == []
