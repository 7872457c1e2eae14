"""Roots of what several jobs have handed on, in several formats, are the columns of the first sources."""

from pathlib import Path

import pytest

from headwater.store.questions import ExactName, Origin, roots_of

from .conftest import Chains
from .long import LongChain, long_chains
from .pairs import expectation


@pytest.mark.spark
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
@pytest.mark.parametrize(
    "chain", [pytest.param(chain, id=str(chain), marks=expectation(str(chain))) for chain in long_chains()]
)
def test_roots_of_the_last_are_columns_of_the_first(chain: LongChain, database: str, chains: Chains) -> None:
    for place, (kind, _) in enumerate(chain.jobs):
        error = chains.application(kind).errors[f"{chain}, job {place}"]
        if error:
            pytest.fail(error)
    folder = chains.long / str(chain.number)
    ends = chain.ends.replace("{postgres}", f"postgres://{chains.server.address}") or f"file {folder}/out"
    namespace, _, name = ends.partition(" ")
    store = chains.store(database, "plain", "lake")
    found = {column: roots_of(store, ExactName(namespace, name, column)).roots for column in chain.roots}
    direct = {
        column: frozenset(
            (path.transformation.subtype.value, f"{Path(root.column.dataset.dataset.name).name}.{root.column.name}")
            for root in roots
            for path in root.transformations
            if path.transformation.direct and not path.whole_dataset
        )
        for column, roots in found.items()
    }
    assert direct == chain.roots
    first = {f"{folder}/people", f"{folder}/orders"}
    others = {str(root.column) for roots in found.values() for root in roots if root.origin != Origin.CONSTANT}
    assert {name for name in others if name.removeprefix("file:").rpartition(".")[0] not in first} == set()


def test_every_chain_has_five_jobs() -> None:
    assert {len(chain.jobs) for chain in long_chains(every=True)} == {5}
