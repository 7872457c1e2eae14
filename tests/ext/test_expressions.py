"""Functions that an extension tells of: which argument decides, which is masked, which takes no part."""

from collections.abc import Sequence

import pytest
from tests.ext.extensions import edges, extended, extension, plan_of
from tests.ext.handmade import column, expression, files, operator, saved
from tests.ext.handmade import edges as edges_of

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
    found = extended(plan_of("udf", "python"), extension(expressions=visitors))
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
def test_each_argument_takes_part_as_the_visitor_answers(
    answer: tuple[Transformation | None, ...], expected: set[str]
) -> None:
    assert value(Of(*answer, functions=("BOTH",))) == expected
    assert value(Of(*answer, classes=("PythonUDF",))) == expected


def test_without_a_word_every_argument_is_transformed() -> None:
    assert value() == value(Of(MASKED, functions=("other",))) == {"name TRANSFORMATION", "country TRANSFORMATION"}


def test_a_column_that_has_the_name_of_a_function_is_no_call_of_it() -> None:
    assert value(Of(functions=("name", "v", "country", "id"))) == value()


def test_an_extension_overrides_the_rule_of_a_class() -> None:
    plan = plan_of("conditional", "coalesce")
    first = Of(CHANGED, None, None, classes=("Coalesce",))
    own, changed = extended(plan), extended(plan, extension(expressions=(first,)))
    assert own.outputs[0].lineage != changed.outputs[0].lineage


EXPLODED = (
    *(column(key, name) for key, name in ((1, "xs"), (2, "other"))),
    files("in", 0, 1),
    expression("org.acme.Explode", 0, 1),
    column(7, "x"),
    operator("Generate", 2, generator=3, generatorOutput=[4]),
)


@pytest.mark.parametrize(
    ("answer", "made", "rows"),
    [
        ((MASKED, None), {"in.xs TRANSFORMATION masking"}, {"in.xs FILTER"}),
        ((CHANGED, CONDITION), {"in.xs TRANSFORMATION", "in.other CONDITIONAL"}, {"in.xs FILTER", "in.other FILTER"}),
        ((IDENTITY, None), {"in.xs IDENTITY"}, {"in.xs FILTER"}),
        ((None, None), set(), set()),
    ],
)
def test_a_generator_is_described_argument_by_argument_too(
    answer: tuple[Transformation | None, ...], made: set[str], rows: set[str]
) -> None:
    found = extended(saved(*EXPLODED), extension(expressions=(Of(*answer, classes=("org.acme.Explode",)),)))
    assert edges_of(found.outputs[0]) == {
        "xs": {"in.xs IDENTITY"},
        "other": {"in.other IDENTITY"},
        "x": made,
        "*": rows,
    }


def test_the_generator_stack_has_its_rule_unless_a_visitor_answers() -> None:
    nodes = (
        *EXPLODED[:3], expression("Literal"), expression("Stack", 3, 0, 1), column(7, "x"), column(8, "y"),
        operator("Generate", 2, generator=4, generatorOutput=[5, 6]),
    )  # fmt: skip
    own = edges_of(extended(saved(*nodes)).outputs[0])
    assert (own["x"], own["y"]) == ({"in.xs TRANSFORMATION"}, {"in.other TRANSFORMATION"})
    first = Of(None, CHANGED, None, classes=("Stack",))
    both = edges_of(extended(saved(*nodes), extension(expressions=(first,))).outputs[0])
    assert (both["x"], both["y"], both["*"]) == ({"in.xs TRANSFORMATION"}, {"in.xs TRANSFORMATION"}, {"in.xs FILTER"})
