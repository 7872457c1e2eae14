"""Facets that others give: beside headwater's own in the event, and never at the cost of it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.model import (
    ColumnLineage,
    Dataset,
    DatasetDescription,
    Facet,
    Job,
    Output,
    Run,
    RunMoment,
    RunState,
    SchemaField,
    Statement,
)
from headwater.openlineage.writing.events import run_event, to_json
from headwater.openlineage.writing.facets import FacetSettings

Check = Callable[[dict[str, Any]], None]
RUN = Run("01890000-0000-7000-8000-000000000001", Job("jobs", "shop"))
TABLE = Dataset("lake://acme", "t")


def event(*facets: Facet, settings: FacetSettings | None = None, **more: Any) -> dict[str, Any]:
    """The event of a run that reads and writes a dataset with these facets."""
    seen = DatasetDescription(TABLE, (SchemaField("a", "int"),), facets=facets, **more)
    written = Output(seen, ColumnLineage({"a": frozenset()}))
    moment = RunMoment(
        RUN, RunState.COMPLETE, datetime(2026, 1, 1, tzinfo=UTC), statement=Statement((seen,), (written,))
    )
    found: dict[str, Any] = json.loads(to_json(run_event(moment, settings or FacetSettings())))
    return found


def gaps(event: dict[str, Any]) -> list[str]:
    return [gap["what"] for gap in event["run"]["facets"]["headwater_coverage"]["gaps"]]


def test_facets_go_where_they_belong_and_have_what_every_facet_has(check: Check) -> None:
    found = event(Facet("grade", '{"of": 1}'), Facet("seen", "{}", "input"), Facet("made", "{}", "output"))
    check(found)
    (read,), (written,) = found["inputs"], found["outputs"]
    assert read["facets"]["grade"] == written["facets"]["grade"]
    assert read["facets"]["grade"]["of"] == 1
    assert read["facets"]["grade"]["_producer"] == "urn:headwater:producer:headwater"
    assert read["facets"]["grade"]["_schemaURL"].endswith("#/$defs/DatasetFacet")
    assert read["inputFacets"]["seen"]["_schemaURL"].endswith("#/$defs/InputDatasetFacet")
    assert written["outputFacets"]["made"]["_schemaURL"].endswith("#/$defs/OutputDatasetFacet")
    assert "seen" not in written.get("outputFacets", {})


def test_what_a_facet_says_of_its_producer_stays_unless_it_is_no_text(check: Check) -> None:
    content = '{"_producer": "https://acme.org", "_schemaURL": 7}'
    (read,) = event(Facet("grade", content))["inputs"]
    assert read["facets"]["grade"]["_producer"] == "https://acme.org"
    assert read["facets"]["grade"]["_schemaURL"].endswith("#/$defs/DatasetFacet")


@pytest.mark.parametrize("content", ["", "{", "[]", "1", "null", '{"a": NaN}', '{"a": 1e999}', "[" * 100_000])
def test_what_is_no_object_is_a_gap_and_no_facet(content: str, check: Check) -> None:
    found = event(Facet("grade", content))
    check(found)
    assert "grade" not in found["inputs"][0]["facets"]
    assert gaps(found) == ["grade"]


@pytest.mark.parametrize("content", ["{}", '{"identifiers": 3}', '{"identifiers": [3]}', '{"identifiers": [{}]}'])
def test_a_list_of_names_that_is_none_would_cost_the_event_with_some_consumers(content: str) -> None:
    found = event(Facet("symlinks", content))
    assert "symlinks" not in found["inputs"][0]["facets"]
    assert gaps(found) == ["symlinks"]


def test_headwaters_own_stand_but_for_those_that_the_connector_knows_better() -> None:
    facets_of_extensions = [
        Facet("schema", '{"fields": [{"name": "theirs"}]}'),
        Facet("columnLineage", '{"fields": {}}'),
        Facet("headwater_names", "{}"),
        Facet("lifecycleStateChange", '{"lifecycleStateChange": "TRUNCATE"}'),
        Facet("dataSource", '{"name": "acme", "uri": "https://acme.org"}'),
        Facet("version", '{"datasetVersion": "theirs"}'),
    ]
    facets = event(*facets_of_extensions, lifecycle="OVERWRITE", version="ours")["outputs"][0]["facets"]
    assert [field["name"] for field in facets["schema"]["fields"]] == ["a"]
    assert set(facets["columnLineage"]["fields"]) <= {"a"} if "columnLineage" in facets else True
    assert "headwater_names" not in facets
    assert facets["lifecycleStateChange"]["lifecycleStateChange"] == "TRUNCATE"
    assert facets["dataSource"]["name"] == "acme"
    assert facets["version"]["datasetVersion"] == "ours"


def test_a_facet_that_headwater_has_none_of_is_taken() -> None:
    facets = event(Facet("version", '{"datasetVersion": "theirs"}'))["inputs"][0]["facets"]
    assert facets["version"]["datasetVersion"] == "theirs"


def test_what_is_switched_off_stays_off() -> None:
    settings = FacetSettings(disabled=frozenset({"grade", "seen", "made"}))
    found = event(Facet("grade", "{}"), Facet("seen", "{}", "input"), Facet("made", "{}", "output"), settings=settings)
    assert "grade" not in found["inputs"][0]["facets"]
    assert "inputFacets" not in found["inputs"][0]
    assert "outputFacets" not in found["outputs"][0]
