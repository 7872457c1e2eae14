"""The pictures of docs/page.md: ``python -m tests.server.page.screenshots`` takes them of a server with the lineage."""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.server.page.browser import ROOT, chromiums, visit
from tests.server.page.lineage import EVENTS, RATES_RUNS
from tests.server.page.test_following import AMOUNT, ORDERS, REVENUE
from tests.server.page.test_growing import RATES
from tests.server.page.test_steps import step_query
from tests.server.processes import Forker, serving

from headwater.store import open_store

PICTURES = {
    "lineage": (f"{REVENUE}&influence=all", "light"),
    "dark": (f"{REVENUE}&influence=all&selected=0", "dark"),
    "why": (f"{AMOUNT}&page=why", "light"),
    "dataset": (ORDERS, "light"),
    "compared": (f"{RATES}&compare={RATES_RUNS[0]}", "light"),
    "phone": ("?namespace=lake&dataset=silver%2Forders&influence=all", "light"),
}
SCREEN = {"width": 1200, "height": 640}
PHONE = {"width": 390, "height": 780}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromiums() as running:
        store, forker = f"sqlite:///{folder}/lineage.db", Forker()
        with open_store(store) as opened:
            opened.ingest(EVENTS)
        with serving(forker, store, Path(folder) / "log") as server:
            pictures = PICTURES | {"step": (step_query(server.url, "amount", "revenue"), "light")}
            for name, (query, scheme) in pictures.items():
                size = PHONE if name == "phone" else SCREEN
                with visit(running().browser, server.url, color_scheme=scheme, viewport=size) as seen:
                    take(seen.go(query), name)
        forker.close()


def take(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text("Loading…")).to_have_count(0)
    page.wait_for_timeout(1500)  # the layout's worker, and the answers of panels
    page.screenshot(path=ROOT / "docs" / "img" / f"page-{name}.png")


if __name__ == "__main__":
    main()
