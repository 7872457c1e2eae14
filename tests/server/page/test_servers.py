"""The page beside servers that need keys, go away, change, or keep their lineage in PostgreSQL."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from tests.server.page.browser import Visit, visit
from tests.server.page.lineage import EVENTS, output, step
from tests.server.processes import LINEAGE, Forker, ServerProcess, connect, serving
from tests.store.conftest import new_database as new_database  # noqa: PLC0414 - a fixture
from tests.store.conftest import run_event

from headwater.store import open_store
from headwater.store.maintenance import keyring

BONUS = "?namespace=lake&dataset=gold%2Fbonus&field=bonus&form=table"
REVENUE = "?namespace=lake&dataset=gold%2Frevenue&field=revenue&form=table"
HIDDEN = ("salary", "salaries", "hr")


@pytest.fixture(scope="module")
def guarded(forker: Forker, filled: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that asks for keys."""
    with serving(forker, filled, tmp_path_factory.mktemp("guarded") / "log", "--auth") as started:
        yield started


LIMITED = (
    "",
    "?namespace=lake",
    BONUS,
    f"{BONUS}&influence=all",
    f"{BONUS}&page=why",
    f"{BONUS}&page=paths&to=silver/orders.amount",
    *(f"?page={page}&namespace=lake&dataset=silver%2Forders&field=amount" for page in ("impact", "dataset", "lineage")),
)


def search(page: Page) -> Locator:
    return page.get_by_placeholder("Search columns")


def key(url: str, name: str, *namespaces: str, scope: str = "read") -> str:
    with open_store(url) as store:
        _, token = keyring.issue(store, name, scope, namespaces or ("*",))
        return token


def enter(page: Page, text: str) -> None:
    page.get_by_label("Key").fill(text)
    page.get_by_role("button", name="Use this key").click()


def test_a_key_is_entered_once_and_gone_with_the_tab(browser: Browser, guarded: ServerProcess, filled: str) -> None:
    with visit(browser, guarded.url) as opened:
        page = opened.go(REVENUE)
        enter(page, "hw_wrong")
        expect(page.get_by_role("alert")).to_contain_text("unknown, expired or revoked")
        enter(page, key(filled, "all"))
        expect(page.get_by_role("heading", level=1)).to_contain_text("revenue")
        page.reload()
        expect(page.get_by_role("heading", level=1)).to_contain_text("revenue")
        assert page.evaluate("JSON.stringify(localStorage) + document.cookie").find("hw_") == -1
        other = page.context.new_page()
        other.goto(page.url)
        expect(other.get_by_label("Key")).to_be_visible()
        page.get_by_role("button", name="Forget key").click()
        expect(page.get_by_label("Key")).to_be_visible()
        opened.require_clean()


def test_a_limited_key_sees_no_hidden_name_on_any_page(browser: Browser, guarded: ServerProcess, filled: str) -> None:
    answers: list[str] = []
    with visit(browser, guarded.url) as opened:
        page = opened.go()
        enter(page, key(filled, "limited", "lake", "demo"))
        expect(page.get_by_role("heading", name="Namespaces")).to_be_visible()
        page.on("response", lambda answer: answers.append(answer.text()) if "/changes" not in answer.url else None)
        for query in LIMITED:
            page.goto(f"{guarded.url}/{query}")
            expect(page.get_by_role("heading", level=1)).to_be_visible()
            expect(page.get_by_text("Loading…")).to_have_count(0)
            assert [word for word in HIDDEN if word in page.locator("main").inner_text().split()] == [], query
        search(page).fill("salar")
        expect(page.get_by_role("status").filter(has_text="salar")).to_be_visible()
        opened.require_clean()
    documents = [json.loads(one) for one in answers if one.startswith("{")]
    assert len(documents) > len(LIMITED)
    assert [one for one in documents if "salaries" in json.dumps(one)] == []


