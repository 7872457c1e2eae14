"""The synthetic archives of the bench: in the documented shapes, and folded alike by headwater and by DuckDB."""

import json
from pathlib import Path
from typing import Any

import pytest
from bench.archive import duck
from bench.archive.builds import differences
from bench.archive.events import lines, write
from bench.archive.shapes import EDGES, LAYERS, Shape

from headwater.archive import build, read

SKEWED = Shape(400, runs=8, skew=0.4)


def sources(event: dict[str, Any]) -> list[tuple[str, str]]:
    """The datasets that are read and written, for each edge to a column in an event."""
    (output,) = event["outputs"]
    fields = output["facets"].get("columnLineage", {}).get("fields", {})
    return [(source["name"], output["name"]) for one in fields.values() for source in one["inputFields"]]


def test_archives_have_the_shapes_of_their_parameters() -> None:
    """Layers, hubs, circles, renames, reruns, failures, and 50 edges an event."""
    shape = Shape(2_400, runs=10)
    events = [json.loads(line) for line in lines(shape)]
    pairs = [pair for event in events for pair in sources(event)]
    assert len(events) == pytest.approx(2_400, rel=0.02)
    assert len(pairs) == pytest.approx(2_400 * EDGES, rel=0.02)
    layers = [[name.split("/")[2] for name in pair if name.startswith("/")] for pair in pairs]
    assert len({layer for pair in layers for layer in pair}) == LAYERS
    assert any(pair[0] >= pair[1] for pair in layers if len(pair) == 2), "no dataset is in a cycle"
    assert any(name.endswith("_v2") for pair in pairs for name in pair)
    readers = {name: {to for one, to in pairs if one == name} for name in ("/lake/layer_00/table_00000",)}
    assert len(readers["/lake/layer_00/table_00000"]) > 3
    states = [event["eventType"] for event in events]
    assert 0.005 < states.count("FAIL") / len(states) < 0.02
    assert list(lines(shape)) == list(lines(Shape(2_400, runs=10)))


def test_one_dataset_can_be_in_any_share_of_the_edges() -> None:
    pairs = [pair for line in lines(SKEWED) for pair in sources(json.loads(line))]
    one = max({name for _, name in pairs})
    assert sum(one in pair for pair in pairs) / len(pairs) == pytest.approx(0.4, abs=0.05)
    assert 0.15 < sum(pair[0] == one for pair in pairs) / len(pairs) < 0.25


@pytest.mark.spark
def test_headwater_and_duckdb_make_the_same_edges_where_one_dataset_is_in_many(spark: Any, tmp_path: Path) -> None:
    write(SKEWED, tmp_path / "events")
    steps: list[str] = []
    duck.build(tmp_path / "events", tmp_path / "duck", 1, steps.append)
    build(spark, str(tmp_path / "events"), str(tmp_path / "ours"), format="parquet")
    assert steps == ["lines", "events", "runs", "lineage", "spans", "column_edges", "dataset_edges"]
    found = differences(tmp_path / "ours", tmp_path / "duck")
    assert {name: more for name, (_, *more) in found.items()} == {"column_edges": [0, 0], "dataset_edges": [0, 0]}
    edges = read(spark, str(tmp_path / "ours"), format="parquet").column_edges
    assert edges.where("NOT current").count() > 0
    assert edges.agg({"runs": "max"}).first()[0] > 8, "the one dataset is written more often than once an hour"
