"""The graph on the page: a path is followed with the pointer and with the keyboard, and exported."""

import io
import json
import re
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import Locator, Page, expect
from tests.server.page.browser import Visit, breaches
from tests.server.page.lineage import LEAVES

from headwater.model.nested_fields import nested_name

AMOUNT = "?namespace=lake&dataset=silver%2Forders&field=amount&influence=all"


def column(page: Page, dataset: str, name: str) -> Locator:
    card = page.locator(".hw-card", has=page.get_by_role("button", name=dataset, exact=True))
    return card.locator(".hw-column", has_text=name).first


def datasets(page: Page) -> list[str]:
    return sorted(page.locator(".hw-card-name").all_inner_texts())


def picture(page: Page) -> Image.Image:
    return Image.open(io.BytesIO(page.locator(".hw-stage").screenshot())).convert("RGB")


def contrast(one: Image.Image, other: Image.Image) -> int:
    """The largest difference of a color of a pixel, of 255."""
    return max(high for _, high in ImageChops.difference(one, other).getextrema())


def test_a_click_shows_the_path_of_a_column_alone_and_escape_all_again(visiting: Visit) -> None:
    page = visiting.go(AMOUNT)
    expect(column(page, "silver/orders", "amount")).to_be_visible()
    whole = datasets(page)
    assert "salaries" in whole
    column(page, "revenue", "revenue").click()
    expect(page.locator(".hw-card-name", has_text="salaries")).to_have_count(0)
    expect(column(page, "revenue", "revenue")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(page.locator(".hw-card-name", has_text="salaries")).to_have_count(1)
    assert datasets(page) == whole


def test_the_rest_is_dimmed_instead_when_that_is_chosen(visiting: Visit) -> None:
    page = visiting.go(AMOUNT)
    page.get_by_role("button", name="Dim the rest").click()
    column(page, "revenue", "revenue").click()
    expect(column(page, "revenue", "revenue")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".hw-card.hw-on .hw-card-name", has_text="revenue")).to_have_count(1)
    expect(page.locator(".hw-card:not(.hw-on) .hw-card-name", has_text="salaries")).to_have_count(1)


def test_arrow_keys_walk_along_edges_and_say_where_one_is(visiting: Visit) -> None:
    page = visiting.go(AMOUNT)
    column(page, "silver/orders", "amount").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".hw-live")).to_contain_text("raw/orders.amount; DIRECT TRANSFORMATION")
    expect(page.locator(".hw-live")).to_contain_text("0 in")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".hw-column:focus")).to_have_count(1)


def test_a_line_under_the_pointer_says_how_and_a_click_opens_its_edge(visiting: Visit) -> None:
    page = visiting.go("?namespace=lake&dataset=gold%2Frevenue&field=revenue&up=1&down=0")
    expect(column(page, "revenue", "revenue")).to_be_visible()
    start, end = column(page, "orders", "amount").bounding_box(), column(page, "revenue", "revenue").bounding_box()
    assert start is not None
    assert end is not None
    x = (start["x"] + start["width"] + end["x"]) / 2
    y = (start["y"] + start["height"] / 2 + end["y"] + end["height"] / 2) / 2
    page.mouse.move(x, y)
    expect(page.locator(".hw-tip")).to_contain_text(
        "orders.amount → revenue.revenue · DIRECT AGGREGATION · sum(amount)"
    )
    page.mouse.click(x, y)
    page.wait_for_url("**edge=**")


def test_the_table_has_the_same_path_and_opens_by_arrow_keys(visiting: Visit) -> None:
    page = visiting.go(AMOUNT)
    column(page, "revenue", "revenue").click()
    page.get_by_role("button", name="Table", exact=True).click()
    grid = page.get_by_role("treegrid")
    expect(grid.get_by_role("row").nth(1)).to_contain_text("is made from")
    grid.get_by_role("row").nth(1).focus()
    page.keyboard.press("ArrowRight")
    expect(grid.get_by_role("row").nth(2)).to_be_focused()
    expect(grid.get_by_role("row").nth(2)).to_contain_text("silver/orders.amount")
    page.keyboard.press("ArrowRight")
    expect(grid.get_by_role("row").nth(2)).to_have_attribute("aria-expanded", "true")
    assert breaches(page) == []


def test_jobs_stand_between_datasets_and_groups_are_chosen(visiting: Visit) -> None:
    page = visiting.go(AMOUNT)
    expect(page.locator(".hw-card").first).to_be_visible()
    expect(page.locator(".hw-job")).to_have_count(0)
    page.get_by_role("button", name="Jobs", exact=True).click()
    expect(page.locator(".hw-job", has_text="clean")).to_have_count(1)
    page.get_by_label("Group").select_option("namespace")
    expect(page.locator(".hw-card").first).to_be_visible()


def test_dragging_and_the_wheel_move_the_cards(visiting: Visit) -> None:
    page = visiting.go(AMOUNT)
    card = page.locator(".hw-card").first
    expect(card).to_be_visible()
    before = card.bounding_box()
    stage = page.locator(".hw-stage").bounding_box()
    assert before is not None
    assert stage is not None
    page.mouse.move(stage["x"] + 30, stage["y"] + stage["height"] - 30)
    page.mouse.down()
    page.mouse.move(stage["x"] + 130, stage["y"] + stage["height"] - 80, steps=4)
    page.mouse.up()
    moved = card.bounding_box()
    assert moved is not None
    assert (round(moved["x"] - before["x"]), round(moved["y"] - before["y"])) == (100, -50)
    page.mouse.wheel(0, -200)
    expect(page.locator(".hw-world")).to_have_css(
        "transform", page.locator(".hw-world").evaluate("e => getComputedStyle(e).transform")
    )
    zoomed = card.bounding_box()
    assert zoomed is not None
    assert zoomed["width"] > moved["width"]


