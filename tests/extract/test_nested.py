"""Lineage of fields within columns: what cases expect of it, and that it says the same as that of columns."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pytest
from tests.extract.case_file import Case, cases
from tests.extract.edge_text import last_component
from tests.extract.recordings import VERSIONS, output_of, recorded, written

from headwater.model import ColumnLineage, Dataset, Job, Output, Run, RunMoment, RunState, Statement
from headwater.model.nested_fields import name_parts, nested_name
from headwater.openlineage.writing.events import run_event, to_json

NESTED = [
    pytest.param(version, case, id=f"{version}-{case}")
    for version in VERSIONS
    for case in cases()
    if case.is_for(version) and case.nested
]


@pytest.mark.parametrize(("version", "case"), NESTED)
def test_fields_within_columns_have_the_lineage_that_the_case_expects(version: str, case: Case) -> None:
    found = written(recorded(version, case))
    output = output_of(case, found)
    assert output is not None
    assert nested_lines(found, output) == sorted(" ".join(line.split()) for line in case.nested.splitlines())


@pytest.mark.parametrize("version", VERSIONS)
def test_each_edge_between_nested_fields_is_one_between_their_columns_and_none_is_missing(version: str) -> None:
    looked_at = 0
    for case in (case for case in cases() if case.is_for(version) and not case.frame):
        for output in written(recorded(version, case)).outputs:
            if output.nested is not None:
                assert _columns(output.nested) == _columns(output.lineage), case
                looked_at += 1
    assert looked_at > 10


def nested_lines(found: Statement, output: Output) -> list[str]:
    """The edges of the facet, as an event has it."""
    run = Run("018f0000-0000-7000-8000-000000000000", Job("n", "j"))
    event = json.loads(to_json(run_event(RunMoment(run, RunState.COMPLETE, datetime(2026, 1, 1), statement=found))))
    dataset = output.description.dataset
    (facets,) = (one["facets"] for one in event["outputs"] if one["name"] == dataset.name)
    facet = facets["headwater_nestedLineage"]
    edges = {name: one["inputFields"] for name, one in facet["fields"].items()} | {"*": facet.get("dataset")}
    return sorted(f"{name} <- {', '.join(sorted(map(_edge, inputs)))}" for name, inputs in edges.items() if inputs)


def _edge(field: Mapping[str, Any]) -> str:
    kinds = sorted(f"{how['subtype']}{'!' * how['masking']}" for how in field["transformations"])
    return f"{'+'.join(kinds)} {last_component(field['name'])}.{field['field']}"


def _columns(lineage: ColumnLineage) -> Mapping[str | None, frozenset[tuple[Dataset, str, bool]]]:
    """The inputs of each output column, and whether they are of its value."""
    named = [(name, edge.input, edge.transformation.direct) for name, edge in lineage.edges]
    return {
        name: frozenset((field.dataset, field.name, direct) for other, field, direct in named if other == name)
        for name in (*lineage.fields, None)
    }


@pytest.mark.parametrize("parts", [("a",), ("a.b", "c"), ("`", "", "ö"), ("a``b", ".")])
def test_the_parts_of_a_nested_name_are_those_it_was_made_of(parts: tuple[str, ...]) -> None:
    assert name_parts(nested_name(parts)) == parts
