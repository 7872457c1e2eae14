"""A view that is saved as one file, in a Chromium that reaches no network."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from playwright.sync_api import Browser, Page, expect
from tests.server.page.browser import Visit, breaches, visit
from tests.server.page.lineage import SCRIPT, TURNED, output, step
from tests.server.page.test_graph import column
from tests.server.processes import Forker, ServerProcess, serving
from tests.store.conftest import run_event
from typer.testing import CliRunner

from headwater.answers import saved_page
from headwater.capture.frames import FrameLineage
from headwater.cli.main import app
from headwater.model import ColumnLineage, Dataset, Dependency, InputField, Subtype, Transformation
from headwater.store import open_store
from headwater.store.maintenance import keyring

ENDING = "</script><script>document.title='owned'</script>"


@pytest.fixture
def offline(browser: Browser, tmp_path: Path) -> Iterator[Visit]:
    """A profile without network that opens files of the folder; in the end nothing may have failed in it."""
    with visit(browser, tmp_path.as_uri()) as opened:
        opened.page.context.set_offline(True)
        yield opened
        opened.require_clean()


def export(file: Path, name: str, *options: str, **environment: str) -> Result:
    arguments = ["export", "html", name, "-o", str(file), *options]
    return CliRunner().invoke(app, arguments, env=dict(os.environ) | environment)


def saved(file: Path, name: str, *options: str, **environment: str) -> str:
    result = export(file, name, *options, **environment)
    assert result.exit_code == 0, result.output
    assert f"{file}: " in result.output
    return file.read_text(encoding="utf-8")


def follow(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text("revenue")
    expect(column(page, "silver/orders", "amount")).to_be_visible()
    column(page, "top", "revenue").click()
    expect(column(page, "top", "revenue")).to_have_attribute("aria-pressed", "true")
    start, end = column(page, "revenue", "revenue").bounding_box(), column(page, "top", "revenue").bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.click((start["x"] + start["width"] + end["x"]) / 2, start["y"] + start["height"] / 2)
    panel = page.get_by_role("complementary", name="Details of the step")
    expect(panel).to_contain_text("identity")
    expect(panel).to_contain_text("report")
    panel.get_by_role("button", name="Close the details").click()
    page.get_by_role("button", name="Table", exact=True).click()
    expect(page.get_by_role("treegrid")).to_be_visible()


def test_a_view_of_a_store_is_one_file_that_is_followed_offline(offline: Visit, filled: str, tmp_path: Path) -> None:
    text = saved(tmp_path / "view.html", "gold/revenue.revenue", "--store", filled, "--type", "direct")
    policy = re.search('Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy[1]
    assert "http://" not in re.sub(r"http://www\.w3\.org/[\w/]+", "", text)
    page = offline.go("view.html")
    follow(page)
    assert breaches(page) == []
    page.get_by_role("button", name="Table", exact=True).click()
    page.locator(".hw-menu summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON", exact=True).click()
    assert "gold/revenue" in json.loads(download.value.path().read_text())["datasets"]["name"]


def test_a_view_of_a_server_is_that_of_its_key(offline: Visit, forker: Forker, filled: str, tmp_path: Path) -> None:
    with open_store(filled) as store:
        _, token = keyring.issue(store, "lake alone", "read", ("lake",))
    with serving(forker, filled, tmp_path / "log", "--auth") as server:
        refused = export(tmp_path / "none.html", "gold/bonus.bonus", "--server", server.url)
        assert refused.exit_code == 1
        assert f"{server.url} refuses: " in refused.output
        text = saved(tmp_path / "view.html", "gold/bonus.bonus", "--server", server.url, HEADWATER_API_KEY=token)
    assert not (tmp_path / "none.html").exists()
    assert "salar" not in text
    page = offline.go("view.html")
    expect(page.get_by_role("heading", level=1)).to_contain_text("bonus")
    expect(column(page, "bonus", "bonus")).to_be_visible()


def test_a_server_view_is_the_same_as_the_stores(server: ServerProcess, filled: str, tmp_path: Path) -> None:
    for name, options, columns in (
        ("gold/revenue.revenue", ("--up", "1", "--down", "0", "--type", "direct"), {"revenue", "amount"}),
        ("raw/odd.c5", ("--nested",), {"c5", "items.`a.b`"}),
        ("silver/odd.items.`a.b`", (), {"c5", "items.`a.b`"}),
    ):
        views = []
        for place in (("--server", server.url), ("--store", filled)):
            text = saved(tmp_path / "view.html", name, *options, *place)
            block = re.search('id="saved">(.*?)</script>', text)
            assert block is not None
            views.append(json.loads(block[1])["view"])
        assert views[0] == views[1]
        assert set(views[0]["columns"]["field"]) == columns


def test_names_that_are_programs_are_text_in_the_file(offline: Visit, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/l.db"
    fields = {one: ("string", [step("raw/x", one)]) for one in (ENDING, SCRIPT, TURNED, "<!--<script>", "\u2028")}
    with open_store(url) as store:
        store.ingest([run_event("odd", output(ENDING, fields), minute=1, run="odd")])
    text = saved(tmp_path / "view.html", ENDING, "--store", url)
    assert ENDING not in text
    assert TURNED[0] not in text
    page = offline.go("view.html")
    for name in (ENDING, SCRIPT):
        expect(page.locator(".hw-column", has_text=name).first).to_be_visible()
    assert page.title() == "script> · lineage · headwater"
    assert page.evaluate("document.images.length") == 0


def test_a_data_frame_in_a_notebook_is_the_same_graph_without_rights(offline: Visit, tmp_path: Path) -> None:
    table, how = Dataset("lake", "silver/orders"), Transformation(Subtype.AGGREGATION)
    fields = {name: frozenset({Dependency(InputField(table, "amount"), how)}) for name in ("revenue", SCRIPT)}
    rows = frozenset({Dependency(InputField(table, "day"), Transformation(Subtype.FILTER))})
    shown = FrameLineage(ColumnLineage(fields | {"one": frozenset()}, rows))._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><meta charset=utf-8><title>a notebook</title>{shown}")
    page = offline.go("notebook.html")
    frame = page.frame_locator("iframe")
    for name in ("revenue", "amount", "day", "one"):
        expect(frame.locator(".hw-column", has_text=name).first).to_be_visible()
    assert page.frames[1].evaluate("origin") == "null"
    expect(page.locator("table")).to_be_hidden()
    page.get_by_text("As a table").click()
    expect(page.locator("table")).to_contain_text("orders.amount")
    assert page.title() == "a notebook"


def test_a_source_tree_without_a_built_page_says_how_to_build_it(
    filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_page, "BUILT", tmp_path)
    result = export(tmp_path / "view.html", "gold/revenue", "--store", filled)
    assert result.exit_code == 1
    assert "build it with `make page`" in result.output
    assert FrameLineage(ColumnLineage())._repr_html_().startswith("<table")


@pytest.mark.parametrize("url", ["localhost:1", "http://127.0.0.1:1"])
def test_a_server_that_is_none_is_named(url: str, tmp_path: Path) -> None:
    result = export(tmp_path / "view.html", "a.b", "--server", url)
    assert result.exit_code == 1
    assert url in result.output
