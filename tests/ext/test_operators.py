"""An operator that headwater cannot see into, with an extension that knows it: from opaque, with a gap, to exact."""

from collections.abc import Sequence

from tests.ext.extensions import broken, edges, extended, extension, other_gaps, plan_of

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
    Subtype,
    Transformation,
)

CHANGED = Transformation(Subtype.TRANSFORMATION)
OPAQUE = {"product_id TRANSFORMATION opaque", "price TRANSFORMATION opaque"}


class Double(OperatorVisitor):
    """``mapInPandas(double, …)`` keeps every column but the price, which it doubles."""

    classes = ("MapInPandas",)

    def dependencies(self, node: Operator) -> Sequence[ExpressionDependency] | None:
        function = node.expression("functionExpr")
        if function is None or function.text("name") != "double":
            return None
        columns = zip(node.expressions("output"), function.children, strict=True)
        return [
            ExpressionDependency(
                column.expr_id, (argument.values["id"],), CHANGED if column.label == "price" else IDENTITY
            )
            for column, argument in columns
        ]


def test_without_it_every_column_counts() -> None:
    found = extended(plan_of("opaque", "map_in_pandas"))
    assert edges(found.outputs[0]) == {"product_id": OPAQUE, "price": OPAQUE, "*": set()}
    assert [(gap.kind, gap.what) for gap in found.gaps] == [("opaque", "double")]


def test_with_it_the_lineage_is_exact_and_nothing_is_missing() -> None:
    found = extended(plan_of("opaque", "map_in_pandas"), extension(operators=(Double(),)))
    assert edges(found.outputs[0]) == {
        "product_id": {"product_id IDENTITY"},
        "price": {"price TRANSFORMATION"},
        "*": set(),
    }
    assert found.gaps == ()


def test_one_that_knows_nothing_of_a_node_leaves_it_to_headwater() -> None:
    plan = plan_of("opaque", "map_in_arrow")
    assert extended(plan, extension(operators=(Double(),))) == extended(plan)


class Audited(OperatorVisitor):
    """``mapInPandas`` that reads a table of rates and writes a table of what it dropped, beside."""

    classes = ("MapInPandas",)

    def inputs(self, node: Operator) -> Sequence[InputRelation]:
        return [InputRelation(DatasetDescription(Dataset("db", "rates")), {-2: "rate"})]

    def outputs(self, node: Operator) -> Sequence[OutputRelation]:
        (child,) = node.inputs
        dropped = tuple((column.label, column.expr_id) for column in child.expressions("projectList"))
        return [OutputRelation(DatasetDescription(Dataset("db", "dropped")), dropped)]

    def dependencies(self, node: Operator) -> Sequence[ExpressionDependency]:
        (child,) = node.inputs
        key, price = child.expressions("projectList")
        product, doubled = node.expressions("output")
        return [
            ExpressionDependency(product.expr_id, (key,)),
            ExpressionDependency(doubled.expr_id, (price, -2), CHANGED),
            ExpressionDependency(EVERY_ROW, (price,), Transformation(Subtype.FILTER)),
        ]


def test_a_visitor_describes_inputs_outputs_and_rows() -> None:
    found = extended(plan_of("opaque", "map_in_pandas"), extension(operators=(Audited(),)))
    by_name = {output.description.dataset.name: edges(output) for output in found.outputs}
    assert by_name.pop("dropped") == {
        "product_id": {"product_id IDENTITY"},
        "price": {"price IDENTITY"},
        "*": {"price FILTER"},
    }
    (written,) = by_name.values()
    assert written == {
        "product_id": {"product_id IDENTITY"},
        "price": {"price TRANSFORMATION", "rate TRANSFORMATION"},
        "*": {"price FILTER"},
    }
    assert {seen.dataset for seen in found.inputs} >= {Dataset("db", "rates")}
    assert found.gaps == ()


class Saved(OperatorVisitor):
    """A command that an extension says writes elsewhere than headwater thinks; what it writes is its query."""

    classes = ("SaveAsV1TableCommand",)

    def outputs(self, node: Operator) -> Sequence[OutputRelation]:
        return [OutputRelation(DatasetDescription(Dataset("lake", "elsewhere"), lifecycle="OVERWRITE"))]


def test_the_answer_about_a_command_has_precedence() -> None:
    plan = plan_of("udf", "python")
    (own,), (written,) = extended(plan).outputs, extended(plan, extension(operators=(Saved(),))).outputs
    assert written.description.dataset == Dataset("lake", "elsewhere")
    assert (written.description.lifecycle, written.lineage) == ("OVERWRITE", own.lineage)


class ByDelegate(OperatorVisitor):
    """The columns of ``mapInPandas`` are those of another operator of the plan, by their names."""

    classes = ("MapInPandas",)

    def inputs(self, node: Operator) -> Sequence[InputRelation]:
        relation = node
        while relation.inputs:
            relation = relation.inputs[0]
        added = DatasetDescription(Dataset("", ""), version="7")
        return [InputRelation(relation, {c.expr_id: c.label for c in node.expressions("output")}, added)]

    def dependencies(self, node: Operator) -> Sequence[ExpressionDependency]:
        return ()


def test_a_delegate_stands_for_the_columns_it_was_worked_out_to_have() -> None:
    found = extended(plan_of("opaque", "map_in_pandas"), extension(operators=(ByDelegate(),)))
    assert edges(found.outputs[0]) == {"product_id": {"product_id IDENTITY"}, "price": {"price IDENTITY"}, "*": set()}
    assert "7" in {seen.version for seen in found.inputs}
    assert found.gaps == ()


class Wrong(OperatorVisitor):
    """Tells of exprIds that nobody has."""

    classes = ("MapInPandas",)

    def dependencies(self, node: Operator) -> Sequence[ExpressionDependency]:
        return [ExpressionDependency(node.expressions("output")[0].expr_id, (123456,))]


def test_what_it_leaves_open_is_opaque_and_has_a_gap() -> None:
    found = extended(plan_of("opaque", "map_in_pandas"), extension(operators=(Wrong(),)))
    assert edges(found.outputs[0]) == {"product_id": OPAQUE, "price": OPAQUE, "*": set()}
    assert {(gap.kind, gap.what) for gap in other_gaps(found)} == {("operator", "MapInPandas")}
    assert broken(found) == {}


def test_of_two_extensions_the_first_that_answers_counts() -> None:
    plan = plan_of("opaque", "map_in_pandas")
    double, wrong = extension("double", operators=(Double(),)), extension("wrong", operators=(Wrong(),))
    assert extended(plan, double, wrong) == extended(plan, double)
    assert extended(plan, wrong, double) == extended(plan, wrong)
