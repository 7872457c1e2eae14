"""Ten questions that people bring to the page, each answered by it alone from its first page, with the clicks it takes.

The table in docs/page.md has the same questions and numbers.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from tests.server.page.browser import ROOT, CountedClicks, Visit
from tests.server.page.test_graph import column

TABLE = re.compile(r"^\| (?P<number>\d+) \| (?P<question>[^|]*?) \| (?P<clicks>\d+) \|", re.MULTILINE)


class Hand(CountedClicks):
    """The hand of a person on the page."""

    def find(self, text: str, option: str) -> None:
        """Search for a text, and choose one of what is found."""
        self.fill(self.page.get_by_placeholder("Search columns"), text)
        self.click(self.page.get_by_role("option", name=option).first)

    def tab(self, name: str) -> None:
        self.click(self.page.get_by_role("link", name=name, exact=True))

    def edge(self, start: tuple[str, str], end: tuple[str, str]) -> Locator:
        """Click the line between two columns; return the panel that it opens."""
        one, other = (column(self.page, *place) for place in (start, end))
        expect(other).to_be_visible()
        left, right = one.bounding_box(), other.bounding_box()
        assert left is not None
        assert right is not None
        self.clicks += 1
        x, y = left["x"] + left["width"] + right["x"], left["y"] + left["height"] / 2 + right["y"] + right["height"] / 2
        self.page.mouse.click(x / 2, y / 2)
        return self.page.get_by_role("complementary", name="Details of the step")


def origin(hand: Hand) -> None:
    hand.find("revenue.revenue", "column gold/revenue.revenue")
    expect(hand.page.get_by_role("heading", level=1)).to_contain_text("revenue")
    expect(column(hand.page, "raw/orders", "amount")).to_be_visible()


def computed(hand: Hand) -> None:
    hand.find("revenue.revenue", "column gold/revenue.revenue")
    panel = hand.edge(("silver/orders", "amount"), ("revenue", "revenue"))
    expect(panel.get_by_text("sum(amount)")).to_be_visible()


def current(hand: Hand) -> None:
    hand.find("revenue.revenue", "column gold/revenue.revenue")
    panel = hand.edge(("silver/orders", "amount"), ("revenue", "revenue"))
    expect(panel.get_by_text("Last seen")).to_be_visible()
    expect(panel.get_by_text("completed")).to_be_visible()


def dependents(hand: Hand) -> None:
    hand.find("orders.amount", "column silver/orders.amount")
    hand.tab("Impact")
    expect(hand.page.get_by_role("row", name=re.compile("top.revenue"))).to_be_visible()


def rows(hand: Hand) -> None:
    hand.find("revenue.revenue", "column gold/revenue.revenue")
    hand.click(hand.page.get_by_label("Values and rows"))
    expect(hand.page.get_by_role("checkbox", name="GROUP_BY")).to_be_visible()
    expect(column(hand.page, "silver/orders", "customer")).to_be_visible()


def joined(hand: Hand) -> None:
    hand.find("orders.amount", "column silver/orders.amount")
    hand.tab("Paths")
    hand.fill(hand.page.get_by_label("Other column"), "reports/top.revenue")
    hand.click(hand.page.get_by_role("button", name="Show paths"))
    expect(hand.page.locator("section.path").get_by_text("sum(amount)")).to_be_visible()


def missing(hand: Hand) -> None:
    hand.find("revenue.since", "column gold/revenue.since")
    hand.tab("Why")
    expect(hand.page.get_by_text("a constant, a count of rows, the time")).to_be_visible()


def owner(hand: Hand) -> None:
    hand.find("silver/orders", "dataset silver/orders")
    expect(hand.page.get_by_text("team:sales (MAINTAINER)")).to_be_visible()
    expect(hand.page.get_by_role("row", name=re.compile("^email"))).to_contain_text("string")


def personal(hand: Hand) -> None:
    hand.find("pii", "silver/orders.email")
    hand.tab("Tags")
    expect(hand.page.get_by_text("It arrives nowhere else.")).to_be_visible()


def then(hand: Hand) -> None:
    hand.find("revenue.revenue", "column gold/revenue.revenue")
    hand.fill(hand.page.get_by_label(re.compile("Moment|As of")).last, "2026-01-01T00:02:30")
    expect(hand.page.get_by_role("button", name="Show now")).to_be_visible()


ANSWERS: dict[str, Callable[[Hand], None]] = {
    "Where does this column come from?": origin,
    "How is it computed?": computed,
    "Is that still so: when and by which run was it last seen?": current,
    "What breaks if it changes?": dependents,
    "Which columns decide its rows?": rows,
    "How are these two columns joined, step by step?": joined,
    "Why is nothing known before it?": missing,
    "Who owns the dataset, and which types has it?": owner,
    "Where is personal data, and where does it go?": personal,
    "What was its lineage at another moment?": then,
}


@pytest.mark.parametrize("question", ANSWERS)
def test_a_question_is_answered_in_the_clicks_that_the_document_says(visiting: Visit, question: str) -> None:
    documented = {row["question"]: int(row["clicks"]) for row in TABLE.finditer(_document())}
    assert list(documented) == list(ANSWERS)
    hand = Hand(visiting.go())
    expect(hand.page.get_by_role("heading", level=1)).to_be_visible()
    ANSWERS[question](hand)
    assert hand.clicks == documented[question]


def _document() -> str:
    return Path(ROOT / "docs" / "page.md").read_text()
