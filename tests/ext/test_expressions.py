"""Functions that an extension tells of: which argument decides, which is masked, which takes no part."""

from collections.abc import Sequence

import pytest
from tests.ext.known import edges, extension, plan_of, told

from headwater.ext import IDENTITY, Expression, ExpressionVisitor, Subtype, Transformation

CONDITION = Transformation(Subtype.CONDITIONAL)
CHANGED = Transformation(Subtype.TRANSFORMATION)
MASKED = Transformation(Subtype.TRANSFORMATION, masking=True)


class Of(ExpressionVisitor):
    """The same answer for every call of a function or class."""

    def __init__(self, *answer: Transformation | None, functions: tuple[str, ...] = (), classes: tuple[str, ...] = ()):
        self.answer, self.functions, self.classes = answer, functions, classes

    def children(self, node: Expression) -> Sequence[Transformation | None]:
        return self.answer


def value(*visitors: ExpressionVisitor) -> set[str]:
    """The edges of ``both(name, country)``."""
    found = told(plan_of("udf", "python"), extension(expressions=visitors))
    assert found.gaps == ()
    return edges(found.outputs[0])["v"]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((CONDITION, CHANGED), {"name CONDITIONAL", "country TRANSFORMATION"}),
        ((MASKED, None), {"name TRANSFORMATION masking"}),
        ((None, IDENTITY), {"country IDENTITY"}),
        ((None, None), set()),
        ((Transformation(Subtype.AGGREGATION), CHANGED), {"name AGGREGATION", "country TRANSFORMATION"}),
    ],
)
def test_each_argument_takes_part_as_told(answer: tuple[Transformation | None, ...], expected: set[str]) -> None:
    assert value(Of(*answer, functions=("BOTH",))) == expected
    assert value(Of(*answer, classes=("PythonUDF",))) == expected


def test_without_a_word_every_argument_is_transformed() -> None:
    assert value() == value(Of(MASKED, functions=("other",))) == {"name TRANSFORMATION", "country TRANSFORMATION"}


def test_a_column_that_has_the_name_of_a_function_is_no_call_of_it() -> None:
    assert value(Of(functions=("name", "v", "country", "id"))) == value()


def test_a_class_that_headwater_has_a_rule_for_is_told_by_the_extension() -> None:
    plan = plan_of("conditional", "coalesce")
    first = Of(CHANGED, None, None, classes=("Coalesce",))
    own, told_of = told(plan), told(plan, extension(expressions=(first,)))
    assert own.outputs[0].lineage != told_of.outputs[0].lineage
