"""Tags on the page: where they are and flow, with the steps that prove it; put on and taken off where the key may."""

from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.server.page.browser import Visit, visit
from tests.server.page.lineage import EVENTS
from tests.server.page.test_servers import enter, key
from tests.server.processes import Forker, serving

from headwater.store import open_store

EMAIL = "?page=tags&namespace=lake&dataset=silver%2Forders&field=email"
RAW = "?page=tags&namespace=lake&dataset=raw%2Forders&field=amount"


def test_a_tag_is_put_on_followed_with_its_steps_and_taken_off(
    browser: Browser, forker: Forker, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/lineage.db"
    with open_store(url) as store:
        store.ingest(EVENTS)
    with serving(forker, url, tmp_path / "log", "--auth") as server, visit(browser, server.url) as opened:
        page = opened.go(RAW)
        enter(page, key(url, "reader"))
        expect(page.get_by_text("It has none.")).to_be_visible()
        expect(page.get_by_label("New tag")).to_have_count(0)
        page.get_by_role("button", name="Forget key").click()
        enter(page, key(url, "writer", scope="write"))
        page.get_by_label("New tag").fill("pii.amount=high")
        page.get_by_role("button", name="Put on").click()
        expect(page.get_by_text("From this column it arrives at 7: 7 by value, 0 masked")).to_be_visible()
        revenue = page.locator(".arrivals li", has=page.get_by_role("link", name="revenue.revenue", exact=True))
        expect(revenue).to_contain_text("2 steps")
        revenue.locator("summary").click()
        expect(revenue.get_by_text("CAST(amount AS DECIMAL(10,2))")).to_be_visible()
        expect(revenue.get_by_text("sum(amount)")).to_be_visible()
        page.screenshot(path=str(tmp_path / "tags.png"), full_page=True)
        revenue.get_by_role("link", name="revenue.revenue", exact=True).first.click()
        page.get_by_role("link", name="Tags", exact=True).click()
        expect(page.get_by_text("It has none.")).to_be_visible()
        arriving = page.locator("section", has=page.get_by_role("heading", name="Tags that arrive here"))
        expect(arriving.locator(".arrivals > li")).to_contain_text("pii.amount=high")
        page.go_back()
        page.go_back()
        page.get_by_role("button", name="Take off pii.amount=high").click()
        expect(page.get_by_text("It has none.")).to_be_visible()
        opened.require_clean()


def test_a_tag_of_an_event_names_its_producer_and_may_arrive_nowhere(visiting: Visit) -> None:
    page = visiting.go(EMAIL)
    expect(page.get_by_text("of test")).to_be_visible()
    expect(page.get_by_text("It arrives nowhere else.")).to_be_visible()
