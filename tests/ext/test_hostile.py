"""Whatever an extension does: the lineage is that without it, the extension is named, and the others are asked."""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.ext.extensions import Answering, broken, extended, extension, other_gaps, plan_of, running
from tests.ext.test_operators import Double

from headwater.errors import ExtensionError
from headwater.ext import (
    IDENTITY,
    Dataset,
    DatasetDescription,
    Expression,
    ExpressionDependency,
    InputRelation,
    Operator,
    OutputRelation,
    SchemaField,
)
from headwater.ext.additions import finished
from headwater.ext.runtime import Extensions
from headwater.extract import ExtractSettings, statement
from headwater.model import Statement

Answer = Callable[[Operator], Any]


def raising(error: BaseException) -> Answer:
    def hook(node: Operator) -> Any:
        raise error

    return hook


def giving(answer: Any) -> Answer:
    return lambda node: answer


def for_ever(node: Operator) -> Any:
    while True:
        pass


def without_end(node: Operator) -> Iterator[ExpressionDependency]:
    while True:
        yield ExpressionDependency(1, ())


def deep(node: Operator) -> Any:
    return deep(node)


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def ring(node: Operator) -> Sequence[ExpressionDependency]:
    one = Expression("Add")
    one.children = (one, one)
    return [ExpressionDependency(1, (one,))]


def changing(node: Operator) -> Any:
    node.name = "Project"


def changing_values(node: Operator) -> Any:
    node.values["table"] = 1  # type: ignore[index]


def made_up(node: Operator) -> Sequence[InputRelation]:
    return [InputRelation(Operator("LogicalRelation", (node,)))]


DATASET = DatasetDescription(Dataset("a", "b"))

HOSTILE: dict[str, dict[str, Answer]] = {
    "raises": {"dependencies": raising(ValueError("no"))},
    "exits": {"inputs": raising(SystemExit(1))},
    "interrupts": {"outputs": raising(KeyboardInterrupt())},
    "unspeakable": {"inputs": raising(Unspeakable())},
    "recursion": {"inputs": deep},
    "number": {"inputs": giving(1)},
    "text": {"inputs": giving("datasets")},
    "mapping": {"inputs": giving({})},
    "none-inside": {"inputs": giving([None])},
    "bare-dataset": {"inputs": giving([Dataset("a", "b")])},
    "wrong-dataset": {"inputs": giving([InputRelation("a.b")])},  # type: ignore[arg-type]
    "wrong-name": {"inputs": giving([InputRelation(DatasetDescription(Dataset("a", 1)))])},  # type: ignore[arg-type]
    "empty-name": {"inputs": giving([InputRelation(DatasetDescription(Dataset("", "b")))])},
    "long-name": {"inputs": giving([InputRelation(DatasetDescription(Dataset("a", "b" * 20_000)))])},
    "wrong-fields": {"inputs": giving([InputRelation(DATASET, {"a": 1})])},  # type: ignore[dict-item]
    "wrong-schema": {"inputs": giving([InputRelation(DatasetDescription(Dataset("a", "b"), ("x",)))])},  # type: ignore[arg-type]
    "operator-made-up": {"inputs": made_up},
    "output-for-input": {"inputs": giving([OutputRelation(DATASET)])},
    "wrong-pair": {"outputs": giving([OutputRelation(DATASET, (("a", 1, 2),))])},  # type: ignore[arg-type]
    "wrong-order": {"outputs": giving([OutputRelation(DATASET, ((1, "a"),))])},  # type: ignore[arg-type]
    "true-for-id": {"dependencies": giving([ExpressionDependency(True, ())])},
    "subtype-for-transformation": {"dependencies": giving([ExpressionDependency(1, (), IDENTITY.subtype)])},  # type: ignore[arg-type]
    "ring": {"dependencies": ring},
    "one-only": {"dependencies": giving(ExpressionDependency(1, ()))},
    "changes-the-plan": {"inputs": changing},
    "changes-its-values": {"inputs": changing_values},
}


@pytest.mark.parametrize("answers", HOSTILE.values(), ids=HOSTILE)
def test_a_broken_visitor_costs_itself_and_no_more(answers: dict[str, Answer]) -> None:
    plan = plan_of("opaque", "map_in_pandas")
    found = extended(plan, extension("bad", operators=(Answering("MapInPandas", **answers),)))
    assert_as_without(found, extended(plan), "bad")


def assert_as_without(found: Statement, without: Statement, *names: str) -> None:
    assert (found.inputs, found.outputs) == (without.inputs, without.outputs)
    assert other_gaps(found) == set(without.gaps)
    assert sorted(broken(found)) == sorted(names)


