"""Tables of the v2 API that say by their properties which datasets they are."""

from collections.abc import Iterator

import pytest
from tests.interfaces.conftest import Acme

from headwater.model import Dataset, Facet, Statement

pytestmark = pytest.mark.spark

NAMED = Dataset("acme://lake", "sold.items")
PROPERTIES = """TBLPROPERTIES (
    'openlineage.dataset.name'='sold.items', 'openlineage.dataset.namespace'='acme://lake',
    'openlineage.dataset.facets.custom'='{"grade": 1}', 'openlineage.dataset.facets.broken'='{"grade"')"""


@pytest.fixture
def tables(acme: Acme) -> Iterator[Acme]:
    acme.spark.sql(f"CREATE TABLE lake.db.named (id INT, price INT) {PROPERTIES}")
    acme.spark.sql("CREATE TABLE lake.db.plain (id INT, price INT)")
    acme.ran()
    yield acme
    for name in ("named", "plain", "made"):
        acme.spark.sql(f"DROP TABLE IF EXISTS lake.db.{name}")


def ran(acme: Acme, sql: str) -> Statement:
    acme.ran()
    acme.spark.sql(sql)
    (found,) = acme.ran()
    return found


def test_a_table_is_read_by_the_name_that_its_properties_give(tables: Acme) -> None:
    found = ran(tables, "INSERT INTO lake.db.plain SELECT id, price * 2 FROM lake.db.named")
    (seen,), (output,) = found.inputs, found.outputs
    assert seen.dataset == NAMED
    assert [link.dataset.name for link in seen.symlinks] == ["lake.db.named"]
    assert seen.facets == (Facet("broken", '{"grade"'), Facet("custom", '{"grade":1}'))
    assert {edge.input.dataset for edges in output.lineage.fields.values() for edge in edges} == {NAMED}


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO lake.db.named SELECT id, price FROM lake.db.plain",
        "INSERT OVERWRITE lake.db.named SELECT id, price FROM lake.db.plain",
        f"CREATE TABLE lake.db.made {PROPERTIES} AS SELECT id, price FROM lake.db.plain",
    ],
)
def test_a_table_is_written_by_that_name_too(tables: Acme, sql: str) -> None:
    (output,) = ran(tables, sql).outputs
    assert output.description.dataset == NAMED
    assert Facet("custom", '{"grade":1}') in output.description.facets
    assert {edge.input.name for edge in output.lineage.fields["price"]} == {"price"}


def test_a_table_is_made_by_that_name(tables: Acme) -> None:
    assert ran(tables, f"CREATE TABLE lake.db.made (id INT) {PROPERTIES}").outputs[0].description.dataset == NAMED


def test_a_table_is_dropped_by_a_name_that_it_has(tables: Acme) -> None:
    """Its catalog drops it as fast as it is asked for its properties."""
    (output,) = ran(tables, "DROP TABLE lake.db.named").outputs
    assert {output.description.dataset.name, *(link.dataset.name for link in output.description.symlinks)} >= {
        "lake.db.named"
    }


def test_half_a_name_is_none_and_a_gap(tables: Acme) -> None:
    found = ran(tables, "CREATE TABLE lake.db.made (id INT) TBLPROPERTIES ('openlineage.dataset.name'='half')")
    assert found.outputs[0].description.dataset.name == "lake.db.made"
    assert [(gap.kind, gap.what) for gap in found.gaps] == [("extension", "half")]