def test_names_can_be_read_on_small_cards(visiting: Visit) -> None:
    page = visiting.go(AMOUNT)
    name = column(page, "silver/orders", "amount").locator(".hw-field")
    expect(name).to_be_visible()
    scale = "e => e.getBoundingClientRect().width / e.offsetWidth"
    zooms = []
    while (zoom := page.locator(".hw-card").first.evaluate(scale)) >= 0.7:
        zooms.append(zoom)
        assert name.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") * zoom > 8.9
        page.get_by_role("button", name="Zoom out").click()
        expect(page.locator(".hw-world")).not_to_have_attribute("style", re.compile("will-change"))
    assert name.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") * zoom > 8.9
    assert zooms


def test_a_view_is_saved_as_a_page_that_shows_what_was_shown(visiting: Visit, tmp_path: Path) -> None:
    page = visiting.go(AMOUNT)
    column(page, "revenue", "revenue").click()
    expect(page.locator(".hw-card-name", has_text="salaries")).to_have_count(0)
    shown = datasets(page)
    page.locator(".hw-menu summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML", exact=True).click()
    download.value.save_as(tmp_path / "lineage.html")
    page.context.set_offline(True)
    page.goto((tmp_path / "lineage.html").as_uri())
    expect(column(page, "revenue", "revenue")).to_be_visible()
    assert datasets(page) == shown
    expect(page.get_by_role("button", name="HTML", exact=True)).to_have_count(0)


def test_a_drawing_that_was_moved_is_as_one_that_is_painted_anew(visiting: Visit) -> None:
    page = visiting.go(AMOUNT)
    expect(column(page, "revenue", "revenue")).to_be_visible()
    stage = page.locator(".hw-stage").bounding_box()
    assert stage is not None
    x, y = stage["x"] + 30, stage["y"] + stage["height"] - 30
    for number in range(3):
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 137, y - 61 - number, steps=6)
        page.mouse.up()
    page.wait_for_timeout(600)
    moved = picture(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(600)
    assert contrast(picture(page), moved) > 100
    page.emulate_media(color_scheme="light")
    page.wait_for_timeout(600)
    # Parts are painted from other points, so that the shades of a curve's edge may differ where no eye sees it.
    assert contrast(picture(page), moved) < 16


def test_all_four_exports_are_saved(visiting: Visit, tmp_path: Path) -> None:
    page = visiting.go(AMOUNT)
    expect(column(page, "silver/orders", "amount")).to_be_visible()
    contents = {}
    for name in ("PNG", "SVG", "Mermaid", "JSON"):
        page.locator(".hw-menu summary").click()
        with page.expect_download() as download:
            page.get_by_role("button", name=name, exact=True).click()
        path = tmp_path / name
        download.value.save_as(path)
        contents[name] = path.read_bytes()
    assert contents["PNG"].startswith(b"\x89PNG")
    assert b'font-weight="600">silver/orders</text>' in contents["SVG"]
    assert contents["Mermaid"].startswith(b"flowchart LR")
    assert "silver/orders" in json.loads(contents["JSON"])["datasets"]["name"]


def test_hostile_names_are_text_and_cut(visiting: Visit, tmp_path: Path) -> None:
    page = visiting.go("?namespace=lake&dataset=silver%2Forders&field=customer&influence=all")
    row = page.locator(".hw-column", has_text="onerror").first
    expect(row).to_be_visible()
    long = page.locator(".hw-column", has_text="nnnnnnnn").first
    box, card = long.bounding_box(), page.locator(".hw-card", has=long).bounding_box()
    assert box is not None
    assert card is not None
    assert box["width"] < card["width"]
    assert page.title() != "owned"
    assert page.locator(".hw-card img").count() == 0
    # The same of fields within columns: in cards, as a table, and in a file.
    page = visiting.go("?namespace=lake&dataset=raw%2Fodd&nested=on")
    expect(page.get_by_text(f"2 datasets, {2 * len(LEAVES)} columns")).to_be_visible()
    names = [nested_name(("items", leaf)) for leaf in LEAVES]
    odd = page.locator(".hw-card", has=page.get_by_role("button", name="silver/odd", exact=True))
    expect(odd.locator(".hw-field")).to_have_count(len(LEAVES))
    assert {one[:199] for one in odd.locator(".hw-field").all_text_contents()} == {one[:199] for one in names}
    page.locator(".hw-menu summary").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="HTML", exact=True).click()
    page.get_by_role("button", name="Table", exact=True).click()
    page.get_by_role("treegrid").get_by_role("row", name="silver/odd").focus()
    page.keyboard.press("ArrowRight")
    for name in names:
        expect(page.get_by_role("treegrid")).to_contain_text(name[:200])
    download.value.save_as(tmp_path / "odd.html")
    page.goto((tmp_path / "odd.html").as_uri())
    expect(odd.locator(".hw-field")).to_have_count(len(LEAVES))
    assert page.title() != "owned"
    assert page.evaluate("document.images.length") == 0
