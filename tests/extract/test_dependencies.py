"""Dependencies that go round in circles, and the sources of their columns."""

from time import process_time

from headwater.ext import ExpressionDependency, Transformation
from headwater.extract.dependencies import depend
from headwater.extract.scope import Extraction, ExtractSettings, Scope
from headwater.extract.trace import OPAQUE, SAME, Paths, Trace, flat, source, step
from headwater.model import Dataset, InputField
from headwater.plan import Expression, Operator


def field(name: str) -> Paths:
    return source(InputField(Dataset("db", "t"), name))


RECEIVED = step(OPAQUE, field("a").union(field("b"), field("c")))


def followed(*answers: ExpressionDependency) -> tuple[dict[int, Trace], list[str]]:
    extraction = Extraction(ExtractSettings(), {})
    scope = Scope({1: field("a"), 2: field("b"), 3: field("c")}, extraction)
    made, _ = depend(answers, scope, RECEIVED, Operator("com.example.Custom"))
    return made, [gap.why for gap in extraction.gaps]


def test_each_column_of_a_circle_has_the_sources_of_all_and_one_gap_names_all_circles() -> None:
    one, two = ExpressionDependency(10, (11, 1), SAME), ExpressionDependency(11, (10, 2), SAME)
    itself, after = ExpressionDependency(20, (20, 3), SAME), ExpressionDependency(30, (11,), SAME)
    made, gaps = followed(after, one, two, itself)
    assert made[10] == made[11] == made[30] == RECEIVED | field("a") | field("b")
    assert made[20] == RECEIVED | field("c")
    assert len(gaps) == 1
    assert "exprId 10, 11, 20 goes round in a circle" in gaps[0]


def test_a_circle_through_an_expression_is_one() -> None:
    ten = Expression("Upper", (Expression("AttributeReference", values={"id": 10}),))
    made, gaps = followed(ExpressionDependency(10, (11,)), ExpressionDependency(11, (ten,)))
    assert flat(made[10]) == flat(made[11]) >= RECEIVED
    assert len(gaps) == 1


def test_a_column_below_is_no_part_of_a_circle() -> None:
    made, gaps = followed(ExpressionDependency(1, (2,), SAME), ExpressionDependency(2, (1,), SAME))
    assert (made, gaps) == ({1: field("b"), 2: field("a")}, [])


def seconds(answers: list[ExpressionDependency]) -> float:
    began = process_time()
    _, gaps = followed(*answers)
    assert len(gaps) == 1
    return process_time() - began


def circles(count: int) -> list[ExpressionDependency]:
    return [ExpressionDependency(100 + key, (100 + (key ^ 1),)) for key in range(count)]


def test_many_circles_take_as_long_as_there_are_many() -> None:
    few, many = (min(seconds(circles(count)) for _ in range(3)) for count in (2000, 8000))
    assert many < 10 * few  # in quadratic time 16


def test_a_dense_circle_is_followed_once() -> None:
    how = Transformation(SAME.subtype)
    dense = [ExpressionDependency(100 + key, tuple(range(100, 700)), how) for key in range(600)]
    ring = [ExpressionDependency(100 + key, (100 + (key + 1) % 600,) * 600, how) for key in range(600)]
    assert seconds(dense) < 20 * max(seconds(ring), 0.05)