def test_the_first_page_lists_no_hidden_dataset_and_two_lines_of_a_long_name(
    browser: Browser, forker: Forker, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/lineage.db"
    with open_store(url) as store:
        store.ingest(
            [
                run_event("fine", output("gold/fine", {"a": ("int", [step("raw", "a")])}), minute=1),
                run_event("secret", output("salaries", {"a": ("int", [])}) | {"namespace": "hr"}, minute=2),
                run_event("j" * 3_000, output("x" * 10_000, {"a": ("int", [step("raw", "a")])}), minute=3),
            ]
        )
    with serving(forker, url, tmp_path / "log", "--auth") as server, visit(browser, server.url) as opened:
        page = opened.go()
        enter(page, key(url, "limited", "lake", "demo"))
        rows = page.get_by_role("table").get_by_role("row")
        expect(rows).to_have_count(3)
        expect(rows.nth(2).get_by_role("link", name="fine").first).to_be_in_viewport()
        expect(page.get_by_text("hidden")).to_have_count(0)
        opened.require_clean()


def test_an_unreachable_server_is_reported_and_tried_again(
    browser: Browser, forker: Forker, filled: str, tmp_path: Path
) -> None:
    with serving(forker, filled, tmp_path / "log") as first, visit(browser, first.url) as opened:
        page = opened.go(REVENUE)
        expect(page.get_by_role("heading", level=1)).to_contain_text("revenue")
        first.stop()
        page.get_by_label("Values and rows").check()
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
        expect(page.get_by_role("heading", level=1)).to_contain_text("revenue")
        port = first.url.rpartition(":")[2]
        with serving(forker, filled, tmp_path / "log2", "--port", port):
            expect(page.get_by_role("alert")).to_have_count(0)
            expect(page.get_by_role("checkbox", name="FILTER")).to_be_visible()


def test_what_changes_is_shown_without_loading_the_page_anew(browser: Browser, forker: Forker, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/lineage.db"
    with open_store(url) as store:
        store.ingest(EVENTS)
    with serving(forker, url, tmp_path / "log") as server, visit(browser, server.url) as opened:
        page = opened.go(REVENUE)
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        page.evaluate("window.sameDocument = true")
        event = run_event("new", output("reports/new", {"total": ("int", [step("gold/revenue", "revenue")])}), minute=9)
        connection = connect(server.url)
        connection.request("POST", LINEAGE, json.dumps(event), {"Content-Type": "application/json"})
        assert connection.getresponse().status == 201
        connection.close()
        expect(page.get_by_role("row", name="new 1 column")).to_be_visible()
        assert page.evaluate("window.sameDocument")
        opened.require_clean()


def test_a_server_without_lineage_says_how_to_send_some(browser: Browser, forker: Forker, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/lineage.db"
    with serving(forker, store, tmp_path / "log") as server, visit(browser, server.url) as opened:
        page = opened.go()
        expect(page.get_by_role("heading", name="No lineage yet")).to_be_visible()
        expect(page.get_by_text("headwater run job.py")).to_be_visible()
        opened.require_clean()


def test_lineage_in_postgresql_is_followed_the_same(
    browser: Browser, forker: Forker, new_database: Callable[[], str], tmp_path: Path
) -> None:
    url = new_database()
    with open_store(url) as store:
        store.ingest(EVENTS)
    with serving(forker, url, tmp_path / "log") as server, visit(browser, server.url) as opened:
        page = opened.go(REVENUE + "&influence=all")
        for name in ("orders 3 columns", "orders 2 columns", "revenue 1 column", "top 1 column"):
            expect(page.get_by_role("row", name=name)).to_be_visible()
        follow_pages(opened)


def follow_pages(opened: Visit) -> None:
    page = opened.page
    search(page).fill("revenue")
    expect(page.get_by_role("option", name="gold/revenue.revenue").first).to_be_visible()
    page.keyboard.press("Escape")
    for name in ("Impact", "Paths", "Why", "Dataset"):
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("row", name="customer")).to_be_visible()
    opened.require_clean()
