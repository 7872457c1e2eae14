"""A view that grows hop by hop, and two moments of one that are compared."""

import re

from playwright.sync_api import Locator, Page, expect
from tests.server.page.browser import Visit, breaches
from tests.server.page.lineage import RATES_RUNS as RUNS
from tests.server.page.test_graph import column
from tests.server.page.test_steps import step_query

STEP = "?namespace=lake&dataset=gold%2Frevenue&field=revenue&up=1&down=0"
# How far apart two cards are on the screen.
APART = """() => {
  const [a, b] = ["silver/orders", "gold/revenue"].map(
    (name) => document.querySelector(`[aria-label="Dataset ${name}"]`).getBoundingClientRect());
  return [b.left - a.left, b.top - a.top].map(Math.round);
}"""
RATES = "?namespace=lake&dataset=gold%2Frates&field=rate"


def card(page: Page, name: str) -> Locator:
    return page.locator(".hw-card", has_text=re.compile(name))


def hop(within: Locator, title: str) -> Locator:
    return within.get_by_role("button", name=title)


def test_a_hop_more_is_shown_while_all_else_stays_where_it_is(visiting: Visit) -> None:
    page = visiting.go(STEP)
    expect(page.locator(".hw-card")).to_have_count(2)
    before = page.evaluate(APART)
    hop(card(page, "orders"), "+").first.click()
    expect(card(page, "raw/orders")).to_be_in_viewport(ratio=1)
    assert page.evaluate(APART) == before
    expect(page.get_by_text("3 datasets, 3 columns")).to_be_visible()
    page.reload()
    expect(card(page, "raw/orders")).to_be_visible()
    page.go_back()
    expect(page.locator(".hw-card")).to_have_count(2)


def test_hops_lead_on_from_a_card_and_by_the_keyboard(visiting: Visit) -> None:
    page = visiting.go(STEP)
    column(page, "orders", "amount").focus()
    page.keyboard.press("Shift+ArrowLeft")
    expect(card(page, "raw/orders")).to_be_visible()
    card(page, "silver/orders").get_by_title("Show one hop more after these columns").click()
    expect(card(page, "salaries")).to_be_visible()
    expect(column(page, "salaries", "salary")).to_be_visible()
    card(page, "salaries").get_by_title("Show one hop more after this column").click()
    expect(card(page, "bonus")).to_be_visible()
    # Of the card's dataset nothing is added but what the column in the view leads to.
    expect(card(page, "silver/orders").locator(".hw-column")).to_have_count(1)
    assert re.search(r"hops=\d+u\.d\d+d\.\d+d", page.url)
    assert breaches(page) == []


def test_two_moments_are_compared_by_what_came_and_went(visiting: Visit) -> None:
    page = visiting.go(RATES)
    expect(page.locator(".hw-card")).to_have_count(2)
    page.get_by_label("Compare with").select_option(RUNS[0])
    panel = page.get_by_role("complementary", name="What came and went")
    came, went = (panel.locator("section", has=page.get_by_role("heading", name=name)) for name in ("Came", "Went"))
    expect(panel.get_by_text("0 steps stayed.")).to_be_visible()
    expect(came.get_by_role("button")).to_have_text(
        re.compile(r"raw/rates.monthly → gold/rates.rate · came · DIRECT IDENTITY")
    )
    expect(went.get_by_role("button")).to_have_text(
        re.compile(r"raw/rates.daily → gold/rates.rate · went · DIRECT IDENTITY")
    )
    expect(card(page, "raw/rates").locator(".hw-column")).to_have_count(2)
    assert breaches(page) == []
    went.get_by_role("button").click()
    expect(page.get_by_role("complementary", name="Details of the step")).to_be_visible()
    page.get_by_role("button", name="Close the details").click()
    page.get_by_role("button", name="Close the comparison").click()
    expect(card(page, "raw/rates").locator(".hw-column")).to_have_count(1)


def test_all_of_a_column_that_was_not_there_yet_came(visiting: Visit) -> None:
    page = visiting.go("?namespace=lake&dataset=gold%2Frevenue&field=revenue&compare=2026-01-01T00:01:30Z")
    panel = page.get_by_role("complementary", name="What came and went")
    expect(panel.get_by_text("orders.amount → revenue.revenue")).to_be_visible()
    expect(panel.get_by_text("None.")).to_be_visible()


