"""Finding a dataset or column by an ending of its name."""

from typing import Any

import pytest

from headwater.errors import AmbiguousName, UnknownName
from headwater.store import Store
from headwater.store.questions.lookup import find

ODD = 'we.ird/na`me ü "quoted"'


@pytest.fixture
def shelf(store: Store, words: Any) -> Store:
    gold = words.written("data/gold/delays", {"avg_delay": [], "carrier": [], ODD: [], "Id": []}, ["gold.delays"])
    silver = words.written("data/silver/delays", {"carrier": [], "only_here": [], "ID": []})
    store.ingest(
        [words.run_event("j", gold, silver, words.written("orders", {"id": []}), words.written("x/orders", {"id": []}))]
    )
    return store


def column(store: Store, name: str) -> str:
    with store.read() as connection:
        return str(find.find_column(connection, name))


@pytest.mark.parametrize(
    "name",
    [
        "avg_delay",
        "delays.avg_delay",
        "gold.delays.avg_delay",
        "gold/delays.avg_delay",
        "gold/delays/avg_delay",
        "/data/gold/delays.avg_delay",
        "file:/data/gold/delays.avg_delay",
        "hive/gold.delays.avg_delay",
        "GOLD.Delays.AVG_DELAY",
        "`gold.delays`.`avg_delay`",
    ],
)
def test_any_ending_will_do(shelf: Store, name: str) -> None:
    assert column(shelf, name) == "file:/data/gold/delays.avg_delay"


NESTED = "array<struct<sku:string,tax:struct<rate:double>>>"


@pytest.mark.parametrize("name", ["baskets.items.sku", "items.tax.rate", "lake/baskets.ITEMS.Tax", "baskets.items"])
def test_a_field_within_a_column_stands_for_the_column(store: Store, words: Any, name: str) -> None:
    baskets = words.written("lake/baskets", {"items": []})
    baskets["facets"]["schema"]["fields"][0]["type"] = NESTED
    store.ingest([words.run_event("j", baskets)])
    assert column(store, name) == "file:/lake/baskets.items"
    with store.read() as connection:
        exact = find.ExactName("file", "/lake/baskets", "items.tax.rate")
        assert str(find.find(connection, exact)) == str(find.find(connection, name)) == "file:/lake/baskets.items"
    with pytest.raises(UnknownName):
        column(store, "baskets.items.price")


def test_a_part_in_backticks_is_taken_as_it_stands(shelf: Store) -> None:
    quoted = "`" + ODD.replace("`", "``") + "`"
    assert column(shelf, f"gold.delays.{quoted}") == f"file:/data/gold/delays.{ODD}"
    assert column(shelf, f"gold.delays.{ODD.upper()}") == f"file:/data/gold/delays.{ODD}"


def test_equal_case_goes_before_other_case(shelf: Store) -> None:
    assert column(shelf, "delays.Id") == "file:/data/gold/delays.Id"
    assert column(shelf, "delays.ID") == "file:/data/silver/delays.ID"
    with pytest.raises(AmbiguousName):
        column(shelf, "delays.iD")


def test_a_whole_name_goes_before_an_ending(shelf: Store) -> None:
    assert column(shelf, "/orders.id") == "file:/orders.id"


def test_a_name_that_fits_several_lists_them(shelf: Store) -> None:
    with pytest.raises(AmbiguousName, match=r"2 names end in 'delays.carrier': .*gold/delays.carrier, .*silver/delays"):
        column(shelf, "delays.carrier")


def test_a_part_of_a_word_is_no_ending(shelf: Store) -> None:
    with pytest.raises(UnknownName):
        column(shelf, "ays.avg_delay")


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("gold.delays.avg_dely", "gold.delays.avg_delay"),
        ("gold.delay.avg_delay", "gold.delays.avg_delay"),
        ("only_her", "only_here"),
        ("gold.delay", "gold.delays"),
    ],
)
def test_a_misspelt_name_gets_the_near_ones(shelf: Store, name: str, near: str) -> None:
    with pytest.raises(UnknownName, match=f"Near: .*{near}"):
        column(shelf, name)


def test_where_no_column_of_the_dataset_is_like_it_those_that_it_has_are_listed(shelf: Store) -> None:
    with pytest.raises(UnknownName, match=r"Dataset 'gold.delays' has no column 'rank'. It has .*avg_delay"):
        column(shelf, "gold.delays.rank")


def test_a_dataset_in_the_place_of_a_column_is_named_as_such(shelf: Store) -> None:
    with pytest.raises(UnknownName, match=r"is a dataset: expected one of its columns, as in gold.delays.COLUMN"):
        column(shelf, "gold.delays")


@pytest.mark.parametrize("name", ["", ".", "`", "``", "..", "a" * 10_000, "." * 10_000, "%", "_", "gold.delays.%"])
def test_nonsense_is_unknown(shelf: Store, name: str) -> None:
    with pytest.raises(UnknownName) as fault:
        column(shelf, name)
    assert len(str(fault.value)) < 1_000


def test_datasets_are_found_by_every_name(shelf: Store) -> None:
    with shelf.read() as connection:
        found = {find.find(connection, name).id for name in ("gold.delays", "gold/delays", "hive/gold.delays")}
        assert len(found) == 1
        assert str(find.find(connection, "gold.delays.carrier")) == "file:/data/gold/delays.carrier"
        with pytest.raises(UnknownName, match="No dataset or column"):
            find.find(connection, "nothing")
