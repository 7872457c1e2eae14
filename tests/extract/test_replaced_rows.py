"""Which rows each write replaces, on the plans that Spark, Delta, Iceberg and Hudi made of the cases."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.extract.recordings import FOLDER, read_plans

from headwater.extract import ExtractSettings, statement
from headwater.extract.replaced_rows import RULES
from headwater.extract.writes import WRITES
from headwater.model import ReplacedRows
from headwater.plan import decode, decode_document

ALL, SOME = ReplacedRows.ALL, ReplacedRows.SOME


def replaced(document: Mapping[str, Any]) -> list[ReplacedRows | None]:
    outputs = statement(decode_document(dict(document)), ExtractSettings()).outputs
    return [output.description.replaces for output in outputs]


@pytest.mark.parametrize(
    ("file", "case", "expected"),
    [
        ("4.1/aggregate", "basic", ALL),  # CREATE TABLE AS
        ("4.1/insert", "by_position", SOME),
        ("4.1/insert", "overwrite", ALL),
        ("4.1/insert", "static_partition", SOME),
        ("4.1/insert", "mixed_partitions", SOME),
        ("4.1/view", "create", ALL),
        ("4.1/view", "alter", ALL),
        ("4.1/write", "parquet_path", ALL),
        ("4.1/write", "insert_directory", ALL),
        ("4.1/write", "save_as_table", ALL),
        ("4.1/write", "one_partition_path", SOME),
        ("4.1/write", "dated_path", SOME),
        ("4.1/write", "append_by_name", SOME),
        ("4.1/rdd", "saved_as_json", SOME),
        ("formats/delta", "create", ALL),
        ("formats/delta", "replace_table", ALL),
        ("formats/delta", "clone", ALL),
        ("formats/delta", "delete_all", ALL),
        ("formats/delta", "delete", SOME),
        ("formats/delta", "update", SOME),
        ("formats/delta", "merge_upsert", SOME),
        ("formats/delta", "overwrite_dynamic", SOME),
        ("formats/delta", "overwrite_dynamic_path", SOME),
        ("formats/delta", "overwrite_dynamic_session", SOME),
        ("formats/delta", "overwrite_partitions", SOME),
        ("formats/delta", "overwrite_schema", ALL),
        ("formats/delta", "replace_where", SOME),
        ("formats/delta", "replace_where_path", SOME),
        ("formats/delta", "replace_where_table", SOME),
        ("formats/delta", "path_append", SOME),
        ("formats/delta", "insert_by_position", SOME),
        ("formats/delta", "restored", SOME),
        ("formats/iceberg", "create", ALL),
        ("formats/iceberg", "replace_table", ALL),
        ("formats/iceberg", "delete_all", ALL),
        ("formats/iceberg", "delete_copy_on_write", SOME),
        ("formats/iceberg", "merge_on_read", SOME),
        ("formats/iceberg", "dynamic_overwrite", SOME),
        ("formats/iceberg", "overwrite_static", SOME),
        ("formats/iceberg", "overwrite_where", SOME),
        ("formats/iceberg", "add_files_path", SOME),
        ("formats/hudi", "create", ALL),
        ("formats/hudi", "delete", SOME),
        ("formats/hudi", "insert", SOME),
        ("formats/hudi", "overwrite_partition", SOME),
        ("formats/hudi", "merge", SOME),
        ("formats/hudi", "frame", ALL),
    ],
)
def test_a_write_says_which_rows_it_replaces(file: str, case: str, expected: ReplacedRows) -> None:
    (found,) = replaced(read_plans(FOLDER / f"{file}.jsonl.gz")[case])
    assert found is expected


def table(**more: Any) -> dict[str, Any]:
    return {"identifier": ["spark_catalog", "default", "out"], "location": "file:/wh/out", "kind": "MANAGED", **more}


OVER_JDBC = table(provider="jdbc", options={"url": "jdbc:postgresql://host/db", "dbtable": "sales.out"})


def plan(name: str, values: Mapping[str, Any], condition: object = None, over: Mapping[str, Any] | None = None) -> str:
    """A command over one row, with a table of the v2 API and a condition where one is given."""
    nodes: list[Any] = [
        ["AttributeReference", [], {}, {"name": "id", "dataType": "int", "id": 1}],
        ["LocalRelation", [], {"output": [0]}, {}, 1],
        ["DataSourceV2Relation", [], {"output": [0]}, over or {"identifier": {"parts": ["d", "out"]}}, 1],
        ["Literal", [], {}, {"value": condition}],
    ]
    references = {"query": 1, "table": 2, "deleteExpr": 3, "condition": 3, "partitionColumns": [0]}
    if not values.get("partitioned"):
        del references["partitionColumns"]
    if condition is None:
        del references["deleteExpr"], references["condition"]
    if name not in ("OverwriteByExpression", "DeleteFromTable", "DeleteCommand", "ReplaceTableAsSelect"):
        del references["table"]
    children = [2] if name == "DeleteFromTable" else [1]
    return json.dumps({"nodes": [*nodes, [name, children, references, dict(values), 1]]})


@pytest.mark.parametrize(("case", "version"), [("delta/restored", "0"), ("iceberg/rolled_back", "")])
def test_a_statement_that_restores_says_the_version_where_the_plan_has_it(case: str, version: str) -> None:
    """A plan of CALL that was recorded by an older headwater has no number of a snapshot."""
    file, name = case.split("/")
    document = read_plans(FOLDER / f"formats/{file}.jsonl.gz")[name]
    (output,) = statement(decode_document(dict(document)), ExtractSettings()).outputs
    assert output.restores == version


def files(**values: Any) -> tuple[str, dict[str, Any]]:
    return "InsertIntoHadoopFsRelationCommand", {"outputPath": "file:/lake/out", "mode": "Overwrite", **values}


def source(options: Mapping[str, Any], **values: Any) -> tuple[str, dict[str, Any]]:
    return "SaveIntoDataSourceCommand", {"mode": "Overwrite", "options": options, **values}


JDBC = {"url": "jdbc:postgresql://db/shop", "dbtable": "out", "password": None}
DELTA = {"dataSource": {"class": "DeltaDataSource"}, "sink": {"path": "/lake/out", "version": "1", "partitions": ["p"]}}
HUDI = {"dataSource": {"class": "org.apache.hudi.BaseDefaultSource"}}
PATH = {"path": "/lake/out"}
BRANCH = {"table": {"provider": "iceberg", "version": "branch_w1_snapshot_1"}, "identifier": {"parts": ["d", "out"]}}


Command = tuple[str, dict[str, Any]]
COMMANDS: list[tuple[str, Command, object, Mapping[str, Any] | None, ReplacedRows]] = [
    ("a folder", files(), None, None, ALL),
    ("a new folder", files(mode="ErrorIfExists"), None, None, ALL),
    ("a folder that is left alone", files(mode="Ignore"), None, None, SOME),
    ("a partition's folder", files(outputPath="file:/lake/out/dt=2026-01-01"), None, None, SOME),
    ("partitions, statically", files(partitioned=True, dynamicPartitions=False), None, None, ALL),
    ("partitions, dynamically", files(partitioned=True, dynamicPartitions=True), None, None, SOME),
    ("dynamic, without partitions", files(dynamicPartitions=True), None, None, ALL),
    ("a static partition", files(staticPartitions={"p": "1"}), None, None, SOME),
    (
        "a table's partitions by an option",
        files(partitioned=True, options={"partitionOverwriteMode": None}),
        None,
        None,
        SOME,
    ),
    ("JDBC", source(JDBC), None, None, ALL),
    ("JDBC append", source(JDBC, mode="Append"), None, None, SOME),
    ("JDBC insert overwrite", ("InsertIntoDataSourceCommand", {"overwrite": True}), None, None, ALL),
    ("Delta by path", source(PATH, **DELTA), None, None, ALL),
    ("Delta dynamic", source(PATH, **DELTA, dynamicPartitions=True), None, None, SOME),
    ("Delta replaceWhere", source({**PATH, "replaceWhere": None}, **DELTA), None, None, SOME),
    ("a day's folder of Delta", source({"path": "/lake/out/2026-01-01"}, **DELTA), None, None, SOME),
    ("Hudi", source(PATH, **HUDI), None, None, ALL),
    ("Hudi's operation", source({**PATH, "hoodie.datasource.write.operation": None}, **HUDI), None, None, SOME),
    ("a source nobody knows", source({"path": "/x"}), None, None, ALL),
    ("a part of it", source({"path": "/x", "datePartition": None}), None, None, SOME),
    ("its append by the default mode", source({"path": "/x"}, mode="ErrorIfExists"), None, None, SOME),
    ("RTAS with replaceWhere", ("ReplaceTableAsSelect", {"partial": True}), None, None, SOME),
    ("v2 overwrite", ("OverwriteByExpression", {}), True, None, ALL),
    ("v2 overwrite of a predicate", ("OverwriteByExpression", {}), 1, None, SOME),
    ("v2 overwrite of a branch", ("OverwriteByExpression", {}), True, BRANCH, SOME),
    ("DELETE", ("DeleteFromTable", {}), True, None, ALL),
    ("DELETE of a branch", ("DeleteFromTable", {}), True, BRANCH, SOME),
    ("DELETE with a condition", ("DeleteFromTable", {}), 5, None, SOME),
    ("Hive insert", ("InsertIntoHiveTable", {"table": table(), "overwrite": True}), None, None, ALL),
    (
        "Hive partition",
        ("InsertIntoHiveTable", {"table": table(), "overwrite": True, "partition": {"p": "1"}}),
        None,
        None,
        SOME,
    ),
    ("Hive append", ("InsertIntoHiveTable", {"table": table(), "overwrite": False}), None, None, SOME),
    ("CTAS if not exists", ("CreateTableAsSelect", {"ignoreIfExists": True}), None, None, SOME),
    ("TRUNCATE", ("TruncateTableCommand", {"changed": table()}), None, None, ALL),
    (
        "TRUNCATE of a partition",
        ("TruncateTableCommand", {"changed": table(), "emptied": {"p": "1"}}),
        None,
        None,
        SOME,
    ),
    ("DROP", ("DropTableCommand", {"changed": table()}), None, None, ALL),
    ("DROP of an external table", ("DropTableCommand", {"changed": table(kind="EXTERNAL")}), None, None, SOME),
    ("CREATE of a table", ("CreateTable", {"changed": table()}), None, None, ALL),
    ("CREATE over JDBC", ("CreateDataSourceTableCommand", {"changed": OVER_JDBC}), None, None, SOME),
    ("DROP of a table over JDBC", ("DropTableCommand", {"changed": OVER_JDBC}), None, None, SOME),
    ("CREATE over files", ("CreateTable", {"changed": table(kind="EXTERNAL")}), None, None, SOME),
    ("REPLACE of a table", ("ReplaceTable", {"changed": table(kind="EXTERNAL")}), None, None, ALL),
    (
        "a stream in complete mode",
        ("WriteToStream", {"sink": {"path": "/lake/out"}, "outputMode": "Complete"}),
        None,
        None,
        SOME,
    ),
    ("Connect: DELETE", ("RowChange", {"tableDesc": table(), "deletesAll": True}), None, None, ALL),
    ("Connect: DELETE of some", ("RowChange", {"tableDesc": table()}), None, None, SOME),
    (
        "Connect: writeTo.overwrite",
        ("SaveAsV1TableCommand", {"tableDesc": table(), "mode": "Overwrite", "partial": True}),
        None,
        None,
        SOME,
    ),
    ("LOAD DATA", ("LoadDataCommand", {"changed": table(), "files": "/in"}), None, None, SOME),
    (
        "LOAD DATA OVERWRITE",
        ("LoadDataCommand", {"changed": table(), "files": "/in", "isOverwrite": True}),
        None,
        None,
        ALL,
    ),
]


@pytest.mark.parametrize(
    ("command", "condition", "over", "expected"), [pytest.param(*one[1:], id=one[0]) for one in COMMANDS]
)
def test_a_command_says_which_rows_it_replaces(
    command: Command, condition: object, over: Mapping[str, Any] | None, expected: ReplacedRows
) -> None:
    outputs = statement(decode(plan(*command, condition, over))).outputs
    assert [output.description.replaces for output in outputs] == [expected]


def test_an_alteration_neither_writes_nor_ends_rows() -> None:
    values = {"changed": table(), "columns": [{"name": "id", "type": "int"}]}
    (output,) = statement(decode(plan("AlterTableAddColumnsCommand", values))).outputs
    assert output.description.replaces is None


def test_every_rule_is_that_of_a_command() -> None:
    assert sorted(RULES.keys() - WRITES.keys()) == []
