"""Edges of a function from each of many columns to each of many: said once for each side, never as the product."""

import json
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from headwater.ext.renaming import renamed_lineage
from headwater.extract.edges import lineage
from headwater.extract.trace import (
    AGGREGATED,
    CONDITION,
    NOTHING,
    OPAQUE,
    TRANSFORMED,
    UNSEEN_ROWS,
    Paths,
    described,
    received,
    source,
    step,
    union,
)
from headwater.model import (
    ColumnLineage,
    Dataset,
    DatasetDescription,
    Engine,
    InputField,
    Job,
    Output,
    Run,
    RunMoment,
    RunState,
    Statement,
)
from headwater.openlineage.writing.events import run_event, to_json
from headwater.openlineage.writing.facets import FacetSettings
from headwater.store import open_store
from headwater.store.questions.answers import Bounds, Direction, EdgeType
from headwater.store.questions.graphs import reached_from
from headwater.store.questions.roots import roots_of

SOURCE = Dataset("file", "/lake/source")
TARGET = Dataset("file", "/lake/target")


def opaque(columns: int, *, also: str = "") -> ColumnLineage:
    """The lineage of ``mapInPandas`` over so many columns into as many, and of a constant beside them."""
    made = received(union(source(InputField(SOURCE, f"c{number}")) for number in range(columns)))
    names = [f"d{number}" for number in range(columns)]
    traces = [made] * columns
    return lineage([*names, *filter(None, [also])], [*traces, *[NOTHING] * bool(also)], step(UNSEEN_ROWS, made))


def event(found: ColumnLineage, **settings: Any) -> str:
    run = Run("0199a2b4-0000-7000-8000-000000000001", Job("jobs", "shop.mapped"))
    outputs = (Output(DatasetDescription(TARGET), found),)
    moment = RunMoment(
        run, RunState.COMPLETE, datetime(2025, 1, 1, tzinfo=UTC), Engine("spark", "4.1", "1"), Statement((), outputs)
    )
    return to_json(run_event(moment, FacetSettings(**settings)))


def facet(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)["outputs"][0]["facets"]["columnLineage"]
    return found


def notes(text: str) -> list[str]:
    return [gap["what"] for gap in json.loads(text)["run"]["facets"]["headwater_coverage"]["gaps"]]


@pytest.mark.parametrize("columns", [300, 1500])
def test_a_wide_function_is_one_small_event(columns: int) -> None:
    tracemalloc.start()
    text = event(opaque(columns))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(text) < 400 * columns
    assert peak < 20_000 * columns
    parts = facet(text)
    assert [one["field"] for one in parts["dataset"]] == sorted(f"c{number}" for number in range(columns))
    assert {json.dumps(one["transformations"]) for one in parts["dataset"]} == {
        '[{"description": "opaque", "masking": false, "opaque": true, "subtype": "TRANSFORMATION", "type": "DIRECT"}]'
    }
    assert {len(one["inputFields"]) for one in parts["fields"].values()} == {0}
    assert notes(text) == []


def test_below_the_bound_each_field_has_its_edges() -> None:
    parts = facet(event(opaque(100)))
    assert {len(one["inputFields"]) for one in parts["fields"].values()} == {100}
    assert "dataset" not in parts


def mixed(columns: int, how: str, function: Callable[[Paths], Paths] = received) -> ColumnLineage:
    """The lineage of what is made of each column of such a function: ``how`` it is computed, beside another table's."""
    filled = function(union(source(InputField(SOURCE, f"c{number}")) for number in range(columns)))
    own = [source(InputField(Dataset("file", "/lake/other"), f"o{number}")) for number in range(columns)]
    made: Callable[[Paths], Paths] = {
        "aggregated": lambda one: step(AGGREGATED, filled),
        "added": lambda one: step(TRANSFORMED, union((filled, one))),
        "added to what it received": lambda one: union((filled, source(InputField(SOURCE, "c0")), step(OPAQUE, one))),
        "added by an expression with a text": lambda one: described(str(one), step(TRANSFORMED, union((filled, one)))),
        "compared": lambda one: union((step(CONDITION, filled), one)),
        "received by another": lambda one: function(union((step(AGGREGATED, filled), one))),
    }[how]
    names = [f"d{number}" for number in range(columns)]
    return lineage(names, [made(one) for one in own], step(UNSEEN_ROWS, filled))


