"""Answers for programs: JSON, CSV, Mermaid, DOT."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from tests.cli.conftest import event, inputs, lineage

GRAPHS = [
    ["roots", "avg_delay"],
    ["show", "avg_delay"],
    ["show", "landing/flights", "--down"],
    ["impact", "dep_delay"],
    ["path", "dep_delay", "avg_delay"],
]
LISTS = [["datasets"], ["jobs"], ["runs"], ["search", "delay"], ["coverage"]]

MERMAID = """\
flowchart LR
  subgraph d0["flights"]
    n0["dep_delay"]
    n2["cancelled"]
    n3["carrier"]
  end
  subgraph d1["gold.delays"]
    n1["avg_delay"]
  end
  n0 -->|"AGGREGATION"| n1
  n2 -.->|"FILTER, GROUP_BY (dataset)"| n1
  n3 -.->|"GROUP_BY (dataset)"| n1
"""


@pytest.mark.parametrize("command", GRAPHS + LISTS, ids=" ".join)
def test_json_is_json_and_csv_has_a_header_and_rows(headwater: Callable[..., Result], command: list[str]) -> None:
    assert json.loads(headwater(*command, "--format", "json").stdout)
    rows = list(csv.DictReader(io.StringIO(headwater(*command, "--format", "csv").stdout)))
    assert rows
    assert not any(None in row or None in row.values() for row in rows)


@pytest.mark.parametrize("command", GRAPHS, ids=" ".join)
def test_graphs_can_be_drawn(headwater: Callable[..., Result], command: list[str]) -> None:
    assert headwater(*command, "--format", "mermaid").stdout.startswith("flowchart LR\n  subgraph")
    dot = headwater(*command, "--format", "dot").stdout
    assert dot.startswith("digraph lineage {\n")
    assert dot.count("{") == dot.count("}")


@pytest.mark.parametrize("command", LISTS, ids=" ".join)
def test_lists_cannot_be_drawn(headwater: Callable[..., Result], command: list[str]) -> None:
    result = headwater(*command, "--format", "dot")
    assert result.exit_code == 2
    assert "choose one of tree, json" in " ".join(result.stderr.replace("│", " ").split())


def test_mermaid_draws_columns_in_their_datasets(headwater: Callable[..., Result]) -> None:
    assert headwater("roots", "avg_delay", "-f", "mermaid").stdout == MERMAID


def test_json_says_everything_of_a_root(headwater: Callable[..., Result]) -> None:
    answer = json.loads(headwater("roots", "silver/flights.tail", "-f", "json").stdout)
    assert answer["roots"][0] == {
        "column": {"namespace": "file", "name": "/data/landing/flights", "field": "tailnum"},
        "origin": "source",
        "evidence": "unwritten",
        "near": [],
        "transformations": [
            {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True, "opaque": True, "wholeDataset": False}
        ],
        "distance": 1,
        "jobs": [{"namespace": "demo", "name": "clean"}],
        "applications": [{"namespace": "demo", "name": "clean"}],
    }


@pytest.mark.parametrize("command", ["show paid.paid", "path amount paid.paid"])
@pytest.mark.parametrize("form", ["tree", "csv", "mermaid", "dot"])
def test_the_expression_is_printed_where_the_event_has_it(
    headwater: Callable[..., Result], tmp_path: Path, command: str, form: str
) -> None:
    (source,) = inputs("/data/orders amount AGGREGATION")
    source["transformations"][0]["description"] = "sum((amount * rate))"
    events = tmp_path / "paid.ndjson"
    events.write_text(json.dumps(event(9, "pay", "/data/paid", lineage([], paid=[source]))))
    headwater("ingest", str(events))
    assert "sum((amount * rate))" in headwater(*command.split(), "-f", form).stdout
