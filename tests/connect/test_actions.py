"""What is read of the requests of a Connect client, and what is refused in words."""

import pyspark
import pytest

from headwater.capture.connect.actions import action, reads
from headwater.capture.connect.plans import Told
from headwater.errors import PlanError
from headwater.plan.text import TextFacts

pytestmark = pytest.mark.skipif(pyspark.__version__ < "4", reason="statements of Spark 3.5 are not read")
proto = pytest.importorskip("pyspark.sql.connect.proto", reason="needs pyspark[connect]")


def statement(query: str) -> "proto.Plan":
    plan = proto.Plan()
    plan.command.sql_command.input.sql.query = query
    return plan


@pytest.mark.parametrize("query", ["INSERT INTO t SELECT 1", "with x as (select 1) insert into t select * from x"])
def test_a_statement_that_may_write_is_an_action(query: str) -> None:
    found = action(statement(query))
    assert found is not None
    assert found.statement


@pytest.mark.parametrize(
    "query", ["SELECT 1", "SHOW TABLES", "CREATE OR REPLACE TEMP VIEW v AS SELECT 1", "CREATE FUNCTION f() RETURN 1"]
)
def test_a_statement_that_writes_no_dataset_is_none(query: str) -> None:
    assert action(statement(query)) is None


def test_a_write_names_its_target_and_how() -> None:
    plan = proto.Plan()
    write = plan.command.write_operation
    write.input.range.end = 3
    write.path, write.source, write.mode = "/data/out", "parquet", 2
    found = action(plan)
    assert found is not None
    assert (found.command, found.path, found.mode) == ("InsertIntoHadoopFsRelationCommand", "/data/out", "Overwrite")


def test_a_stream_is_told_of_and_not_read() -> None:
    plan = proto.Plan()
    plan.command.write_stream_operation_start.input.range.end = 3
    found = action(plan)
    assert found is not None
    assert found.unread == "write_stream_operation_start"


def test_the_reads_of_a_request_come_in_order() -> None:
    relation = proto.Relation()
    for side, path in ((relation.join.left, "/a"), (relation.join.right, "/b")):
        side.read.data_source.format = "parquet"
        side.read.data_source.paths.append(path)
    assert list(reads(relation)) == [{"paths": ("/a",)}, {"paths": ("/b",)}]


@pytest.mark.parametrize("command", ["MergeIntoCommand", "ReplaceData", "AppendData"])
def test_a_command_whose_text_says_too_little_has_no_lineage_rather_than_a_wrong_one(command: str) -> None:
    with pytest.raises(PlanError, match=f"The text of {command} does not say enough"):
        Told(f"{command} something\n+- LocalRelation [a#1]", TextFacts()).plan()
