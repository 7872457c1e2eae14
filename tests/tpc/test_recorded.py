"""All queries of TPC-DS and TPC-H from their recorded plans, without a JVM."""

import pytest
from tests.tpc.comparison import Difference, differences
from tests.tpc.document import DOCUMENT, EXPLANATIONS, document
from tests.tpc.queries import NUMBERED, SUITES, queries
from tests.tpc.recordings import recorded


def test_both_suites_are_complete() -> None:
    assert [(query.suite, query.number) for suite in SUITES for query in queries(suite)] == NUMBERED


@pytest.mark.parametrize(("suite", "number"), NUMBERED)
def test_the_lineage_of_a_query_has_no_gap(suite: str, number: int) -> None:
    lineage, gaps = recorded(suite)[number]
    assert not gaps
    assert lineage.fields
    assert lineage.inputs


def test_no_source_is_missing_that_sqlglot_finds() -> None:
    assert [difference for difference in differences() if difference.ours == "nothing"] == []


def test_no_direct_edge_is_made_that_sqlglot_does_not_find() -> None:
    assert [difference for difference in differences() if difference.ours == "DIRECT"] == []


def test_every_kind_of_difference_is_explained_and_no_other() -> None:
    found: dict[str, Difference] = {difference.kind: difference for difference in differences()}
    assert found.keys() == EXPLANATIONS["difference"].keys()


def test_the_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text() == document(), "say `python -m tests.tpc.document`"
