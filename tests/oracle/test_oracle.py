"""Every output column that an input column shows in has an edge from it: for generated pipelines and for cases."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.extract.case_file import Case, cases
from tests.extract.case_tables import jvm_of_its_own
from tests.extract.edge_text import Edges
from tests.oracle.casework import experiment, runnable
from tests.oracle.hunt import PLACED, MissingEdge, Oracle, hunt, look, oracle
from tests.oracle.judging import examine
from tests.oracle.live import LiveExperiment
from tests.oracle.pipelines import Pipeline
from tests.oracle.tally import Tally

from headwater.model import ColumnLineage, Subtype

# What PySpark advises about the code of a case is no fault of ours.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

PIPELINES = 15  # `make oracle` makes 2,000
SAMPLE = (
    "aggregate/basic",
    "cte/before_insert",
    "grouping/cube_frame",
    "literal/metadata_filter",
    "packed/higher_order",
    "sort/order_by",
    "syntax/execute_immediate",
    "view/create_renamed",
)  # `make oracle` looks at all cases
SHOWN_BY = {
    Subtype.IDENTITY: "project/swapped_names",
    Subtype.TRANSFORMATION: "cast/changing",
    Subtype.AGGREGATION: "aggregate/basic",
    Subtype.CONDITIONAL: "conditional/case_when",
    Subtype.WINDOW: "window/row_number",
    Subtype.FILTER: "filter/where_two_columns",
    Subtype.JOIN: "join/inner",
    Subtype.GROUP_BY: "aggregate/key_not_selected",
    Subtype.SORT: "sort/order_below_limit",
}


@pytest.fixture(scope="module")
def live() -> Iterator[Oracle]:
    with jvm_of_its_own(), oracle() as found:
        yield found


@pytest.mark.timeout(900)
def test_generated_pipelines_have_every_edge(live: Oracle) -> None:
    tally = Tally()
    hunt(live, tally, PIPELINES, start=1)
    assert tally.missing == []
    assert tally.looked_at >= PIPELINES * 0.8, tally.invalid.most_common(5)
    assert sum(tally.discarded.values()) <= PIPELINES * 0.1


@pytest.mark.timeout(900)
def test_packings_in_their_places_have_every_edge_and_most_show(live: Oracle) -> None:
    tally = Tally()
    hunt(live, tally, 10, start=1, generated=PLACED, tightness=True)
    assert tally.missing == []
    assert tally.looked_at >= 6, tally.invalid.most_common(5)
    assert sum(tally.shown.values()) > 0.8 * (sum(tally.claims.values()) - sum(tally.idle.values()))


class Poorer(Oracle):
    """An oracle whose lineage has no edges."""

    def __init__(self, live: Oracle) -> None:
        self.__dict__.update(live.__dict__)

    def experiment(self, build: Callable[[Any], Any]) -> LiveExperiment:
        found = super().experiment(build)
        found.lineage = ColumnLineage(dict.fromkeys(found.lineage.fields, frozenset()), frozenset())
        return found


def test_a_missing_edge_is_found_again_while_it_is_made_small(live: Oracle) -> None:
    tally = Tally()
    case = Case("oracle", "by_hand", "by hand", 'df = spark.table("products")', Edges(), python=True, frame="df")
    for _ in range(2):
        with pytest.raises(MissingEdge, match=r"products.price .* shows in price"):
            look(Poorer(live), Pipeline(case, frozenset()), tally)


def test_an_edge_that_the_optimizer_leaves_out_is_idle(live: Oracle) -> None:
    found = live.experiment(
        lambda session: session.sql("SELECT id FROM customers WHERE id > 2 OR age = age + 1 AND 1 = 2")
    )
    verdict = examine(found, tightness=True)
    assert [(claim.source, claim.output) for claim in verdict.idle] == [(("customers", "age"), "")]


def test_a_function_that_leaves_rows_out_covers_them_where_it_fills_every_field(live: Oracle) -> None:
    def build(session: Any) -> Any:
        some = session.table("orders").select("qty")
        return some.mapInPandas(lambda parts: (part[part["qty"] > 2] for part in parts), "qty int")

    assert not examine(live.experiment(build)).missing


def test_the_sample_is_of_cases_that_are_there() -> None:
    assert set(SAMPLE) <= set(map(str, cases()))


@pytest.mark.parametrize("case", [case for case in runnable() if str(case) in SAMPLE], ids=str)
def test_cases_have_every_edge(case: Case, live: Oracle) -> None:
    try:
        looked_at = experiment(case, live)
    except LookupError as reason:
        pytest.skip(str(reason))
    assert list(map(str, examine(looked_at).missing)) == []


def test_the_pandas_api_reads_the_tables_of_its_own_session(live: Oracle) -> None:
    live.clean_experiment(lambda session: session.createDataFrame([(1,)], "x int"))
    melted = next(case for case in cases() if str(case) == "packed/melt")
    assert not examine(experiment(melted, live)).missing


@pytest.mark.parametrize("subtype", Subtype, ids=lambda subtype: subtype.value)
def test_edges_that_are_taken_away_are_missed(subtype: Subtype, live: Oracle) -> None:
    case = next(case for case in cases() if str(case) == SHOWN_BY[subtype])
    looked_at = experiment(case, live)
    assert not examine(looked_at).missing
    looked_at.lineage = without(looked_at.lineage, subtype)  # type: ignore[misc]
    assert examine(looked_at).missing


def without(lineage: ColumnLineage, subtype: Subtype) -> ColumnLineage:
    """A lineage without the edges of one kind."""

    def remaining(edges: frozenset) -> frozenset:  # type: ignore[type-arg]
        return frozenset(edge for edge in edges if edge.transformation.subtype is not subtype)

    fields = {name: remaining(edges) for name, edges in lineage.fields.items()}
    return replace(lineage, fields=fields, dataset=remaining(lineage.dataset))