@pytest.mark.parametrize("hook", [for_ever, without_end, raising(ValueError())], ids=["loops", "endless", "raises"])
def test_the_next_extension_is_called_all_the_same(hook: Answer) -> None:
    plan = plan_of("opaque", "map_in_pandas")
    bad, good = (
        extension("bad", operators=(Answering("MapInPandas", dependencies=hook),)),
        extension(operators=(Double(),)),
    )
    found = extended(plan, bad, good, seconds=0.5)
    assert_as_without(found, extended(plan, good), "bad")


def test_one_that_loops_is_ended_in_time() -> None:
    plan = plan_of("opaque", "map_in_pandas")
    began = time.monotonic()
    found = extended(plan, extension("bad", operators=(Answering("MapInPandas", inputs=for_ever),)), seconds=0.2)
    assert time.monotonic() - began < 30
    assert "more than 0.2 seconds" in broken(found)["bad"]


def test_it_is_switched_off_for_the_run_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []

    def failing(node: Operator) -> Any:
        calls.append(node.name)
        raise ValueError("broken")

    settings = ExtractSettings(
        extensions=running(extension("bad", operators=(Answering("MapInPandas", inputs=failing),)))
    )
    plan = plan_of("opaque", "map_in_pandas")
    with caplog.at_level(logging.WARNING, "headwater"):
        found = [statement(plan, settings) for _ in range(3)]
    assert calls == ["MapInPandas"]
    assert [len(broken(one)) for one in found] == [1, 1, 1]
    (record,) = caplog.records
    assert "bad" in record.getMessage()
    assert "ValueError: broken" in record.getMessage()


def test_one_that_is_slow_each_time_is_switched_off_before_long() -> None:
    def slow(node: Operator) -> Sequence[ExpressionDependency]:
        time.sleep(0.15)
        return ()

    slowly = extension("slow", operators=(Answering("MapInPandas", dependencies=slow),))
    settings = ExtractSettings(extensions=running(slowly, altogether=0.4))
    plan = plan_of("opaque", "map_in_pandas")
    found = [statement(plan, settings) for _ in range(4)]
    assert not broken(found[0])
    assert "altogether" in broken(found[-1])["slow"]
    assert_as_without(found[-1], extended(plan), "slow")


SLOWLY = Statement(tuple(DatasetDescription(Dataset("n", str(number))) for number in range(300)))


@pytest.mark.parametrize("hook", ["dataset_facets", "naming_rules"])
def test_the_time_of_an_extension_is_for_all_datasets_and_functions_together(hook: str) -> None:
    calls: list[Any] = []

    def slow(one: Any) -> Any:
        calls.append(one)
        time.sleep(0.01)
        return one if hook == "naming_rules" else {}

    found = finished(SLOWLY, running(extension("slow", **{hook: (slow, slow)}), seconds=0.3))
    assert found == replace(SLOWLY, gaps=found.gaps)
    assert "more than 0.3 seconds" in broken(found)["slow"]
    assert len(calls) < 100


def test_answers_from_before_an_extension_broke_stand() -> None:
    plan = plan_of("opaque", "map_in_pandas")
    exact = extended(plan, extension("good", operators=(Double(),)))
    found = extended(plan, extension("bad", operators=(Double(),), naming_rules=(failing,)))
    assert_as_without(found, exact, "bad")


def test_a_plan_that_it_is_not_for_does_not_ask_it() -> None:
    bad = extension("bad", operators=(Answering("MapInPandas", inputs=for_ever),))
    assert extended(plan_of("udf", "python"), bad).gaps == ()


def garbage(*args: Any) -> Any:
    return 7


def failing(*args: Any) -> Any:
    raise ValueError("no")


class Garbage:
    """Every visitor at once, with answers that none should give."""

    classes = ("MapInPandas", "PythonUDF", "LogicalRelation")
    functions = ("double",)
    inputs = outputs = dependencies = children = datasets = garbage


class Failing(Garbage):
    """Every visitor at once, which raise."""

    inputs = outputs = dependencies = children = datasets = failing


@pytest.mark.parametrize("hook", ["operators", "expressions", "datasets"])
@pytest.mark.parametrize("kind", [Garbage, Failing])
def test_every_visitor_may_be_broken(hook: str, kind: type[Any]) -> None:
    plan = plan_of("opaque", "map_in_pandas")
    assert_as_without(extended(plan, extension("bad", **{hook: (kind(),)})), extended(plan), "bad")


@pytest.mark.parametrize("hook", ["dataset_facets", "naming_rules"])
@pytest.mark.parametrize("function", [garbage, failing, for_ever], ids=["garbage", "raises", "loops"])
def test_every_function_may_be_broken(hook: str, function: Any) -> None:
    plan = plan_of("opaque", "map_in_pandas")
    assert_as_without(extended(plan, extension("bad", **{hook: (function,)}), seconds=0.3), extended(plan), "bad")


