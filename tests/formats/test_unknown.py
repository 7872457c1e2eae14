"""Formats that headwater does not know: what can be known is an edge, the rest is a gap."""

from typing import Any

from headwater.extract import statement
from headwater.model import Statement
from headwater.plan import decode_document

COLUMN = ["AttributeReference", [], {}, {"id": 1, "name": "a", "dataType": "int"}]
FILES = ["LogicalRelation", [], {"output": [0]}, {"relation": {"paths": ["file:/data/in"]}}, 1]


def read(*nodes: Any) -> Statement:
    return statement(decode_document({"nodes": list(nodes)}))


def test_a_command_of_a_new_connector_has_the_columns_of_its_query() -> None:
    table = {"table": {"identifier": ["db", "t"], "location": "file:/lake/t"}}
    found = read(COLUMN, FILES, ["org.new.lake.InsertIntoLakeCommand", [1], {"query": 1}, table, 1])
    ((output,), (gap,)) = found.outputs, found.gaps
    assert output.description.dataset.name == "/lake/t"
    assert [edge.input.dataset.name for edge in output.lineage.fields["a"]] == ["/data/in"]
    assert (gap.kind, gap.what) == ("operator", "org.new.lake.InsertIntoLakeCommand")


def test_a_target_that_cannot_be_named_is_a_gap() -> None:
    found = read(COLUMN, FILES, ["org.new.lake.WriteLakeCommand", [1], {"query": 1}, {}, 1])
    assert [output.description.dataset.name for output in found.outputs] == ["unknown"]
    assert {gap.kind for gap in found.gaps} == {"operator", "target"}


def test_a_relation_that_says_no_place_is_a_gap() -> None:
    relation = ["LogicalRelation", [], {"output": [0]}, {"relation": {"class": "org.new.lake.LakeRelation"}}, 1]
    found = read(COLUMN, relation, ["SaveIntoDataSourceCommand", [1], {"query": 1}, {"options": {"path": "/out"}}, 1])
    assert list(found.outputs[0].lineage.fields.values()) == [frozenset()]
    assert [(gap.kind, gap.what) for gap in found.gaps] == [("relation", "org.new.lake.LakeRelation")]


def test_a_command_without_a_query_writes_nothing_that_is_known() -> None:
    assert read(["org.new.lake.CompactLakeCommand", [], {}, {}, 1]).outputs == ()
