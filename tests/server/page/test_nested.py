"""Fields within columns: found by name, by the type of their column, and one by one beside each other."""

import re

from playwright.sync_api import expect
from tests.server.page.browser import Visit, breaches
from tests.server.page.test_graph import column

ORDERS = "namespace=lake&dataset=silver%2Forders"


def test_a_field_within_a_column_is_followed_from_the_type_of_its_column(visiting: Visit) -> None:
    page = visiting.go(f"?page=dataset&{ORDERS}")
    items = page.get_by_role("row", name=re.compile("^items"))
    items.locator("summary").click()
    items.get_by_role("link", name="rate").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"^items\.tax\.rate"))
    expect(column(page, "raw/orders", "items.tax.rate")).to_be_visible()
    expect(page.get_by_text("2 datasets, 2 columns")).to_be_visible()
    assert "field=items.tax.rate" in page.url
    assert breaches(page) == []


def test_a_search_finds_fields_within_columns(visiting: Visit) -> None:
    page = visiting.go()
    page.get_by_role("combobox").fill("items.price")
    expect(page.get_by_role("option").first).to_contain_text("silver/orders.items.price")
    page.keyboard.press("Enter")
    expect(column(page, "silver/orders", "items.price")).to_be_visible()


def test_the_fields_of_a_column_are_followed_one_by_one(visiting: Visit) -> None:
    page = visiting.go(f"?{ORDERS}&field=items")
    expect(page.get_by_text("2 datasets, 2 columns")).to_be_visible()
    page.get_by_label("Nested fields").check()
    expect(page.get_by_text("2 datasets, 5 columns")).to_be_visible()
    assert "nested=on" in page.url
    expect(column(page, "raw/orders", "items.sku")).to_be_visible()
    column(page, "raw/orders", "items.price").click()
    page.reload()
    expect(column(page, "raw/orders", "items.price")).to_be_visible()
    assert re.search(r"selected=\d{16}", page.url)
    page.get_by_role("link", name="Why").click()
    expect(page.get_by_role("row", name=re.compile("items.price"))).to_be_visible()
