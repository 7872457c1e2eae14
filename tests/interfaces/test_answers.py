"""Answers of connectors about columns and rows become lineage, read without a JVM."""

from typing import Any

import pytest
from tests.ext.handmade import Node, column, edges, files, operator, plan, saved

from headwater.extract import statement
from headwater.model import Statement

TABLE = {"namespace": "lake://acme", "name": "t"}
OUT = {"dataset": {"namespace": "lake://acme", "name": "out"}}
A, B, V = column(1, "a"), column(2, "b"), column(7, "v")
OPAQUE = {"in.a TRANSFORMATION opaque", "in.b TRANSFORMATION opaque"}
UNSEEN = {"in.a FILTER opaque", "in.b FILTER opaque"}


def field(name: str, key: int) -> dict[str, Any]:
    return {"dataset": TABLE, "field": name, "id": key}


def made(answers: dict[str, Any], *, leaf: bool = False, delegates: tuple[int | None, ...] = ()) -> Statement:
    """The statement of an operator with these answers: ``v`` (7) of ``a`` (1) and ``b`` (2), of nothing for a leaf."""
    below = () if leaf else (2,)
    node = operator("org.acme.Make", *below, output=[3], openlineage=list(delegates), values={"openlineage": answers})
    return statement(saved(A, B, files("in", 0, 1), V, node))


def fields(found: Statement) -> dict[str, set[str]]:
    return edges(found.outputs[0])


def whys(found: Statement) -> list[str]:
    return [gap.why for gap in found.gaps if gap.kind == "extension"]


def test_every_received_column_may_decide_on_rows_because_the_interfaces_cannot_say() -> None:
    dependencies = {"dependencies": [{"output": 7, "inputs": [1]}]}
    assert fields(made(dependencies)) == {"v": {"in.a TRANSFORMATION"}, "*": {"in.b FILTER opaque"}}
    assert made(dependencies).gaps == ()
    nothing = {"dependencies": [{"output": 7, "inputs": []}]}
    assert fields(made(nothing)) == {"v": set(), "*": UNSEEN}


def test_a_command_with_dependencies_may_leave_rows_of_its_query_out() -> None:
    answers = {
        "outputs": [OUT],
        "fieldsWritten": [{"field": "k", "id": 9}],
        "dependencies": [{"output": 9, "inputs": [1]}],
    }
    command = operator("org.acme.Push", query=2, values={"openlineage": answers})
    found = statement(plan(A, B, files("in", 0, 1), command))
    assert fields(found) == {"k": {"in.a TRANSFORMATION"}, "*": {"in.b FILTER opaque"}}
    assert found.gaps == ()


def test_the_rows_of_a_leaf_are_those_of_what_it_reads() -> None:
    leaf = {"fieldsRead": [field("x", 7)], "dependencies": []}
    assert fields(made(leaf, leaf=True)) == {"v": {"t.x IDENTITY"}, "*": set()}


def test_of_two_fields_behind_one_expr_id_each_may_be_it() -> None:
    answers = {"fieldsRead": [field("x", 7), field("y", 7), field("z", 9)], "dependencies": []}
    found = made(answers, leaf=True)
    assert fields(found) == {"v": {"t.x IDENTITY", "t.y IDENTITY"}, "*": set()}
    (seen,) = (one for one in found.inputs if one.dataset.name == "t")
    assert [one.name for one in seen.schema] == ["x", "y", "z"]


@pytest.mark.parametrize("inputs", [[], [{"dataset": TABLE}], [{"dataset": TABLE}, {"dataset": TABLE}]])
def test_a_dataset_that_is_named_twice_has_all_its_fields(inputs: list[dict[str, Any]]) -> None:
    found = made({"inputs": inputs, "fieldsRead": [field("x", 7)]}, leaf=True)
    assert fields(found) == {"v": {"t.x IDENTITY"}, "*": set()}
    assert [one.dataset.name for one in found.inputs].count("t") == 1


