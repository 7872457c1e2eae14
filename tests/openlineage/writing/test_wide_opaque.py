"""Edges of a function from each of many columns to each of many: said once for each side, never as the product."""

import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from headwater.extract.edges import lineage
from headwater.extract.trace import (
    AGGREGATED,
    CONDITION,
    NOTHING,
    OPAQUE,
    TRANSFORMED,
    UNSEEN_ROWS,
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
    received = step(OPAQUE, union(source(InputField(SOURCE, f"c{number}")) for number in range(columns)))
    names = [f"d{number}" for number in range(columns)]
    traces = [received] * columns
    return lineage([*names, *filter(None, [also])], [*traces, *[NOTHING] * bool(also)], step(UNSEEN_ROWS, received))


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


def mixed(columns: int, how: str) -> ColumnLineage:
    """The lineage of what is made of each column of such a function: ``how`` it is computed, beside another table's."""
    received = step(OPAQUE, union(source(InputField(SOURCE, f"c{number}")) for number in range(columns)))
    own = [source(InputField(Dataset("file", "/lake/other"), f"o{number}")) for number in range(columns)]
    made = {
        "aggregated": lambda one: step(AGGREGATED, received),
        "added": lambda one: step(TRANSFORMED, union((received, one))),
        "compared": lambda one: union((step(CONDITION, received), one)),
    }[how]
    return lineage([f"d{number}" for number in range(columns)], [made(one) for one in own], NOTHING)


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
    assert steps == {"opaque: said for the whole dataset to save space"}
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