@pytest.mark.parametrize(
    "facets",
    [{"a": 1}, {1: {}}, {"": {}}, {"a": {"b": {1, 2}}}, {"a": {"b": float("nan")}}, {"a": {"b": "c" * 2_000_000}}, []],
    ids=["number", "name", "empty", "set", "nan", "large", "list"],
)
def test_facets_that_are_no_json_are_left_out(facets: Any) -> None:
    plan = plan_of("opaque", "map_in_pandas")
    assert_as_without(extended(plan, extension("bad", dataset_facets=(lambda one: facets,))), extended(plan), "bad")


def test_a_plan_is_the_same_after_an_extension_has_looked_at_all_of_it() -> None:
    def spoiling(node: Operator) -> Any:
        stack: list[Any] = [node]
        while stack:
            one = stack.pop()
            for value in one.values.values():
                if isinstance(value, dict):
                    value.clear()
            stack.extend(one.children)

    plan = plan_of("opaque", "map_in_pandas")
    before = [(node.name, dict(node.values)) for node in plan.nodes]
    extended(plan, extension(operators=(Answering("MapInPandas", inputs=spoiling),)))
    assert [(node.name, dict(node.values)) for node in plan.nodes] == before


def test_a_recursion_limit_is_left_as_it_is() -> None:
    limit = sys.getrecursionlimit()
    extended(plan_of("opaque", "map_in_pandas"), extension("bad", operators=(Answering("MapInPandas", inputs=deep),)))
    assert sys.getrecursionlimit() == limit


def test_a_field_of_another_kind_is_refused() -> None:
    answers = {"inputs": giving([InputRelation(DatasetDescription(Dataset("a", "b"), (SchemaField("x", None),)))])}  # type: ignore[arg-type]
    found = extended(
        plan_of("opaque", "map_in_pandas"), extension("bad", operators=(Answering("MapInPandas", **answers),))
    )
    assert "it gave None; expected str" in broken(found)["bad"]


class Unhashable(int):
    def __hash__(self) -> int:
        raise RuntimeError


@pytest.mark.parametrize(
    "expression",
    [
        Expression("AttributeReference", values={"id": Unhashable(1)}),
        Expression("ScalarSubquery", references={"plan": Operator("Project")}),
        Expression("Add", values={"name": Expression("Literal")}),
        Expression("Add", values=None),  # type: ignore[arg-type]
        Expression(1),  # type: ignore[arg-type]
    ],
    ids=["unhashable", "operator", "node-among-values", "no-values", "number"],
)
def test_an_expression_that_could_do_harm_is_not_taken(expression: Expression) -> None:
    plan = plan_of("opaque", "map_in_pandas")
    answers = {"dependencies": giving([ExpressionDependency(1, (expression,))])}
    assert_as_without(
        extended(plan, extension("bad", operators=(Answering("MapInPandas", **answers),))), extended(plan), "bad"
    )


class Unsaid:
    """Says what it is for when it is loaded, and something else from then on."""

    inputs = outputs = dependencies = garbage

    def __init__(self) -> None:
        self.call = 0

    @property
    def classes(self) -> tuple[str, ...]:
        self.call += 1
        if self.call > 2:
            raise ValueError
        return ("MapInPandas",)


def test_one_that_changes_its_mind_about_what_it_is_for_is_switched_off() -> None:
    plan = plan_of("opaque", "map_in_pandas")
    assert_as_without(extended(plan, extension("bad", operators=(Unsaid(),))), extended(plan), "bad")


def test_a_search_that_fails_is_a_gap_and_no_more() -> None:
    def failing_search() -> Any:
        raise OSError("unreadable")

    plan = plan_of("opaque", "map_in_pandas")
    found = statement(plan, ExtractSettings(extensions=Extensions(failing_search)))
    assert_as_without(found, extended(plan), "extensions")


LEAK = "postgresql://me:hunter2@db/x password=hunter2 token=hunter2"


@pytest.mark.parametrize(
    "answer",
    [raising(ConnectionError(LEAK)), raising(ExtensionError(LEAK)), giving({LEAK: LEAK})],
    ids=["raises", "refuses", "gives"],
)
def test_messages_of_an_extension_are_logged_without_secrets(answer: Answer, caplog: pytest.LogCaptureFixture) -> None:
    found = extended(
        plan_of("opaque", "map_in_pandas"), extension(operators=(Answering("MapInPandas", inputs=answer),))
    )
    assert broken(found)
    assert "hunter2" not in repr(found.gaps) + caplog.text


def test_the_reason_of_a_failed_import_is_logged_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    def refuse() -> Any:
        raise ExtensionError(LEAK)

    run = running(refuse)
    assert run.gaps
    assert "hunter2" not in repr(run.found) + repr(run.gaps) + caplog.text
