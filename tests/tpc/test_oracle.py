"""Changed values of an input column of a TPC query show only where there is an edge from it.

Each fourth query; ``make oracle`` tries all.
"""

from dataclasses import replace

import pytest
from tests.extract.case_file import some
from tests.oracle.judging import examine
from tests.oracle.tpc import experiment
from tests.tpc.queries import NUMBERED, query
from tests.tpc.recordings import recorded

from headwater.model import ColumnLineage


def missing(suite: str, number: int, lineage: ColumnLineage) -> list[str]:
    return [str(found) for found in examine(experiment(query(suite, number), lineage)).missing]


@pytest.mark.parametrize(("suite", "number"), some(NUMBERED, every=4))
def test_what_a_change_shows_in_has_an_edge(suite: str, number: int) -> None:
    assert missing(suite, number, recorded(suite)[number][0]) == []


def test_an_edge_that_is_taken_away_is_missed() -> None:
    lineage = recorded("tpch")[1][0]
    poorer = replace(lineage, fields={**lineage.fields, "sum_qty": frozenset()})
    assert missing("tpch", 1, poorer) == [
        "lineitem.l_quantity (other values) shows in sum_qty",
        "lineitem.l_quantity (every other value NULL) shows in sum_qty",
    ]


def test_a_dataset_edge_that_is_taken_away_is_missed() -> None:
    lineage = recorded("tpch")[6][0]
    poorer = replace(lineage, dataset=frozenset())
    assert any(found.startswith("lineitem.l_shipdate") for found in missing("tpch", 6, poorer))