def test_two_runs_are_chosen_by_their_ids_in_either_order(visiting: Visit) -> None:
    page = visiting.go(f"{RATES}&compare={RUNS[0]}")
    panel = page.get_by_role("complementary", name="What came and went")
    came = panel.locator("section", has=page.get_by_role("heading", name="Came"))
    expect(panel.get_by_label("From")).to_have_value(RUNS[0])
    panel.get_by_label("To").select_option(RUNS[1])
    expect(came.get_by_role("button")).to_contain_text("raw/rates.monthly")
    assert {f"asOf={RUNS[1]}", f"compare={RUNS[0]}"} <= set(page.url.partition("?")[2].split("&"))
    # The later of two runs is the one that came, whichever the address names first.
    visiting.go(f"{RATES}&asOf={RUNS[0]}&compare={RUNS[1]}")
    expect(came.get_by_role("button")).to_contain_text("raw/rates.monthly")
    expect(panel.get_by_label("From")).to_have_value(RUNS[0])
    panel.get_by_label("To").select_option(RUNS[0])
    expect(panel.get_by_text("1 step stayed.")).to_be_visible()


def test_runs_are_listed_by_when_they_wrote_and_as_much_of_their_ids_as_differs(visiting: Visit) -> None:
    page = visiting.go(f"{RATES}&compare={RUNS[0]}")
    chosen = page.get_by_role("complementary").get_by_label("From").locator("option:checked")
    expect(chosen).to_have_text(re.compile(r"1 Jan 2026, \d\d:07 · 019b7708-1 · rates"))
    expect(chosen).to_have_attribute("title", RUNS[0])


def test_a_phone_shows_the_graph_its_toolbar_and_a_panel_at_once(visiting: Visit) -> None:
    page = visiting.page
    page.set_viewport_size({"width": 390, "height": 844})
    visiting.go(f"{RATES}&asOf={RUNS[1]}&compare={RUNS[0]}")
    panel = page.get_by_role("complementary", name="What came and went")
    expect(panel.get_by_role("button", name="monthly")).to_be_visible()
    expect(page.get_by_role("button", name="Show now")).to_be_visible()
    expect(panel).to_be_in_viewport(ratio=1)
    stage = page.locator(".hw-stage")
    expect(stage).to_be_in_viewport(ratio=1)
    assert (stage.bounding_box() or {})["height"] >= 200
    toolbar = page.get_by_role("toolbar")
    for button in toolbar.get_by_role("button").all():
        button.scroll_into_view_if_needed()
        expect(button).to_be_in_viewport(ratio=1)
    page.get_by_text("Export", exact=True).click()
    for form in page.locator(".hw-menu-items button").all():
        expect(form).to_be_in_viewport(ratio=1)
    # All that comes later above a panel leaves it in sight.
    visiting.go(step_query(visiting.url, "amount", "revenue"))
    expect(page.get_by_label("Compare with")).to_be_attached()
    expect(page.get_by_text("SQL of the job")).to_be_visible()
    page.wait_for_timeout(300)
    expect(page.get_by_role("complementary", name="Details of the step")).to_be_in_viewport(ratio=1)


def test_a_phone_gives_most_of_its_height_to_the_graph_of_a_wide_table_at_its_start(visiting: Visit) -> None:
    page = visiting.page
    page.set_viewport_size({"width": 390, "height": 844})
    visiting.go("?namespace=lake&dataset=gold%2Fwide&field=total")
    for name in ("silver/wide", "gold/wide"):
        expect(card(page, name)).to_be_in_viewport(ratio=0.99)
    assert (page.locator(".hw-stage").bounding_box() or {})["height"] > 844 * 0.65
    page.get_by_role("link", name="Dataset", exact=True).scroll_into_view_if_needed()
    expect(page.get_by_role("link", name="Dataset", exact=True)).to_be_in_viewport(ratio=1)
    expect(column(page, "silver/wide", "measure_000")).to_be_visible()
    card(page, "silver/wide").get_by_title("Columns after these").click()
    expect(column(page, "silver/wide", "measure_012")).to_be_visible()
    # Where a drawing is wider than the screen it opens at the dataset that it is about.
    visiting.go("?namespace=lake&dataset=silver%2Fwide")
    expect(card(page, "silver/wide")).to_be_in_viewport(ratio=0.99)
