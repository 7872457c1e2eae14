"""Changed values of an input column show only where there is an edge from it."""

from dataclasses import replace

import pytest
from tests.tpc.perturbation import allowed, effects, experiment, uncovered
from tests.tpc.queries import NUMBERED, Query, query
from tests.tpc.recordings import recorded

from headwater.model import ColumnLineage


def unexplained(asked: Query, lineage: ColumnLineage) -> list[str]:
    """The effects that no edge of ``lineage`` tells of."""
    suspects = uncovered(asked, lineage)
    if not suspects:
        return []
    tried = experiment(asked)
    names = tuple(lineage.fields)
    return [
        f"{'.'.join(wanted)} as {effect.change} changes {names[place]}"
        for wanted in suspects
        for effect in effects(tried, wanted)
        for place in sorted(effect.outputs - allowed(lineage, wanted))
    ]


@pytest.mark.parametrize(("suite", "number"), NUMBERED)
def test_what_a_change_shows_in_has_an_edge(suite: str, number: int) -> None:
    assert unexplained(query(suite, number), recorded(suite)[number][0]) == []


def test_an_edge_that_is_taken_away_is_missed() -> None:
    lineage = recorded("tpch")[1][0]
    poorer = replace(lineage, fields={**lineage.fields, "sum_qty": frozenset()})
    assert unexplained(query("tpch", 1), poorer) == [
        "lineitem.l_quantity as CAST(l_quantity + 1 + rowid % 3 AS DECIMAL(15,2)) changes sum_qty",
        "lineitem.l_quantity as CASE WHEN hash(rowid) % 2 = 0 THEN l_quantity END changes sum_qty",
    ]


def test_a_dataset_edge_that_is_taken_away_is_missed() -> None:
    lineage = recorded("tpch")[6][0]
    poorer = replace(lineage, dataset=frozenset())
    assert any(found.startswith("lineitem.l_shipdate") for found in unexplained(query("tpch", 6), poorer))
