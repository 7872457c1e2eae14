"""Operators that headwater has a rule for, described by an extension too: its answers are laid over the rule."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.ext.extensions import VERSION, Answering, extended, extension
from tests.ext.handmade import column, edges, expression, files, operator, saved
from tests.extract.recordings import FOLDER, read_plans

from headwater.ext import (
    EVERY_ROW,
    IDENTITY,
    Dataset,
    DatasetDescription,
    ExpressionDependency,
    InputRelation,
    Operator,
    OperatorVisitor,
    OutputRelation,
    SchemaField,
)
from headwater.extract.extractor import OPERATORS
from headwater.extract.operators import opaque
from headwater.model import Output, Statement
from headwater.plan import Plan, decode_document

SIDE = DatasetDescription(Dataset("db", "side"))


def of_columns(found: Statement) -> tuple[Output, ...]:
    """The outputs of a statement as they are beside extensions: without edges of fields within columns."""
    return tuple(replace(one, nested=None) for one in found.outputs)


def answered(of: Plan, name: str, **answers: Any) -> Statement:
    return extended(of, extension(operators=(Answering(name, **answers),)))


A, B = column(1, "a"), column(2, "b")
TABLE = (A, B, files("in", 0, 1))
SUM = (expression("Add", 0, 1), expression("Alias", 3, id=9, name="s"))
POSITIVE = expression("GreaterThan", 1, 0)

PLANS = {
    "Project": saved(*TABLE, *SUM, operator("Project", 2, projectList=[4])),
    "Filter": saved(*TABLE, POSITIVE, operator("Filter", 2, condition=3)),
    "Sort": saved(*TABLE, expression("SortOrder", 1), operator("Sort", 2, order=[3])),
    "Distinct": saved(*TABLE, operator("Distinct", 2)),
    "Aggregate": saved(
        *TABLE, *SUM, operator("Aggregate", 2, groupingExpressions=[0], aggregateExpressions=[0, 4])
    ),
    "Window": saved(*TABLE, *SUM, operator("Window", 2, windowExpressions=[4])),
    "Join": saved(
        A, files("in", 0), B, files("other", 2), expression("EqualTo", 0, 2),
        operator("Join", 1, 3, condition=4, values={"joinType": "Inner"}),
    ),
    "Union": saved(A, files("in", 0), B, files("other", 2), operator("Union", 1, 3)),
    "SubqueryAlias": saved(*TABLE, operator("SubqueryAlias", 2)),
    "Generate": saved(
        *TABLE, expression("Explode", 0), column(7, "g"), operator("Generate", 2, generator=3, generatorOutput=[4])
    ),
}  # fmt: skip
BY_CLASS = pytest.mark.parametrize("name", PLANS)


def own(found: Statement) -> dict[str, set[str]]:
    """The edges of what the command at the root writes."""
    (output,) = (one for one in found.outputs if one.description.dataset == Dataset("file", "/out"))
    return edges(output)


@BY_CLASS
def test_what_it_writes_beside_changes_nothing_of_its_rows(name: str) -> None:
    without, found = extended(PLANS[name]), answered(PLANS[name], name, outputs=[OutputRelation(SIDE)])
    assert own(without)["*"] or name in ("Project", "Union", "SubqueryAlias", "Window")
    assert (own(found), found.inputs, found.gaps) == (own(without), without.inputs, without.gaps)
    assert [one.description.dataset for one in found.outputs if one.description.dataset == SIDE.dataset]


@BY_CLASS
def test_a_word_about_every_row_comes_beside_what_the_rule_says(name: str) -> None:
    found = answered(PLANS[name], name, dependencies=[ExpressionDependency(EVERY_ROW, (1,))])
    without = own(extended(PLANS[name]))
    assert own(found) == {**without, "*": {*without["*"], *own(found)["*"]}}
    assert "in.a FILTER" in own(found)["*"]
    assert found.gaps == ()


@BY_CLASS
def test_no_word_about_columns_leaves_them(name: str) -> None:
    assert own(answered(PLANS[name], name, dependencies=[])) == own(extended(PLANS[name]))


@BY_CLASS
def test_columns_of_the_answer_override_the_rule_and_the_others_stay(name: str) -> None:
    plan, without = PLANS[name], own(extended(PLANS[name]))
    key, label = {"Project": (9, "s"), "Aggregate": (9, "s"), "Window": (9, "s"), "Generate": (7, "g")}.get(
        name, (1, "a")
    )
    rate = InputRelation(SIDE, {-2: "rate"})
    found = answered(plan, name, inputs=[rate], dependencies=[ExpressionDependency(key, (-2,), IDENTITY)])
    assert own(found) == {**without, label: {"side.rate IDENTITY"}}
    assert SIDE.dataset in {seen.dataset for seen in found.inputs}
    assert found.gaps == ()


@BY_CLASS
def test_a_dataset_that_it_reads_beside_counts_for_all_columns_where_nobody_says_for_which(name: str) -> None:
    beside = InputRelation(DatasetDescription(SIDE.dataset, (SchemaField("k"),)))
    found, without = own(answered(PLANS[name], name, inputs=[beside])), own(extended(PLANS[name]))
    opaque = {"side.k TRANSFORMATION opaque"}
    assert found == {field: many if field == "*" else many | opaque for field, many in without.items()}


class Beside(OperatorVisitor):
    """Every operator that headwater looks into writes something beside, and nothing is said of its columns."""

    classes = tuple(sorted(OPERATORS.keys() - opaque.OPERATORS.keys()))

    def outputs(self, node: Operator) -> Sequence[OutputRelation]:
        return [OutputRelation(SIDE)]

    def dependencies(self, node: Operator) -> Sequence[ExpressionDependency]:
        return ()


@pytest.mark.parametrize("family", sorted(path.name for path in (FOLDER / VERSION).glob("*.gz")))
def test_every_recorded_plan_is_unchanged_by_empty_answers(family: str) -> None:
    for name, document in dict(read_plans(FOLDER / VERSION / family)).items():
        plan = decode_document(dict(document))
        without, found = extended(plan), extended(plan, extension(operators=(Beside(),)), seconds=30.0)
        written = tuple(one for one in found.outputs if one.description.dataset != SIDE.dataset)
        assert (written, found.inputs, {*found.gaps}) == (of_columns(without), without.inputs, {*without.gaps}), name


def test_a_dependency_on_a_column_of_the_rule_is_one_on_its_answer() -> None:
    plan = saved(
        *TABLE, *SUM, expression("Alias", 0, id=10, name="t"), operator("Project", 2, projectList=[4, 5])
    )  # fmt: skip
    both = [ExpressionDependency(9, (2,), IDENTITY), ExpressionDependency(10, (9,), IDENTITY)]
    assert own(answered(plan, "Project", dependencies=both)) == {
        "s": {"in.b IDENTITY"},
        "t": {"in.b IDENTITY"},
        "*": set(),
    }


def test_a_leaf_keeps_its_columns_where_the_answer_is_about_rows() -> None:
    plan, word = saved(*TABLE), [ExpressionDependency(EVERY_ROW, (1,))]
    assert own(answered(plan, "LogicalRelation", dependencies=word)) == {**own(extended(plan)), "*": {"in.a FILTER"}}
    unknown = own(answered(plan, "LogicalRelation", dependencies=[ExpressionDependency(1, (99,))]))
    assert unknown["a"] == {"in.a TRANSFORMATION opaque", "in.b TRANSFORMATION opaque"}


def test_inputs_of_the_answer_replace_those_of_a_leaf() -> None:
    found = answered(saved(*TABLE), "LogicalRelation", inputs=[InputRelation(SIDE)])
    assert own(found) == {"a": {"side.a IDENTITY"}, "b": {"side.b IDENTITY"}, "*": set()}
    assert [seen.dataset for seen in found.inputs] == [SIDE.dataset]


def test_the_answer_for_a_common_table_expression_holds_at_its_uses() -> None:
    plan = saved(
        *TABLE, operator("CTERelationDef", 2, values={"id": 0}),
        column(5, "x"), column(6, "y"), operator("CTERelationRef", output=[4, 5], values={"cteId": 0}),
        operator("WithCTE", 6, 3, plan=6),
    )  # fmt: skip
    found = answered(plan, "CTERelationDef", dependencies=[ExpressionDependency(EVERY_ROW, (2,))])
    assert own(found) == {"x": {"in.a IDENTITY"}, "y": {"in.b IDENTITY"}, "*": {"in.b FILTER"}}


class Anything:
    """Every operator of a class is one dataset."""

    def __init__(self, name: str) -> None:
        self.classes = (name,)

    def datasets(self, relation: Operator) -> Sequence[DatasetDescription]:
        return [SIDE]


@BY_CLASS
def test_an_operator_that_reads_others_is_no_dataset_whoever_says_so(name: str) -> None:
    without, found = extended(PLANS[name]), extended(PLANS[name], extension(datasets=(Anything(name),)))
    assert (found.outputs, found.inputs) == (of_columns(without), without.inputs)
    assert [(gap.kind, gap.what) for gap in found.gaps] == [("extension", name)]


def test_ids_that_one_extension_made_up_below_are_not_those_of_another_above() -> None:
    plan = saved(
        A, files("in", 0), column(10, "v"), operator("org.acme.Low", 1, output=[2]),
        column(11, "w"), operator("org.acme.High", 3, output=[4]),
    )  # fmt: skip

    def of_its_own(name: str, key: int, field: str) -> Answering:
        inputs = [InputRelation(SIDE, {-2: field})]
        return Answering(name, inputs=inputs, dependencies=[ExpressionDependency(key, (-2,), IDENTITY)])

    both = (of_its_own("org.acme.Low", 10, "low"), of_its_own("org.acme.High", 11, "high"))
    assert own(extended(plan, extension(operators=both))) == {"w": {"side.high IDENTITY"}, "*": set()}
