"""Relations that an extension resolves: their datasets, read and written."""

from collections.abc import Sequence

from tests.ext.extensions import edges, extended, extension, plan_of

from headwater.ext import Dataset, DatasetDescription, DatasetResolver, Facet, Operator
from headwater.model import Statement
from headwater.plan import Expression, Plan

PRODUCTS = DatasetDescription(Dataset("shop", "products"), facets=(Facet("owner", '{"team": "sales"}'),))


class Products(DatasetResolver):
    """Files in a folder ``products`` are the shop's table of that name."""

    def __init__(self, *classes: str) -> None:
        self.classes = classes

    def datasets(self, relation: Operator) -> Sequence[DatasetDescription] | None:
        paths = relation.facts("relation").get("paths") or ()
        return [PRODUCTS] if any(path.endswith("/products") for path in paths) else None


def of_products(*classes: str, family: str = "opaque", name: str = "map_in_pandas") -> Statement:
    return extended(plan_of(family, name), extension(datasets=(Products(*classes),)))


def test_a_relation_is_the_datasets_of_the_answer() -> None:
    for classes in (("LogicalRelation",), ("HadoopFsRelation",), ("LogicalRelation", "HadoopFsRelation")):
        found = of_products(*classes)
        assert [(one.dataset, one.facets) for one in found.inputs] == [(PRODUCTS.dataset, PRODUCTS.facets)]
        assert [field.name for field in found.inputs[0].schema] == ["product_id", "title", "price", "category"]
        assert found.outputs[0].lineage.inputs == {PRODUCTS.dataset}


def test_a_relation_that_it_does_not_know_is_left_to_headwater() -> None:
    assert of_products("LogicalRelation", name="python", family="udf") == extended(plan_of("udf", "python"))


def column(key: int, name: str) -> Expression:
    return Expression("AttributeReference", values={"id": key, "name": name, "type": "int"})


class Anything(DatasetResolver):
    """Every relation of a class is one dataset."""

    classes = ("com.example.Table",)

    def datasets(self, relation: Operator) -> Sequence[DatasetDescription]:
        return [DatasetDescription(Dataset("shop", relation.facts("table")["name"]))]


def written_by(command: str) -> Plan:
    """``INSERT INTO`` a table of the v2 API that only an extension can name, from another such."""
    a, b = column(1, "a"), column(2, "b")
    source = Operator(
        "DataSourceV2Relation", (), {"output": (a,)}, {"table": {"class": "com.example.Table", "name": "x"}}
    )
    target = Operator(
        "DataSourceV2Relation", (), {"output": (b,)}, {"table": {"class": "com.example.Table", "name": "y"}}
    )
    root = Operator(command, (), {"table": target, "query": source})
    return Plan((a, b, source, target, root))


def test_a_written_table_is_the_dataset_of_the_answer() -> None:
    for command in ("AppendData", "OverwriteByExpression", "com.example.Insert"):
        found = extended(written_by(command), extension(datasets=(Anything(),)))
        (output,) = found.outputs
        assert output.description.dataset == Dataset("shop", "y")
        assert edges(output) == {"a" if "com" in command else "b": {"a IDENTITY"}, "*": set()}
        assert output.lineage.inputs == {Dataset("shop", "x")}