HOW = ("aggregated", "added", "added to what it received", "compared", "received by another")


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("columns", [5, 150])
def test_one_source_for_all_that_a_function_receives_leads_to_the_edges_of_each(columns: int, how: str) -> None:
    one_by_one = mixed(columns, how, lambda paths: step(OPAQUE, paths))
    together = mixed(columns, how)
    assert together == one_by_one
    assert together.sources == one_by_one.sources
    assert {*together.transformations} == {*one_by_one.transformations}
    other = {Dataset("file", "/lake/other"): Dataset("s3://lake", "other")}
    assert renamed_lineage(together, other) == renamed_lineage(one_by_one, other)


@pytest.mark.parametrize("how", ["added", "added by an expression with a text", "compared"])
def test_it_grows_with_the_columns_and_not_with_their_square(how: str) -> None:
    tracemalloc.start()
    event(mixed(1_500, how))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12_000 * 1_500


@pytest.mark.parametrize("how", ["aggregated", "added", "compared"])
def test_what_is_made_of_each_column_of_a_wide_function_is_a_small_event_too(how: str) -> None:
    text = event(mixed(300, how))
    assert len(text) < 1_000 * 300
    parts = facet(text)
    assert {one["field"] for one in parts["dataset"]} == {f"c{number}" for number in range(300)}
    own = {name[1:]: [edge["field"] for edge in one["inputFields"]] for name, one in parts["fields"].items()}
    wrong = [number for number, fields in own.items() if fields != ([] if how == "aggregated" else [f"o{number}"])]
    assert wrong == []
    steps = {json.dumps(one["transformations"]) for one in parts["dataset"]}
    assert len(steps) == 1
    assert notes(text) == (["edges"] if how == "compared" else [])


def test_columns_that_are_computed_alike_of_a_wide_function_share_their_edges() -> None:
    tracemalloc.start()
    found = mixed(1_000, "aggregated")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000 * 1_000
    assert len({id(edges) for edges in found.fields.values()}) == 1


def test_a_column_that_is_not_the_functions_is_covered_too_and_that_is_noted() -> None:
    text = event(opaque(300, also="one"))
    steps = {one["transformations"][0]["description"] for one in facet(text)["dataset"] if one["field"] == "c0"}
    assert len(text) < 200_000
    assert steps == {"opaque: an edge of the whole dataset, to save space"}
    assert notes(text) == ["edges"]


def test_without_dataset_lineage_it_is_a_facet_of_its_own() -> None:
    text = event(opaque(300), dataset_lineage_enabled=False)
    assert len(text) < 200_000
    assert len(facet(text)["dataset"]) == 300
    assert notes(text) == ["dataset lineage"]


@pytest.mark.parametrize("edge_type", [None, EdgeType.DIRECT])
def test_the_store_follows_it_to_and_from_every_column(tmp_path: Path, edge_type: EdgeType | None) -> None:
    store = open_store(str(tmp_path / "lineage.db"))
    assert not store.ingest([event(opaque(120))]).rejected
    bounds = Bounds(edge_type=edge_type)
    roots = roots_of(store, "/lake/target.d7", bounds).roots
    assert {root.column.name for root in roots} == {f"c{number}" for number in range(120)}
    assert {path.transformation.direct for root in roots for path in root.transformations} == {True}
    reached = reached_from(store, "/lake/source.c5", Direction.DOWN, bounds)
    assert len(reached.distance) == 121
