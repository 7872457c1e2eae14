"""Plans as Spark's own toJSON writes them."""

import json
from typing import Any

import pytest

from headwater.errors import PlanError
from headwater.extract import column_lineage, statement
from headwater.model import Dataset, InputField, Subtype, Transformation
from headwater.plan import Column, Facts, Operator, decode_tojson

LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
SOURCES = "org.apache.spark.sql.execution.datasources."


def node(kind: str, children: int = 0, /, **fields: Any) -> dict[str, Any]:
    return {"class": kind, "num-children": children, **fields}


def expr_id(number: int) -> dict[str, Any]:
    return {"product-class": f"{EXPRESSIONS}ExprId", "id": number, "jvmId": "x"}


def attribute(name: str, number: int, kind: Any = "long") -> dict[str, Any]:
    return node(f"{EXPRESSIONS}AttributeReference", name=name, dataType=kind, exprId=expr_id(number), metadata={})


def alias(name: str, number: int) -> dict[str, Any]:
    return node(f"{EXPRESSIONS}Alias", 1, child=0, name=name, exprId=expr_id(number))


RELATION = node(f"{SOURCES}LogicalRelation", relation=None, output=[[attribute("a", 1)], [attribute("b", 2)]])
AT_T = Facts(leaves={("LogicalRelation", (1, 2)): {"relation": {"paths": ("file:/data/t",)}}})
T = Dataset("file", "/data/t")


def decoded(*rows: dict[str, Any], facts: Facts = AT_T) -> Any:
    return decode_tojson(json.dumps(rows), facts)


def test_a_projection_over_files() -> None:
    columns = [[alias("total", 3), node(f"{EXPRESSIONS}Add", 2, left=0, right=1), attribute("a", 1), attribute("b", 2)]]
    plan = decoded(
        node(f"{LOGICAL}Project", 1, projectList=columns, child=0),
        RELATION,
        facts=Facts(leaves=AT_T.leaves, output=[Column(3, "total", "bigint")]),
    )
    lineage, gaps = column_lineage(plan)
    assert gaps == ()
    assert {edge.input for edge in lineage.fields["total"]} == {InputField(T, "a"), InputField(T, "b")}
    assert {edge.transformation for edge in lineage.fields["total"]} == {Transformation(Subtype.TRANSFORMATION)}


def test_a_write_takes_its_target_from_the_facts() -> None:
    facts = Facts(root={"outputPath": "file:/data/u", "outputColumnNames": ("x", "y")}, leaves=AT_T.leaves)
    write = node(f"{SOURCES}InsertIntoHadoopFsRelationCommand", 1, query=0, outputColumnNames="[x, y]", outputPath=None)
    (output,) = statement(decoded(write, RELATION, facts=facts)).outputs
    assert output.description.dataset == Dataset("file", "/data/u")
    assert list(output.lineage.fields) == ["x", "y"]


def reference() -> dict[str, Any]:
    return node(f"{EXPRESSIONS}CommonExpressionRef", id=None, dataType="long")


def test_a_common_expression_is_found_though_its_id_is_lost() -> None:
    inner = [node(f"{EXPRESSIONS}CommonExpressionDef", 1, child=0, id=None), attribute("b", 2)]
    columns = [
        [
            alias("x", 3),
            node(f"{EXPRESSIONS}With", 2, child=0, defs=[1]),
            *(node(f"{EXPRESSIONS}Add", 2, left=0, right=1), reference(), attribute("a", 1)),
            *inner,
        ]
    ]
    lineage, _ = column_lineage(
        decoded(
            node(f"{LOGICAL}Project", 1, projectList=columns, child=0),
            RELATION,
            facts=Facts(leaves=AT_T.leaves, output=[Column(3, "x")]),
        )
    )
    assert {edge.input.name for edge in lineage.fields["x"]} == {"a", "b"}


def test_of_several_common_expressions_a_reference_means_any() -> None:
    definition = node(f"{EXPRESSIONS}CommonExpressionDef", 1, child=0, id=None)
    columns = [
        [
            alias("x", 3),
            node(f"{EXPRESSIONS}With", 3, child=0, defs=[1, 2]),
            *(reference(), definition, attribute("a", 1), definition, attribute("b", 2)),
        ]
    ]
    lineage, _ = column_lineage(
        decoded(
            node(f"{LOGICAL}Project", 1, projectList=columns, child=0),
            RELATION,
            facts=Facts(leaves=AT_T.leaves, output=[Column(3, "x")]),
        )
    )
    assert {edge.input.name for edge in lineage.fields["x"]} == {"a", "b"}


def test_an_expansion_whose_projections_are_lost_counts_every_column() -> None:
    plan = decoded(node(f"{LOGICAL}Expand", 1, projections=None, output=[[attribute("x", 9)]], child=0), RELATION)
    found = statement(plan)
    assert [gap.kind for gap in found.gaps] == ["operator"]


def test_a_plan_as_deep_as_one_likes() -> None:
    rows = [node(f"{LOGICAL}LocalLimit", 1, child=0) for _ in range(20_000)]
    plan = decoded(*rows, RELATION)
    assert isinstance(plan.root, Operator)
    assert len(plan.nodes) == 20_003


@pytest.mark.parametrize("text", ["", "{}", "[]", "[1]", '[{"class": "x", "num-children": 1}]'])
def test_what_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(PlanError, match="toJSON is a list of nodes"):
        decode_tojson(text)
