"""Plans of a remote Spark Connect server come as texts: what is for a node is for it there too."""

import pytest
from tests.capture.connect.recordings import recordings
from tests.ext.extensions import extension, running
from tests.ext.test_expressions import CHANGED, CONDITION, Of
from tests.ext.test_operators import Double

from headwater.ext import Extension
from headwater.extract import ExtractSettings, column_lineage
from headwater.plan import Plan
from headwater.plan.text import TextFacts, decode_text

SHOP = extension(operators=(Double(),), expressions=(Of(CONDITION, CHANGED, functions=("both",)),))
EXACT = {
    "opaque/map_in_pandas": {"product_id": {("product_id", "IDENTITY")}, "price": {("price", "TRANSFORMATION")}},
    "udf/python": {"id": {("id", "IDENTITY")}, "v": {("name", "CONDITIONAL"), ("country", "TRANSFORMATION")}},
}


def plan_of(case: str) -> Plan:
    recorded = recordings()[case]
    return decode_text(recorded["text"], TextFacts(recorded["tables"], {}, recorded["session"]))


def found(case: str, *extensions: Extension) -> dict[str, set[tuple[str, str]]]:
    lineage, gaps = column_lineage(plan_of(case), ExtractSettings(extensions=running(*extensions)))
    assert not [gap for gap in gaps if gap.kind == "extension"]
    return {
        name: {(edge.input.name, edge.transformation.subtype.value) for edge in edges}
        for name, edges in lineage.fields.items()
    }


@pytest.mark.parametrize("case", EXACT)
def test_an_explained_plan_is_described_like_a_plan(case: str) -> None:
    assert found(case, SHOP) == EXACT[case] != found(case)
