"""A person finds a column and follows it, by the page alone."""

import pytest
from playwright.sync_api import expect
from tests.server.page.browser import Visit

REVENUE = "?namespace=lake&dataset=gold%2Frevenue&field=revenue"
AMOUNT = "?namespace=lake&dataset=silver%2Forders&field=amount"


@pytest.mark.parametrize("key", ["/", "Control+k"])
def test_a_column_is_found_and_opened_with_the_keyboard_alone(visiting: Visit, key: str) -> None:
    page = visiting.go()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press(key)
    page.keyboard.type("revenu")
    expect(page.get_by_role("option", name="gold/revenue.revenue").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("revenue")
    assert "field=revenue" in page.url
    assert page.title() == "revenue · lineage · headwater"
