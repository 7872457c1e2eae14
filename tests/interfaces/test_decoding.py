"""Answers of an operator as the JVM side writes them, read without a JVM."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater.extract import statement
from headwater.model import Dataset, Statement
from headwater.plan import decode_document

READ = ["AttributeReference", [], {}, {"id": 1, "name": "a", "dataType": "int"}]
MADE = ["AttributeReference", [], {}, {"id": 2, "name": "b", "dataType": "int"}]
FILES = ["LogicalRelation", [], {"output": [0]}, {"relation": {"paths": ["file:/data/in"]}}, 1]
TABLE = {"namespace": "lake://acme", "name": "t"}
COMMAND = "org.acme.Push"


def read(answers: dict[str, Any], delegates: list[int | None] | None = None) -> Statement:
    """The statement of a command that writes such an operator above files; its columns are 1, read, and 2, made."""
    unknown = ["org.acme.Make", [2], {"output": [1], "openlineage": delegates or []}, {"openlineage": answers}, 1]
    outputs = {"openlineage": {"outputs": [{"dataset": {"namespace": "lake://acme", "name": "out"}}]}}
    nodes = [READ, MADE, FILES, unknown, [COMMAND, [], {"query": 3}, outputs, 1]]
    return statement(decode_document({"nodes": nodes}))


def edges(found: Statement) -> dict[str, set[str]]:
    return {
        name: {f"{edge.input.dataset.name}.{edge.input.name} {edge.transformation.subtype.value}" for edge in edges}
        for name, edges in found.outputs[0].lineage.fields.items()
    }


def test_dependencies_by_expr_id_and_by_expression() -> None:
    by_id = read({"dependencies": [{"output": 2, "inputs": [1]}]})
    by_expression = read({"dependencies": [{"output": 2, "delegate": 0}]}, [0])
    assert edges(by_id) == {"b": {"/data/in.a TRANSFORMATION"}}
    assert edges(by_expression) == {"b": {"/data/in.a IDENTITY"}}
    assert (by_id.gaps, by_expression.gaps) == ((), ())


def test_a_dataset_that_is_listed_twice_is_decoded_once() -> None:
    found = read(
        {
            "inputs": [{"dataset": TABLE, "facets": '{"acme": {"kept": true}}'}],
            "fieldsRead": [{"dataset": TABLE, "field": "stored", "id": 7}],
            "dependencies": [{"output": 2, "inputs": [7]}],
        }
    )
    assert edges(found) == {"b": {"t.stored TRANSFORMATION"}}
    (seen,) = (one for one in found.inputs if one.dataset == Dataset("lake://acme", "t"))
    assert [facet.name for facet in seen.facets] == ["acme"]


def test_empty_lists_add_nothing() -> None:
    found = read({"inputs": [], "fieldsRead": [], "fieldsWritten": [], "dependencies": []})
    assert [(gap.kind, gap.what) for gap in found.gaps] == [("operator", "org.acme.Make")]
    assert edges(found) == {"b": {"/data/in.a TRANSFORMATION"}}


def test_facets_that_are_no_object_are_a_gap() -> None:
    found = read({"inputs": [{"dataset": TABLE, "facets": "[1]"}], "dependencies": [{"output": 2, "inputs": [1]}]})
    assert [(gap.kind, gap.why) for gap in found.gaps] == [("extension", "the facets that it gave are no JSON object")]


def test_a_rule_of_headwater_overrides_the_operators_answer() -> None:
    project = [
        "Project",
        [1],
        {"projectList": [0]},
        {"openlineage": {"dependencies": [{"output": 1, "inputs": []}]}},
        1,
    ]
    save = ["SaveIntoDataSourceCommand", [2], {"query": 2}, {"options": {"path": "/out"}}, 1]
    assert edges(statement(decode_document({"nodes": [READ, FILES, project, save]}))) == {"a": {"/data/in.a IDENTITY"}}


VALUES = st.recursive(st.none() | st.integers(-3, 9) | st.text(max_size=4), lambda inner: st.lists(inner, max_size=3))
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "dataset": st.dictionaries(st.sampled_from(["namespace", "name", "symlinks"]), VALUES),
        "delegate": st.integers(0, 3),
        "field": st.text(max_size=3),
        "id": st.integers(-3, 9),
        "output": st.integers(-3, 9),
        "inputs": st.lists(st.integers(-3, 9), max_size=3),
        "facets": st.text(max_size=6),
    },
)
ANSWERS = st.dictionaries(
    st.sampled_from(["inputs", "outputs", "fieldsRead", "fieldsWritten", "dependencies"]), st.lists(PARTS, max_size=3)
)


@given(ANSWERS, st.lists(st.sampled_from([None, 0, 1, 2]), max_size=3))
def test_whatever_a_connector_answers_the_rest_of_the_statement_stands(
    answers: dict[str, Any], delegates: list[int | None]
) -> None:
    found = read(answers, delegates)
    assert [output.description.dataset.name for output in found.outputs if output.description.dataset.name == "out"]
