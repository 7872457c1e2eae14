"""``headwater diff``: columns and edges that came, went and changed, what breaks, and where tags newly arrive."""

import json
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.policies.conftest import Run
from tests.store.conftest import nested, run_event, written

from headwater.answers.pictures import DrawnEdge, Look, picture
from headwater.store import open_store

CLEAN = {
    "who": ["lake/customers.email TRANSFORMATION masked"],
    "domain": ["lake/customers.email TRANSFORMATION"],
    "n": ["lake/customers.email AGGREGATION masked"],
    "*": ["lake/customers.city FILTER"],
}


def changed(path: Path, fields: dict[str, list[str]], **more: Any) -> Path:
    """A copy of the store in which the job ``clean`` has run again with other lineage."""
    other = path.with_name("after.db")
    shutil.copy(path, other)
    with open_store(str(other)) as store:
        output = written("lake/contacts", fields, write="ALL_ROWS")
        for field in output["facets"]["schema"]["fields"]:
            field["type"] = more.get("types", {}).get(field["name"], "string")
        output["facets"]["ownership"] = {"owners": [{"name": "team-crm", "type": "OWNER"}]}
        store.ingest([run_event("clean", output, minute=30, run="again")])
    return other


@pytest.fixture
def difference(path: Path, headwater: Run) -> Any:
    """The document about a change of the job ``clean``."""

    def of(fields: dict[str, list[str]], **more: Any) -> Any:
        return json.loads(headwater("diff", path, changed(path, fields, **more), "--format", "json").output)

    return of


def names(columns: list[dict[str, str]]) -> list[str]:
    return [f"{one['dataset']}.{one['field']}".removeprefix("file:/") for one in columns]


def test_the_same_job_again_changes_nothing(difference: Any, path: Path, headwater: Run) -> None:
    found = difference(CLEAN)
    assert found["columns"] == {"added": [], "removed": [], "retyped": [], "rerouted": []}
    assert (found["edges"], found["broken"], found["flows"]) == ([], [], [])
    same = headwater("diff", path, path.with_name("after.db"), "--exit-code")
    assert (same.exit_code, same.output) == (0, "## Lineage\n\nNothing changes.\n")


def test_a_lost_mask_is_named_and_the_tag_that_newly_arrives_too(difference: Any, path: Path, headwater: Run) -> None:
    headwater("tag", "add", "landing/people.mail", "pii.email")
    found = difference(CLEAN | {"who": ["lake/customers.email TRANSFORMATION"]})
    (edge,) = found["edges"]
    assert (edge["note"], names([edge["output"]])) == ("mask lost", ["lake/contacts.who"])
    assert sorted(names(found["flows"])) == ["lake/contacts.who", "reports/daily.who"]
    assert {one["arriving"] for one in found["flows"]} == {"value"}
    shown = headwater("diff", path, path.with_name("after.db"), "--exit-code")
    assert shown.exit_code == 1
    assert shown.output.index("Tags that newly arrive (2)") < shown.output.index("**mask lost**")


def test_a_declared_job_counts_as_a_run_of_it(path: Path, headwater: Run) -> None:
    headwater("tag", "add", "landing/people.mail", "pii.email")
    after = path.with_name("after.db")
    shutil.copy(path, after)
    output = written("lake/contacts", CLEAN | {"who": ["lake/customers.email TRANSFORMATION"]}, write="ALL_ROWS")
    event = run_event("clean", output, minute=30)
    del event["run"], event["eventType"]
    with open_store(str(after)) as store:
        assert store.ingest([event]).added == 1
    found = json.loads(headwater("diff", path, after, "--format", "json").output)
    assert [one["note"] for one in found["edges"]] == ["mask lost"]
    assert sorted(names(found["flows"])) == ["lake/contacts.who", "reports/daily.who"]


def test_a_filter_that_is_added_is_seen_though_it_carries_no_value(difference: Any) -> None:
    found = difference(CLEAN | {"*": ["lake/customers.city FILTER", "lake/customers.id FILTER"]})
    assert [(one["note"], names([one["output"]])) for one in found["edges"]] == [("FILTER added", ["lake/contacts.*"])]
    (added,) = found["edges"]
    assert (added["before"], added["after"][0]["subtype"]) == ([], "FILTER")


def test_a_removed_column_breaks_what_is_made_of_it(difference: Any) -> None:
    found = difference({key: value for key, value in CLEAN.items() if key != "domain"})
    assert names(found["columns"]["removed"]) == ["lake/contacts.domain"]
    (broken,) = found["broken"]
    assert names([broken]) == ["reports/daily.domain"]
    assert names(broken["because"]) == ["lake/contacts.domain"]


