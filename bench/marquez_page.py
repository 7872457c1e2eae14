"""Click the ten questions of docs/page.md on Marquez's own page, over ``headwater serve`` with the same events.

``python -m bench.marquez_page FOLDER`` takes the folder ``web`` of MarquezProject/marquez, built as that says
(``npm ci && REACT_APP_ADVANCED_SEARCH=true npm run build``). Its own ``setupProxy.js`` serves it.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Error, expect
from tests.server.page.browser import PATIENCE, CountedClicks, chromiums
from tests.server.page.lineage import EVENTS
from tests.server.processes import Forker, serving, wait_for

from headwater.store import open_store

PORT = "3399"


class Hand(CountedClicks):
    """The hand of a person on Marquez's page."""

    def find(self, text: str, dataset: str) -> None:
        """Search, open what is found, and the dataset in the graph of tables: its schema and facets."""
        self.fill(self.page.locator("#searchBar"), text)
        self.click(self.page.get_by_text(dataset, exact=True).first)
        self.page.get_by_text("Table Level").wait_for()
        # The first of them is in the overview of the graph.
        self.click(self.page.locator("text").filter(has_text=dataset).last)
        self.page.get_by_text("LATEST SCHEMA").wait_for()

    def columns(self, column: str) -> None:
        """The graph of columns, from the row of a column in the schema."""
        self.click(self.page.get_by_role("row").filter(has_text=column).locator("a[href*='column-level']").first)
        self.page.get_by_text("Column Level").wait_for()

    def unfold(self, facet: str, *keys: str) -> None:
        """Open members of a facet, one within the other; the facet itself is open."""
        node = self.page.locator(".w-json-view-container").first
        for key in (facet, *keys):
            node = node.locator(f"xpath=./div/div[./span[1]//*[normalize-space(text())='{key}']]").first
            if key != facet:
                self.click(node.locator("xpath=./span[1]/span[contains(@class, 'w-rjv-arrow')]"))

    def sees(self, *texts: str) -> None:
        for text in texts:
            expect(self.page.get_by_text(text).last).to_be_visible()


def origin(hand: Hand) -> None:
    hand.find("revenue", "gold/revenue")
    hand.columns("revenue")
    hand.sees("raw/orders", "amount")


def computed(hand: Hand) -> None:
    hand.find("revenue", "gold/revenue")
    hand.unfold("columnLineage", "fields", "revenue", "inputFields", "0", "transformations", "0")
    hand.sees("sum(amount)")


def current(hand: Hand) -> None:
    hand.find("revenue", "gold/revenue")
    hand.click(hand.page.get_by_text("VERSION HISTORY"))
    hand.sees("CREATED BY RUN")


def dependents(hand: Hand) -> None:
    hand.find("orders", "silver/orders")
    hand.columns("amount")
    hand.sees("reports/top")


def rows(hand: Hand) -> None:
    hand.find("revenue", "gold/revenue")
    hand.unfold("columnLineage", "dataset", "0", "transformations", "0")
    hand.sees("GROUP_BY")


def owner(hand: Hand) -> None:
    hand.find("orders", "silver/orders")
    hand.sees("decimal(10,2)")
    hand.unfold("ownership", "owners", "0")
    hand.sees("team:sales")


def joined(hand: Hand) -> None:
    """The columns between two, by name alone: the same graph."""
    hand.find("orders", "silver/orders")
    hand.columns("amount")
    hand.sees("gold/revenue", "reports/top")


def personal(hand: Hand) -> None:
    """The dataset that has the tag, and no more."""
    hand.find("pii", "silver/orders")


QUESTIONS: dict[str, Callable[[Hand], None]] = {
    "1 origin": origin,
    "2 expression": computed,
    "3 run of a version of the dataset": current,
    "4 impact": dependents,
    "5 rows": rows,
    "6 columns between two, without steps": joined,
    "8 owner and types": owner,
    "9 personal data, where it is": personal,
}


@contextmanager
def pages(web: Path) -> Iterator[str]:
    """Serve Marquez's page before a server of ours with the events of the page's tests."""
    forker = Forker()
    with TemporaryDirectory() as name:
        url = f"sqlite:///{name}/lineage.db"
        with open_store(url) as store:
            store.ingest(EVENTS)
        with serving(forker, url, Path(name) / "log") as server:
            port = server.url.rpartition(":")[2]
            own = {"MARQUEZ_HOST": "127.0.0.1", "MARQUEZ_PORT": port, "WEB_PORT": PORT}
            log = Path(name) / "proxy"
            with log.open("w") as output:
                proxy = subprocess.Popen(["node", "setupProxy.js"], cwd=web, env=os.environ | own, stdout=output)
            try:
                wait_for(lambda: "listening" in log.read_text(), log.read_text)
                yield f"http://localhost:{PORT}"
            finally:
                proxy.kill()
    forker.close()


def main(web: str) -> None:
    with pages(Path(web)) as url, chromiums() as running:
        for name, answer in QUESTIONS.items():
            page = running().browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(url)
            page.locator("#searchBar").wait_for()
            hand = Hand(page)
            try:
                answer(hand)
                print(f"{name}: {hand.clicks}", flush=True)
            except (Error, AssertionError) as error:
                print(f"{name}: not after {hand.clicks}: {str(error).splitlines()[0]}", flush=True)
            page.context.close()


if __name__ == "__main__":
    main(sys.argv[1])
