"""The ``lineage`` job facet says the edges of ``columnLineage``, for those who ask for it."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from tests.openlineage.writing.test_events import MOMENT, moments

from headwater.model import ColumnLineage, Dataset, DatasetDescription, Output, RunMoment, Statement
from headwater.openlineage.settings import settings_from
from headwater.openlineage.writing.events import run_event, to_json
from headwater.openlineage.writing.facets import FacetSettings

Edge = tuple[Any, ...]
EXPLICIT = FacetSettings(explicit_lineage_enabled=True)


def event_of(moment: RunMoment, facets: FacetSettings = EXPLICIT) -> dict[str, Any]:
    event: dict[str, Any] = json.loads(to_json(run_event(moment, facets)))
    return event


def edges(target: Iterable[Any], inputs: Iterable[dict[str, Any]]) -> Iterator[Edge]:
    """Target, source and transformation, of inputs that are columns."""
    for one in inputs:
        for step in one["transformations"] if "field" in one else ():
            yield (*target, one["namespace"], one["name"], one["field"], json.dumps(step, sort_keys=True))


def explicit(event: dict[str, Any]) -> set[Edge]:
    entries = event["job"]["facets"]["lineage"]["entries"]
    found = {edge for one in entries for edge in edges((one["namespace"], one["name"], None), one["inputs"])}
    return found | {
        edge
        for one in entries
        for name, field in one.get("fields", {}).items()
        for edge in edges((one["namespace"], one["name"], name), field["inputs"])
    }


def implied(event: dict[str, Any]) -> set[Edge]:
    found: set[Edge] = set()
    for output in event["outputs"]:
        facet = output["facets"].get("columnLineage", {"fields": {}})
        found |= set(edges((output["namespace"], output["name"], None), facet.get("dataset", [])))
        for name, field in facet["fields"].items():
            found |= set(edges((output["namespace"], output["name"], name), field["inputFields"]))
    return found


def test_explicit_lineage_needs_the_setting() -> None:
    assert "lineage" not in event_of(MOMENT, FacetSettings())["job"]["facets"]
    found = settings_from({"spark.openlineage.columnLineage.explicitLineageEnabled": "true"}, {})
    assert (found.facets, found.problems) == (EXPLICIT, ())
    assert "lineage" not in event_of(MOMENT, replace(EXPLICIT, disabled=frozenset({"lineage"})))["job"]["facets"]


def test_it_names_the_datasets_and_the_columns_that_feed_an_output(check: Callable[[dict[str, Any]], None]) -> None:
    event = event_of(MOMENT)
    check(event)
    (entry,) = event["job"]["facets"]["lineage"]["entries"]
    assert (entry["type"], entry["name"]) == ("DATASET", "/sales")
    assert [(one["name"], one.get("field")) for one in entry["inputs"]] == [
        ("/orders", None),
        ("people", None),
        ("/orders", "day"),
    ]
    assert entry["fields"]["one"] == {"inputs": []}
    score = entry["fields"]["total"]["inputs"][1]
    assert (score["field"], score["transformations"][0]["opaque"]) == ("name", True)


def test_the_only_output_is_fed_by_what_no_column_comes_from() -> None:
    seen = DatasetDescription(Dataset("file", "/counted"))
    output = Output(DatasetDescription(Dataset("file", "/counts")), ColumnLineage({"n": frozenset()}))
    event = event_of(replace(MOMENT, statement=Statement((seen,), (output,)), time=datetime(2026, 1, 1, tzinfo=UTC)))
    (entry,) = event["job"]["facets"]["lineage"]["entries"]
    assert entry["inputs"] == [{"namespace": "file", "name": "/counted", "type": "DATASET"}]


def test_it_says_the_edges_where_column_lineage_is_left_out() -> None:
    alone = event_of(MOMENT, replace(EXPLICIT, disabled=frozenset({"columnLineage"})))
    assert "columnLineage" not in alone["outputs"][0]["facets"]
    assert explicit(alone) == explicit(event_of(MOMENT))


@settings(max_examples=60)
@given(moment=moments)
def test_both_facets_say_the_same_edges(check: Callable[[dict[str, Any]], None], moment: RunMoment) -> None:
    event = event_of(moment)
    check(event)
    if event["outputs"]:
        assert explicit(event) == implied(event)
    else:
        assert "lineage" not in event["job"]["facets"]
