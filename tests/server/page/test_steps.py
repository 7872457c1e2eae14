"""The panel of a step: its expression, its job and run, since when it holds, and whether that is still so."""

import json
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from tests.server.page.browser import Visit
from tests.server.page.lineage import SCRIPT
from tests.server.processes import get


def step_query(url: str, source: str, field: str, dataset: str = "gold/revenue") -> str:
    """The address of a view with the panel of the step between two of its columns open."""
    name = f"namespace=lake&dataset={quote(dataset, safe='')}&field={quote(field, safe='')}"
    view = json.loads(get(url, f"/api/v2/view?{name}&type=DIRECT")[1])
    columns, edges = view["columns"], view["edges"]
    end = view["focus"]["column"]
    (start,) = [
        one
        for one, output in zip(edges["input"], edges["output"], strict=True)
        if output == end and columns["field"][one] == source
    ]
    return f"?{name}&edge={columns['id'][start]}.{columns['id'][end]}"


def test_a_step_shows_its_expression_its_job_and_since_when_it_holds(visiting: Visit) -> None:
    page = visiting.go(step_query(visiting.url, "amount", "revenue"))
    panel = page.get_by_role("complementary", name="Details of the step")
    expect(panel.get_by_text("sum(amount)")).to_be_visible()
    expect(panel.get_by_text("aggregation")).to_be_visible()
    expect(panel.get_by_role("link", name="revenue", exact=True)).to_be_visible()
    expect(panel.locator("time").first).to_have_attribute("datetime", "2026-01-01T00:02:00Z")
    expect(panel.get_by_text("First seen")).to_be_visible()
    panel.get_by_text("SQL of the job").click()
    expect(panel.get_by_text(re.compile("SELECT customer"))).to_be_visible()
    panel.get_by_role("button", name="Close the details").click()
    expect(panel).to_have_count(0)
    assert "edge=" not in page.url


@pytest.mark.parametrize(
    ("field", "source", "words"),
    [("email", "email", "masked"), ("score", "amount", "opaque"), (SCRIPT, "customer", "<img")],
)
def test_marks_and_hostile_expressions_are_shown_as_text(visiting: Visit, field: str, source: str, words: str) -> None:
    dataset = SCRIPT if field == SCRIPT else "silver/orders"
    page = visiting.go(step_query(visiting.url, source, field, dataset))
    panel = page.get_by_role("complementary", name="Details of the step")
    expect(panel.get_by_text(words).first).to_be_visible()
    assert page.evaluate("document.images.length") == 0
