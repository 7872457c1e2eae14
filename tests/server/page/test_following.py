"""A person finds a column and follows it, by the page alone."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.server.page.browser import Visit, breaches
from tests.server.page.lineage import LEAVES, LONG, SCRIPT, SQL
from tests.server.page.test_graph import column

from headwater.model.nested_fields import nested_name

REVENUE = "?namespace=lake&dataset=gold%2Frevenue&field=revenue"
AMOUNT = "?namespace=lake&dataset=silver%2Forders&field=amount"
ORDERS = "?page=dataset&namespace=lake&dataset=silver%2Forders"
ODD = "?page=dataset&namespace=lake&dataset=silver%2Fodd"
HOSTILE = f"?page=dataset&namespace=lake&dataset={SCRIPT}"
STATES = {
    "home": "",
    "namespace": "?namespace=lake",
    "lineage": f"{REVENUE}&influence=all",
    "impact": f"{AMOUNT}&page=impact",
    "paths": f"{AMOUNT}&page=paths&to=reports/top.revenue",
    "why": f"{REVENUE}&page=why",
    "tags": "?page=tags&namespace=lake&dataset=silver%2Forders",
    "dataset": ORDERS,
    "job": "?page=job&namespace=demo&job=revenue",
    "missing": "?column=nothing.of.that.name",
    "hostile": HOSTILE,
}


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text(text)


def loaded(page: Page) -> None:
    """The page shows what it asked for."""
    expect(page.get_by_role("heading").first).to_be_visible()
    expect(page.get_by_text("Loading…")).to_have_count(0)
    page.wait_for_load_state("load")


@pytest.mark.parametrize("key", ["/", "Control+k"])
def test_a_column_is_found_and_opened_with_the_keyboard_alone(visiting: Visit, key: str) -> None:
    page = visiting.go()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.keyboard.press(key)
    page.keyboard.type("revenu")
    expect(page.get_by_role("option", name="gold/revenue.revenue").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    heading(page, "revenue")
    assert "field=revenue" in page.url
    assert page.title() == "revenue · lineage · headwater"


def test_the_first_page_begins_with_what_was_written_last(visiting: Visit) -> None:
    page = visiting.go()
    written = page.get_by_role("table").get_by_role("row")
    expect(written.nth(1)).to_be_visible()
    rows = [row.get_by_role("link").all_text_contents() for row in written.all()[1:]]
    assert ["revenue", "revenue"] in rows
    assert len({tuple(row) for row in rows}) == len(rows)
    written.filter(has=page.get_by_role("link", name="revenue", exact=True)).get_by_role("link").first.click()
    heading(page, "revenue")


def test_tags_and_jobs_are_found_too(visiting: Visit) -> None:
    page = visiting.go()
    box = page.get_by_placeholder("Search columns")
    box.fill("pii")
    expect(page.get_by_role("option", name=re.compile("silver.orders.email"))).to_be_visible()
    box.fill("report")
    page.get_by_role("option", name=re.compile("^job report")).click()
    heading(page, "report")


def test_typing_errors_are_forgiven_and_what_was_searched_is_shown(visiting: Visit) -> None:
    page = visiting.go()
    page.get_by_placeholder("Search columns").fill("emial")
    expect(page.get_by_role("option", name=re.compile("silver.orders.email"))).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="this is for email")).to_be_visible()
    page.keyboard.press("Enter")
    heading(page, "email")


def test_what_was_looked_at_and_pinned_is_offered_again(visiting: Visit) -> None:
    page = visiting.go(REVENUE)
    page.get_by_role("button", name="Pin").click()
    expect(page.get_by_role("button", name="Pinned")).to_be_visible()
    page.get_by_role("link", name="headwater", exact=True).click()
    page.get_by_placeholder("Search columns").focus()
    expect(page.get_by_role("option", name=re.compile("pinned gold.revenue.revenue"))).to_be_visible()
    expect(page.get_by_role("option", name=re.compile("recent gold.revenue.revenue"))).to_be_visible()


def test_the_address_holds_the_whole_state_back_and_forward_too(visiting: Visit) -> None:
    page = visiting.go(AMOUNT)
    heading(page, "amount")
    page.get_by_label("Values and rows").check()
    page.get_by_label("Before").select_option("1")
    assert {"influence=all", "up=1"} <= set(page.url.partition("?")[2].split("&"))
    page.get_by_role("link", name="Impact").click()
    expect(page.get_by_role("button", name="Save as CSV")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Values and rows")).to_be_checked()
    expect(page.get_by_label("Before")).to_have_value("1")
    page.go_back()
    page.go_back()
    expect(page.get_by_label("Values", exact=True)).to_be_checked()
    page.go_forward()
    expect(page.get_by_label("Values and rows")).to_be_checked()
    page.reload()
    expect(page.get_by_label("Values and rows")).to_be_checked()


def test_a_name_by_its_ending_becomes_the_whole_name_in_the_address(visiting: Visit) -> None:
    page = visiting.go("?column=gold/revenue.revenue")
    heading(page, "revenue")
    page.wait_for_url(re.compile("dataset=gold%2Frevenue&field=revenue$"))


def test_the_impact_is_a_list_that_is_filtered_and_saved(visiting: Visit, tmp_path: Path) -> None:
    page = visiting.go(f"{AMOUNT}&page=impact")
    expect(page.locator("main p").get_by_text("written by")).to_contain_text("columns in")
    rows = page.locator("tbody tr")
    every = rows.count()
    assert every >= 3
    page.get_by_label("Filter").fill("reports")
    expect(rows).to_have_count(1)
    expect(page.locator("output")).to_contain_text(f"1 of {every} shown")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    saved.value.save_as(tmp_path / "impact.csv")
    lines = (tmp_path / "impact.csv").read_text().splitlines()
    assert lines[0].startswith("namespace,dataset,field,type")
    assert any(line.startswith("lake,reports/top,revenue,DIRECT") for line in lines)


def test_the_paths_between_two_columns_show_every_step_with_its_expression(visiting: Visit) -> None:
    page = visiting.go(f"{AMOUNT}&page=paths")
    page.get_by_label("Other column").fill("reports/top.revenue")
    page.get_by_role("button", name="Show paths").click()
    path = page.locator("section.path")
    expect(path).to_have_count(1)
    assert [one.inner_text().split("\n")[0] for one in path.locator("li > .name").all()] == [
        "orders.amount",
        "revenue.revenue",
        "top.revenue",
    ]
    expect(path.get_by_text("sum(amount)")).to_be_visible()


def test_the_page_says_why_nothing_is_before_a_column(visiting: Visit) -> None:
    page = visiting.go("?namespace=lake&dataset=gold%2Frevenue&field=since&page=why")
    expect(page.get_by_text("a constant, a count of rows, the time")).to_be_visible()
    page = visiting.go(f"{AMOUNT}&page=why")
    expect(page.get_by_text("No known run writes its dataset")).to_be_visible()
    expect(page.get_by_text("a Python function cannot be seen into")).to_be_visible()


def test_a_dataset_shows_types_tags_owners_jobs_and_versions(visiting: Visit) -> None:
    page = visiting.go(ORDERS)
    row = page.get_by_role("row", name=re.compile("^email"))
    expect(row).to_contain_text("string")
    expect(row).to_contain_text("pii")
    expect(page.get_by_text("team:sales (MAINTAINER)")).to_be_visible()
    page.get_by_role("row", name=re.compile("^items")).locator("summary").click()
    expect(page.get_by_text("price:decimal(10,2),", exact=False)).to_be_visible()
    aside = page.get_by_role("complementary")
    for job in ("clean", "revenue"):
        expect(aside.get_by_role("link", name=job, exact=True).first).to_be_visible()
    expect(aside.get_by_text("complete, 5 columns")).to_be_visible()


def test_a_job_shows_what_it_reads_and_writes_its_runs_and_its_sql(visiting: Visit) -> None:
    page = visiting.go("?page=job&namespace=demo&job=revenue")
    for name in ("orders", "revenue"):
        expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()
    expect(page.get_by_text(SQL)).to_be_visible()
    expect(page.get_by_text("completed")).to_be_visible()


@pytest.mark.parametrize("state", STATES)
def test_every_page_is_accessible_light_and_dark_and_fits_a_phone(visiting: Visit, state: str) -> None:
    page = visiting.go(STATES[state])
    loaded(page)
    assert breaches(page) == []
    page.emulate_media(color_scheme="dark")
    assert breaches(page, "color-contrast") == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_names_that_are_programs_are_shown_and_do_nothing(visiting: Visit) -> None:
    page = visiting.go(HOSTILE)
    cell = page.get_by_role("link", name=SCRIPT)
    expect(cell.first).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("__proto__"))).to_be_visible()
    expect(page.get_by_role("link", name=LONG)).to_be_visible()
    assert page.locator("main img").count() == 0
    page.get_by_role("row", name=re.compile("onerror")).get_by_role("link").first.click()
    heading(page, SCRIPT)
    assert "owned" not in page.title().replace(SCRIPT, "")
    assert page.evaluate("document.images.length") == 0
    for place, leaf in enumerate(LEAVES):
        page = visiting.go(ODD)
        items = page.get_by_role("row", name=re.compile("^items"))
        items.locator("summary").click()
        links = items.locator("pre").get_by_role("link")
        expect(links).to_have_text([one or "(no name)" for one in LEAVES])
        links.nth(place).click()
        expect(page.get_by_text("2 datasets, 2 columns")).to_be_visible()
        expect(column(page, "raw/odd", f"c{place}")).to_be_visible()
        heading(page, nested_name(("items", leaf)))
        assert page.title() != "owned"
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.evaluate("document.images.length") == 0
    assert breaches(page) == []


def test_another_moment_is_shown_as_such_and_left_again(visiting: Visit) -> None:
    page = visiting.go(f"{REVENUE}&asOf=2026-01-01T00:01:30Z")
    expect(page.get_by_role("button", name="Show now")).to_be_visible()
    page.get_by_role("button", name="Show now").click()
    expect(page.get_by_role("button", name="Show now")).to_have_count(0)
    assert "asOf" not in page.url
