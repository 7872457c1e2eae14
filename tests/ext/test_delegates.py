"""Operators that stand for what is written: only what nothing reads is left out of what is read."""

from collections.abc import Sequence

import pytest
from tests.ext.extensions import extended, extension
from tests.ext.handmade import Node, column, edges, expression, files, operator, plan

from headwater.ext import DatasetDescription, InputRelation, Operator, OperatorVisitor, OutputRelation
from headwater.extract import statement
from headwater.model import Dataset, Output, Statement

A = column(1, "a")
TABLE = (A, files("t", 0))
BY_JVM = {"openlineage": {"outputs": [{"delegate": 0}]}}


class Write(OperatorVisitor):
    """A command that writes to the operator in its field ``table``, and may read it."""

    classes = ("org.acme.Write",)

    def __init__(self, *, reads: bool = False) -> None:
        self.reads = reads

    def inputs(self, node: Operator) -> Sequence[InputRelation]:
        target = node.operator("table")
        return [InputRelation(target)] if self.reads and target else []

    def outputs(self, node: Operator) -> Sequence[OutputRelation]:
        target = node.operator("table")
        return [OutputRelation(target)] if target else []


def written(found: Statement) -> Output:
    (output,) = found.outputs
    assert output.description.dataset == Dataset("file", "/t")
    return output


def assert_read(found: Statement, fields: dict[str, set[str]]) -> None:
    assert edges(written(found)) == fields
    assert [seen.dataset for seen in found.inputs] == [Dataset("file", "/t")]
    assert found.gaps == ()


SELF = {
    "alias": (*TABLE, operator("SubqueryAlias", 1), operator("Project", 2, projectList=[0]), 3, 2),
    "relation": (*TABLE, operator("SubqueryAlias", 1), operator("Project", 2, projectList=[0]), 3, 1),
    "below the alias": (*TABLE, operator("SubqueryAlias", 1), operator("Project", 1, projectList=[0]), 3, 2),
    "itself": (*TABLE, operator("SubqueryAlias", 1), 2, 2),
    "aliases": (
        *TABLE,
        operator("SubqueryAlias", 1),
        operator("SubqueryAlias", 2),
        operator("Project", 2, projectList=[0]),
        4,
        3,
    ),
}


@pytest.mark.parametrize("by", ["python", "jvm"])
@pytest.mark.parametrize("name", SELF)
def test_a_target_that_its_query_reads_too_is_read(name: str, by: str) -> None:
    *nodes, query, table = SELF[name]
    references = {"query": query, "table": table}
    if by == "python":
        command = operator("org.acme.Write", **references)
        found = extended(plan(*nodes, command), extension(operators=(Write(),)))
    else:
        command = operator("org.acme.Write", **references, openlineage=[table], values=BY_JVM)
        found = statement(plan(*nodes, command))
    assert_read(found, {"a": {"t.a IDENTITY"}, "*": set()})


class Named(OperatorVisitor):
    """A command that writes one field by name, and the columns of its query."""

    classes = ("org.acme.Write",)

    def outputs(self, node: Operator) -> Sequence[OutputRelation]:
        query = node.operator("query")
        assert query is not None
        return [OutputRelation(DatasetDescription(Dataset("file", "/t")), (("k", 1),), columns_of=(query,))]


def test_the_columns_of_an_operator_are_written_beside_a_field() -> None:
    command = operator("org.acme.Write", query=1)
    found = extended(plan(*TABLE, command), extension(operators=(Named(),)))
    assert edges(written(found)) == {"k": {"t.a IDENTITY"}, "a": {"t.a IDENTITY"}, "*": set()}
    assert found.gaps == ()


def other(*more: Node) -> tuple[Node, ...]:
    return (*TABLE, operator("SubqueryAlias", 1), column(2, "b"), files("in", 3), *more)


def test_a_target_that_nothing_reads_is_no_input() -> None:
    command = operator("org.acme.Write", query=4, table=2)
    found = extended(plan(*other(command)), extension(operators=(Write(),)))
    assert edges(written(found)) == {"b": {"in.b IDENTITY"}, "*": set()}
    assert [seen.dataset for seen in found.inputs] == [Dataset("file", "/in")]


def test_a_target_that_a_subquery_reads_is_read() -> None:
    subquery = ["ScalarSubquery", [], {"plan": 2}, {}]
    condition = expression("EqualTo", 3, 5)
    filtered = operator("Filter", 4, condition=6)
    command = operator("org.acme.Write", query=7, table=2)
    found = extended(plan(*other(subquery, condition, filtered, command)), extension(operators=(Write(),)))
    assert edges(written(found))["*"] == {"in.b FILTER", "t.a FILTER"}


def test_a_target_among_the_inputs_is_read() -> None:
    command = operator("org.acme.Write", table=2)
    found = extended(plan(*TABLE, operator("SubqueryAlias", 1), command), extension(operators=(Write(reads=True),)))
    assert [seen.dataset for seen in found.inputs] == [Dataset("file", "/t")]
