"""Rows, bytes and files that a run read and wrote: Spark's own counts, at the datasets that they are of."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.capture.conftest import SPARK, Jobs

from headwater.capture.rows import ExecutionRow, Scan
from headwater.capture.runs.statistics import with_statistics
from headwater.model import ColumnLineage, Dataset, DatasetDescription, Output, Statement, Statistics

NOW = datetime(2026, 1, 1, tzinfo=UTC)
JOB = """
items = items.union(items)
items.write.parquet("lake/items/2026-01-01")
spark.range(4).selectExpr("id", "id % 2 AS k").write.mode("append").parquet("lake/items/2026-01-02")
found = spark.read.parquet("lake/items/*").alias("a").join(spark.read.parquet("lake/items/2026-01-01").alias("b"), "id")
found.where("id > 0").selectExpr("id").write.json("lake/found")
spark.sql("CREATE TABLE kept (id BIGINT, price BIGINT) USING parquet PARTITIONED BY (price)")
spark.sql("INSERT INTO kept SELECT id, price FROM parquet.`lake/items/2026-01-01`")
spark.read.json("lake/found").cache().createOrReplaceTempView("cached")
spark.sql("SELECT * FROM cached").count()
spark.sql("CREATE TABLE of_cache USING parquet AS SELECT * FROM cached WHERE id IN (SELECT id FROM kept)")
"""


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, tuple[Any, ...]]]:
    """By output: the counts of each dataset of the run that ended, as (rows, files)."""
    jobs = Jobs(tmp_path_factory.mktemp("statistics"))
    jobs.write(SPARK + JOB)
    ended = jobs.watched("job.py")
    assert ended.code == 0, ended.err
    found: dict[str, dict[str, tuple[Any, ...]]] = {}
    for event in jobs.events():
        if event["eventType"] == "COMPLETE" and event["outputs"]:
            name = event["outputs"][0]["name"].rpartition("/")[2]
            found[name] = {
                **{
                    one["name"].rpartition("/")[2]: _of(one, "inputFacets", "inputStatistics")
                    for one in event["inputs"]
                },
                "written": _of(event["outputs"][0], "outputFacets", "outputStatistics"),
            }
    return found


def _of(dataset: dict[str, Any], facets: str, name: str) -> tuple[Any, ...]:
    facet = dataset.get(facets, {}).get(name)
    if facet is None:
        return ()
    assert facet.get("size", 1) > 0
    return facet.get("rowCount"), facet.get("fileCount")


@pytest.mark.spark
def test_scans_of_one_dataset_are_added_up(counts: dict[str, dict[str, tuple[Any, ...]]]) -> None:
    rows_of_both_days, rows_of_the_first = 6 + 4, 6
    assert counts["found"]["items"][0] == rows_of_both_days + rows_of_the_first


@pytest.mark.spark
def test_a_write_is_counted_in_rows_and_files(counts: dict[str, dict[str, tuple[Any, ...]]]) -> None:
    assert counts["kept"] == {"items": (6, counts["kept"]["items"][1]), "written": (6, 3)}


@pytest.mark.spark
def test_the_rows_of_a_cache_are_not_read_again(counts: dict[str, dict[str, tuple[Any, ...]]]) -> None:
    assert counts["of_cache"]["found"] == ()
    assert counts["of_cache"]["kept"][0] == 6


def described(*names: str) -> tuple[DatasetDescription, ...]:
    return tuple(DatasetDescription(Dataset("file", name)) for name in names)


def test_a_scan_is_of_the_nearest_input_above_its_paths() -> None:
    statement = Statement(described("/lake", "/lake/t"))
    row = ExecutionRow("end", 1, NOW, scans=(Scan(("file:/lake/t/day=1", "file:/lake/t/day=2"), Statistics(5, 70, 2)),))
    assert [seen.statistics for seen in with_statistics(statement, row).inputs] == [None, Statistics(5, 70, 2)]


@pytest.mark.parametrize("paths", [("file:/lake/t", "file:/lake/u"), ("file:/lake/t/_delta_log",), ("file:/other",)])
def test_a_scan_of_no_single_input_counts_for_none(paths: tuple[str, ...]) -> None:
    statement = Statement(described("/lake/t", "/lake/u"))
    row = ExecutionRow("end", 1, NOW, scans=(Scan(paths, Statistics(5)),))
    assert [seen.statistics for seen in with_statistics(statement, row).inputs] == [None, None]


def test_the_count_of_a_write_is_not_divided_between_outputs() -> None:
    outputs = tuple(Output(seen, ColumnLineage()) for seen in described("/a", "/b"))
    statement = with_statistics(Statement((), outputs), ExecutionRow("end", 1, NOW, written=Statistics(5)))
    assert [output.description.statistics for output in statement.outputs] == [None, None]


def test_a_commit_of_iceberg_counts_what_was_added() -> None:
    report = json.dumps({"snapshotId": 7, "commitMetrics": {"addedRecords": 3, "addedDataFiles": 1, "totalRecords": 9}})
    statement = Statement((), (Output(described("/a")[0], ColumnLineage()),))
    found = with_statistics(statement, ExecutionRow("end", 1, NOW, written=Statistics(8), commit=report)).outputs[0]
    assert found.description.statistics == Statistics(3, 0, 1)
    assert [(facet.name, facet.of) for facet in found.description.facets] == [("icebergCommitReport", "output")]