def test_a_retyped_and_a_rerouted_column_are_different_changes(difference: Any) -> None:
    fields = CLEAN | {"domain": ["lake/customers.city TRANSFORMATION"]}
    found = difference(fields, types={"n": "bigint"})["columns"]
    assert [(*names([one]), one["before"], one["after"]) for one in found["retyped"]] == [
        ("lake/contacts.n", "string", "bigint")
    ]
    (rerouted,) = found["rerouted"]
    assert names([rerouted]) == ["lake/contacts.domain"]
    assert (names(rerouted["before"]), names(rerouted["after"])) == (["lake/customers.email"], ["lake/customers.city"])


def test_two_moments_of_one_store_differ_as_two_stores_do(difference: Any, path: Path, headwater: Run) -> None:
    stores = difference({"domain": ["lake/customers.city TRANSFORMATION"], "new": ["lake/customers.id"]})
    after = path.with_name("after.db")
    moments = headwater("diff", "--at", "2026-01-01T00:10:00Z", "--store", after, "--format", "json").output
    assert json.loads(moments) == stores
    assert names(stores["columns"]["added"]) == ["lake/contacts.new"]


def test_datasets_are_the_same_by_any_of_their_names(path: Path, headwater: Run, tmp_path: Path) -> None:
    other = tmp_path / "plan.db"
    event = run_event("load", written("elsewhere", {"email": ["landing/people.mail"]}, ["warehouse.customers"]))
    with open_store(str(other)) as store:
        store.ingest([event])
    found = json.loads(headwater("diff", path, other, "--format", "json").output)
    assert "lake/customers.email" not in names(found["columns"]["removed"])


def test_markdown_cuts_long_sections_and_keeps_names_in_their_quotes(path: Path, headwater: Run) -> None:
    fields = CLEAN | {f"c`{number}": ["lake/customers.id"] for number in range(60)}
    shown = headwater("diff", path, changed(path, fields)).output
    assert "### Columns added (60)" in shown
    assert "- and 10 more: `headwater diff --format json` lists all" in shown
    assert "- `file:/lake/contacts.c'0`" in shown


def test_the_page_draws_what_changes_and_loads_and_runs_nothing(path: Path, headwater: Run) -> None:
    headwater("tag", "add", "landing/people.mail", "pii.email")
    fields = {"who": ["lake/customers.email TRANSFORMATION"], "<b>n": ["lake/customers.id"]}
    page = headwater("diff", path, changed(path, fields), "--format", "html").output
    assert re.findall(r"<script|<link|<b>|\bsrc=|\bhref=|url\(|@import|\bon\w+=", page) == []
    assert re.findall("<h[23]>(.*?)</h[23]>", page)[:2] == ["Lineage", "Tags that newly arrive (2)"]
    (figure,) = re.findall("<figure>.*</figure>", page, re.DOTALL)
    svg = ElementTree.fromstring(figure)[0]
    drawn = {(one.attrib["class"], one[0].text.partition("  ")[0]) for one in svg.iter("path")}
    assert ("edge removed", "removed: file:/lake/customers.email -> file:/lake/contacts.domain") in drawn
    assert ("edge added", "added: file:/lake/customers.id -> file:/lake/contacts.<b>n") in drawn
    over = "a tag newly arrives over it: file:/lake/customers.email -> file:/lake/contacts.who"
    assert ("edge tag", over) in drawn
    places = {one[0].text: float(one.attrib["x"]) for one in svg.iter("text") if one.get("class") == "name"}
    assert sorted(places, key=places.__getitem__) == [
        "file:/landing/people", "file:/lake/customers", "file:/lake/contacts", "file:/reports/daily",
    ]  # fmt: skip


