"""A query may give several columns one name, as ``SELECT a.id, b.id`` does."""

from headwater.extract.edges import lineage
from headwater.extract.trace import NOTHING, source
from headwater.model import Dataset, InputField

ORDERS = InputField(Dataset("file", "/orders"), "id")
CUSTOMERS = InputField(Dataset("file", "/customers"), "id")


def test_columns_of_one_name_have_the_edges_of_all_of_them() -> None:
    found = lineage(["id", "id"], [source(ORDERS), source(CUSTOMERS)], NOTHING)
    assert {edge.input for edge in found.fields["id"]} == {ORDERS, CUSTOMERS}