def test_a_dataset_without_fields_is_its_columns_by_name_for_a_leaf_only() -> None:
    answers = {"inputs": [{"dataset": TABLE}]}
    assert fields(made(answers, leaf=True)) == {"v": {"t.v IDENTITY"}, "*": set()}
    found = made({**answers, "dependencies": [{"output": 8, "inputs": [1]}]})
    assert fields(found)["v"] == OPAQUE
    assert "no field of t was named" in [gap.why for gap in found.gaps][-1]


def pushed(answers: list[dict[str, Any]], *delegates: int | None) -> Statement:
    """The statement of a command with these answers about its fields; its query puts out ``a`` and ``b``."""
    values = {"openlineage": {"outputs": [OUT], "fieldsWritten": answers}}
    command = operator("org.acme.Push", query=2, openlineage=list(delegates), values=values)
    other: tuple[Node, ...] = (V, files("other", 3))
    return statement(plan(A, B, files("in", 0, 1), *other, command))


def test_the_columns_of_a_delegate_are_written_beside_named_fields() -> None:
    found = pushed([{"field": "k", "id": 1}, {"delegate": 0}], 2)
    assert fields(found) == {"k": {"in.a IDENTITY"}, "a": {"in.a IDENTITY"}, "b": {"in.b IDENTITY"}, "*": set()}
    assert found.gaps == ()
    other = pushed([{"field": "k", "id": 1}, {"delegate": 0}], 4)
    assert fields(other) == {"k": {"in.a IDENTITY"}, "v": {"other.v IDENTITY"}, "*": set()}


def test_columns_of_a_delegate_that_cannot_be_known_are_those_of_the_query() -> None:
    found = pushed([{"field": "k", "id": 1}, {"delegate": 0}], None)
    assert fields(found).keys() == {"k", "a", "b", "*"}
    assert whys(found) == ["it delegated to itself, or to what contains it"]


def test_a_field_without_a_column_may_go_by_an_id_that_the_connector_made_up() -> None:
    found = made({"fieldsRead": [field("rate", -100)], "dependencies": [{"output": 7, "inputs": [1, 2, -100]}]})
    assert fields(found) == {"v": {"in.a TRANSFORMATION", "in.b TRANSFORMATION", "t.rate TRANSFORMATION"}, "*": set()}
    assert found.gaps == ()


BAD = [-1, -2, True, None, "1"]


@pytest.mark.parametrize("bad", BAD)
def test_a_dependency_upon_what_is_no_expr_id_is_one_upon_everything(bad: object) -> None:
    found = made({"fieldsRead": [field("x", 9)], "dependencies": [{"output": 7, "inputs": [bad]}]})
    assert fields(found)["v"] == {*OPAQUE, "t.x TRANSFORMATION opaque"}
    assert whys(found) == [f"it names the exprId {bad!r}, which no column can have: every input column counts"]


@pytest.mark.parametrize("bad", BAD)
def test_a_dependency_without_an_expr_id_may_be_of_any_column(bad: object) -> None:
    found = made({"dependencies": [{"output": 7, "inputs": [1]}, {"output": bad, "inputs": [2]}]})
    assert fields(found)["v"] == {"in.a TRANSFORMATION", *OPAQUE}
    assert len(whys(found)) == 1


@pytest.mark.parametrize("bad", BAD)
def test_a_field_behind_no_expr_id_counts_where_everything_does(bad: object) -> None:
    answers = {
        "fieldsRead": [field("x", 9), {**field("y", 0), "id": bad}],
        "dependencies": [{"output": 7, "inputs": [5]}],
    }
    found = made(answers)
    assert fields(found)["v"] == {*OPAQUE, "t.x TRANSFORMATION opaque", "t.y TRANSFORMATION opaque"}
    assert len(whys(found)) == 1


@pytest.mark.parametrize("bad", BAD)
def test_a_field_that_is_written_from_no_expr_id_may_be_made_of_any_column(bad: object) -> None:
    found = pushed([{"field": "k", "id": bad}])
    assert fields(found) == {"k": OPAQUE, "*": set()}
    assert len(whys(found)) == 1