def test_a_picture_of_a_cycle_has_every_edge() -> None:
    ends = [("a", "b"), ("b", "a"), ("b", "b"), ("b", "c")]
    shown = picture([DrawnEdge((one, "x"), (other, "y"), Look.BEFORE) for one, other in ends])
    assert len(list(ElementTree.fromstring(shown)[0].iter("path"))) == len(ends)
    assert picture([]) == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["main..HEAD"], "main..HEAD is a range of revisions: name the jobs to plan at both, as --job jobs/daily.py."),
        (["main..HEAD", "--job", "a.py"], "is in no git repository"),
        (["main", "--job", "a.py"], "'main' is no range of revisions: expected two with dots between, as main..HEAD."),
        (["main", "HEAD", "--job", "a.py"], "expected one range, as main..HEAD"),
        (["../none.db", "after.db"], "none.db: expected a file"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    arguments: list[str], message: str, headwater: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = headwater("diff", *arguments)
    assert refused.exit_code in {1, 2}
    assert message in " ".join(refused.output.replace("│", "").split())


ITEMS = "array<struct<sku:string,price:double,tax:struct<rate:double>>>"
LEAVES = {
    "items.sku": ["lake/customers.id"],
    "items.price": ["lake/customers.n masked TRANSFORMATION"],
    "items.tax.rate": ["lake/customers.rate"],
    "id": ["lake/customers.id"],
}


def nested_store(path: Path, leaves: dict[str, list[str]], *, types: str = ITEMS, facet: bool = True) -> Path:
    """A store of a job that packs columns into structs, and one that reads two of their leaves."""
    events = [
        run_event("pack", nested("lake/orders", leaves, {"items": types}, facet=facet), run="pack"),
        run_event(
            "use", nested("gold", {"sku": ["lake/orders.items.sku"], "tax": ["lake/orders.items.tax"]}), minute=2
        ),
    ]
    raw = written("lake/customers", {name: [] for name in ("id", "n", "rate", "other")})
    with open_store(str(path)) as store:
        store.ingest([run_event("raw", raw, minute=0), *events])
    return path


@pytest.fixture
def leafwise(tmp_path: Path, headwater: Run) -> Any:
    """The document about a change of the job ``pack``, by leaf or by column."""
    before = nested_store(tmp_path / "leaves.db", LEAVES)

    def of(leaves: dict[str, list[str]], *options: str, **more: Any) -> Any:
        after = nested_store(tmp_path / f"after{len(list(tmp_path.iterdir()))}.db", leaves, **more)
        return json.loads(headwater("diff", before, after, "--format", "json", *options).output)

    return of


def test_fields_within_a_column_are_compared_one_by_one(leafwise: Any) -> None:
    leaves = LEAVES | {"items.sku": ["lake/customers.other"], "items.price": ["lake/customers.n TRANSFORMATION"]}
    found = leafwise(leaves, "--nested")
    (sku,) = found["columns"]["rerouted"]
    assert names([sku, *sku["before"], *sku["after"]]) == [
        "lake/orders.items.sku",
        "lake/customers.id",
        "lake/customers.other",
    ]
    (price,) = found["edges"]
    assert (price["note"], names([price["output"]])) == ("mask lost", ["lake/orders.items.price"])
    assert [(names([one]), names(one["because"])) for one in found["broken"]] == [
        (["gold.sku"], ["lake/orders.items.sku"])
    ]
    by_column = leafwise(leaves)
    assert names(by_column["columns"]["rerouted"]) == ["lake/orders.items"]
    assert names(by_column["broken"]) == ["gold.sku", "gold.tax"]


def test_a_field_within_that_came_went_or_has_another_type_is_named(leafwise: Any) -> None:
    types = "array<struct<price:decimal(10,2),tax:struct<rate:double,code:string>>>"
    leaves = {name: inputs for name, inputs in LEAVES.items() if name != "items.sku"}
    found = leafwise(leaves | {"items.tax.code": ["lake/customers.other"]}, "--nested", types=types)
    columns = found["columns"]
    assert names(columns["added"]) == ["lake/orders.items.tax.code"]
    assert names(columns["removed"]) == ["lake/orders.items.sku"]
    assert [(*names([one]), one["before"], one["after"]) for one in columns["retyped"]] == [
        ("lake/orders.items.price", "double", "decimal(10,2)")
    ]
    assert columns["rerouted"] == found["edges"] == []
    assert names(found["broken"]) == ["gold.sku"]
    kind = leafwise(LEAVES, "--nested", types=ITEMS.removeprefix("array<")[:-1])["columns"]["retyped"]
    assert [(*names([one]), one["before"], one["after"]) for one in kind] == [
        ("lake/orders.items", "array<struct>", "struct")
    ]


def test_moments_are_compared_by_fields_within(tmp_path: Path, leafwise: Any, headwater: Run) -> None:
    leaves = {name: inputs for name, inputs in LEAVES.items() if name != "items.price"}
    stores = leafwise(leaves | {"items.sku": ["lake/customers.other"]}, "--nested")
    with open_store(str(tmp_path / "leaves.db")) as store:
        again = nested("lake/orders", leaves | {"items.sku": ["lake/customers.other"]}, {"items": ITEMS})
        store.ingest([run_event("pack", again, minute=30, run="again")])
    moments = ("--at", "2026-01-01T00:10:00Z", "--store", tmp_path / "leaves.db", "--format", "json")
    assert json.loads(headwater("diff", *moments, "--nested").output) == stores
    assert names(stores["columns"]["rerouted"]) == ["lake/orders.items.price", "lake/orders.items.sku"]


def test_columns_are_compared_where_one_side_knows_no_fields_within(leafwise: Any) -> None:
    assert leafwise(LEAVES, "--nested", facet=False)["columns"]["rerouted"] == []
    moved = LEAVES | {"items.sku": ["lake/customers.other"]}
    found = leafwise(moved, "--nested", facet=False)["columns"]
    assert found == leafwise(moved)["columns"]
    assert names(found["rerouted"]) == ["lake/orders.items"]
