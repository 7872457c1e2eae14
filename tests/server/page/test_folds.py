"""Many readers of one dataset, which are one card until one wants to see each."""

import json
import re
from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.server.page.browser import breaches, visit
from tests.server.page.lineage import output, step
from tests.server.processes import Forker, serving
from tests.store.conftest import run_event

from headwater.store import open_store

HUB = "?namespace=lake&dataset=silver%2Fhub&field=amount"
READERS = 89
HUB_WRITTEN = output("silver/hub", {"amount": ("int", [step("raw/hub", "amount")])})
EVENTS = [run_event("hub", HUB_WRITTEN, minute=1, run="hub")] + [
    run_event(f"reader{number}", output(
        f"{('bi.db', 'ml', 'exports')[number % 3]}/table_{number}", {"total": ("int", [step("silver/hub", "amount")])}
    ), minute=2, run=f"reader{number}")
    for number in range(READERS)
]  # fmt: skip


def test_many_readers_are_one_card_by_schema_until_all_are_wanted(
    browser: Browser, forker: Forker, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/lineage.db"
    with open_store(url) as store:
        store.ingest(EVENTS)
    with serving(forker, url, tmp_path / "log") as server, visit(browser, server.url) as opened:
        page = opened.go(HUB)
        fold = page.locator(".hw-fold")
        expect(fold).to_contain_text(f"{READERS} readers of hub")
        expect(fold.locator(".hw-field")).to_have_text(["bi.db · 30", "ml · 30", "exports · 29"])
        expect(page.locator(".hw-card")).to_have_count(3)
        expect(page.get_by_text(f"2 of 91 datasets, 2 of 91 columns; {READERS} folded")).to_be_visible()
        assert breaches(page) == []
        page.locator(".hw-menu summary").click()
        with page.expect_download() as download:
            page.get_by_role("button", name="JSON", exact=True).click()
        assert len(json.loads(download.value.path().read_text())["datasets"]["name"]) == READERS + 2
        fold.get_by_role("button", name=f"{READERS} readers of hub").click()
        expect(page.get_by_text("91 datasets, 91 columns", exact=True)).to_be_visible()
        assert re.search(r"unfolded=\d+", page.url)
        page.go_back()
        expect(fold).to_have_count(1)
        fold.locator(".hw-column", has_text="ml").click()
        expect(fold).to_have_count(0)
        page.get_by_role("button", name="Fold", exact=True).click()
        expect(fold).to_have_count(1)
        page.get_by_role("button", name="Table", exact=True).click()
        expect(page.get_by_role("treegrid").get_by_role("row").filter(has_text="table_")).not_to_have_count(0)
        opened.require_clean()
