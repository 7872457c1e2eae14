"""Laws of extraction that hold for every plan, tried on the recorded plans and on generated ones."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extract.case_file import Case, cases
from tests.extract.recordings import VERSIONS, recorded

from headwater.extract import column_lineage, statement
from headwater.model import ColumnLineage, Subtype
from headwater.plan import decode_document

FRAMES = [(version, case) for version in VERSIONS for case in cases() if case.frame and case.is_for(version)]
Document = dict[str, Any]


def limited(document: Document, root: int) -> None:
    document["nodes"].append(["GlobalLimit", [root], {"child": root}, {}, 1])


def aliased(document: Document, root: int) -> None:
    document["nodes"].append(["SubqueryAlias", [root], {"child": root}, {"identifier": ["t"]}, 1])


def projected(document: Document, root: int) -> None:
    """A projection of every column under the name and id it has already."""
    first = len(document["nodes"])
    for expr_id, name, type_ in document["output"]:
        values = {"id": expr_id, "name": name, "dataType": type_}
        document["nodes"].append(["AttributeReference", [], {}, values])
    columns = list(range(first, len(document["nodes"])))
    document["nodes"].append(["Project", [root], {"projectList": columns, "child": root}, {}, 1])


def unioned(document: Document, root: int) -> None:
    """A union of the result with itself: each value comes from where it came from before."""
    document["nodes"].append(["Union", [root, root], {"children": [root, root]}, {"byName": False}, 1])


WRAPPERS = [limited, aliased, projected, unioned]


@settings(max_examples=60)
@given(which=st.sampled_from(FRAMES), wrappers=st.lists(st.sampled_from(WRAPPERS), min_size=1, max_size=4))
def test_what_changes_no_value_changes_no_lineage(
    which: tuple[str, Case], wrappers: list[Callable[[Document, int], None]]
) -> None:
    document = copy.deepcopy(dict(recorded(*which)))
    before = column_lineage(decode_document(document))
    for wrap in wrappers:
        wrap(document, len(document["nodes"]) - 1)
    assert column_lineage(decode_document(document)) == before


@pytest.mark.parametrize(("version", "case"), FRAMES, ids=str)
def test_every_source_is_a_column_of_a_relation(version: str, case: Case) -> None:
    document = dict(recorded(version, case))
    found, _ = column_lineage(decode_document(document))
    nodes = document["nodes"]
    leaves = [row for row in nodes if len(row) > 4 and not row[1] and "output" in row[2]]
    names = {nodes[place][3]["name"] for row in leaves for place in row[2]["output"]}
    files = [source for row in leaves for source in row[3].get("rdd", {}).get("sources", []) if "paths" in source]
    names |= {name for source in files for name in source.get("columns", ["value"])}
    edges = found.dataset.union(*found.fields.values())
    assert {edge.input.name for edge in edges} <= names


def chain(columns: int, operators: int) -> Document:
    """A relation of some columns below so many projections, each of which adds 1 to the first column."""
    nodes: list[Any] = [["Literal", [], {}, {"value": 1}]]
    here = []
    for place in range(columns):
        nodes.append(["AttributeReference", [], {}, {"id": place, "name": f"c{place}", "dataType": "int"}])
        here.append(len(nodes) - 1)
    nodes.append(["LogicalRelation", [], {"output": list(here)}, {"relation": {"paths": ["file:/data/in"]}}, 1])
    below = len(nodes) - 1
    for step in range(operators):
        nodes.append(["Add", [here[0], 0], {}, {}])
        nodes.append(["Alias", [len(nodes) - 1], {}, {"id": columns + step, "name": "c0", "type": "int"}])
        shown = [len(nodes) - 1, *here[1:]]
        nodes.append(["Project", [below], {"projectList": shown, "child": below}, {}, 1])
        below = len(nodes) - 1
        nodes.append(["AttributeReference", [], {}, {"id": columns + step, "name": "c0", "dataType": "int"}])
        here[0] = len(nodes) - 1
    nodes.append(["SubqueryAlias", [below], {"child": below}, {"identifier": ["t"]}, 1])
    top = columns + operators - 1
    output = [[top, "c0", "int"], *([place, f"c{place}", "int"] for place in range(1, columns))]
    return {"nodes": nodes, "output": output, "session": {}}


def test_a_plan_of_5000_operators_needs_no_recursion() -> None:
    found, gaps = column_lineage(decode_document(json.loads(json.dumps(chain(3, 5_000)))))
    assert kinds(found, "c0") == {(Subtype.TRANSFORMATION, "c0")}
    assert kinds(found, "c2") == {(Subtype.IDENTITY, "c2")}
    assert gaps == ()


def test_an_expression_of_5000_terms_needs_no_recursion() -> None:
    document = chain(2, 1)
    add = next(place for place, row in enumerate(document["nodes"]) if row[0] == "Add")
    nodes = document["nodes"]
    deep: list[Any] = []
    for _ in range(5_000):
        inner = add + len(deep) - 1 if deep else nodes[add][1][0]
        deep.append(["Add", [inner, 0], {}, {}])
    moved = [shift(row, add, len(deep) - 1) for row in nodes[add + 1 :]]
    found, _ = column_lineage(decode_document({**document, "nodes": [*nodes[:add], *deep, *moved]}))
    assert kinds(found, "c0") == {(Subtype.TRANSFORMATION, "c0")}


def shift(row: list[Any], place: int, by: int) -> list[Any]:
    """The row with every reference to ``place`` and beyond moved up."""

    def move(value: Any) -> Any:
        if isinstance(value, list):
            return [move(item) for item in value]
        return value + by if value >= place else value

    return [row[0], move(row[1]), {name: move(value) for name, value in row[2].items()}, *row[3:]]


def test_a_write_that_cannot_be_read_has_a_gap() -> None:
    document = chain(3, 2)
    root = len(document["nodes"]) - 1
    write = {"outputPath": "file:/data/out", "outputColumnNames": 5}
    document["nodes"].append(["InsertIntoHadoopFsRelationCommand", [root], {"query": root}, write, 1])
    found = statement(decode_document(document))
    (output,) = found.outputs
    assert kinds(output.lineage, "c2") == {(Subtype.IDENTITY, "c2")}
    assert {gap.what for gap in found.gaps} == {"InsertIntoHadoopFsRelationCommand", "output"}


def test_an_unknown_operator_gives_conservative_edges_and_a_gap() -> None:
    document = chain(2, 1)
    root = len(document["nodes"]) - 1
    document["nodes"].append(["AttributeReference", [], {}, {"id": 99, "name": "new", "dataType": "int"}])
    unknown = ["com.example.Mystery", [root], {"output": [root + 1]}, {}, 1]
    document["nodes"].append(unknown)
    document["output"] = [[99, "new", "int"]]
    found, gaps = column_lineage(decode_document(document))
    assert kinds(found, "new") == {(Subtype.TRANSFORMATION, "c0"), (Subtype.TRANSFORMATION, "c1")}
    assert all(edge.transformation.opaque for edge in found.fields["new"])
    assert [(gap.kind, gap.what) for gap in gaps] == [("operator", "com.example.Mystery")]


def test_an_expression_that_fails_costs_that_expression() -> None:
    document = chain(2, 1)
    for row in document["nodes"]:
        if row[0] == "Add":
            row[0], row[1] = "CreateNamedStruct", row[1][:1]
            row[3] = {"names": 5}
    found, gaps = column_lineage(decode_document(document))
    assert {edge.transformation.opaque for edge in found.fields["c0"]} == {True}
    assert kinds(found, "c1") == {(Subtype.IDENTITY, "c1")}
    assert [gap.kind for gap in gaps] == ["expression"]


def test_a_query_that_writes_nothing_has_inputs_only() -> None:
    found = statement(decode_document(chain(2, 1)))
    assert [seen.dataset.name for seen in found.inputs] == ["/data/in"]
    assert found.outputs == ()


def kinds(lineage: ColumnLineage, column: str) -> set[tuple[Subtype, str]]:
    return {(edge.transformation.subtype, edge.input.name) for edge in lineage.fields[column]}
