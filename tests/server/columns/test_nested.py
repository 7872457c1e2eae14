"""Fields within columns over HTTP: by their names or on request, in every form, hidden as columns are."""

from typing import get_args

import pytest
from fastapi.testclient import TestClient
from tests.server.columns.answers import Json, answer_to, rows_of, spelled_out, unordered
from tests.server.columns.conftest import LINEAGE
from tests.server.schemas import validator
from tests.store.conftest import nested, packed, run_event, written

from headwater.model.nested_fields import nested_name
from headwater.server.auth.access import Caller, Scope
from headwater.server.server import Reader

EVENTS = [
    run_event("rates", written("rates", {"tax": []})),
    run_event("pack", packed()),
    run_event("gold", nested("gold", {"total": ["orders.items.price AGGREGATION"], "label": ["orders.items.sku"]})),
]
LEAF = "namespace=file&dataset=/orders&field=items.price"
QUESTIONS = [
    f"upstream?{LEAF}",
    "upstream?column=gold.total&nested=true",
    "downstream?column=orders.items.price&limit=1",
    f"roots?{LEAF}",
    f"impact?{LEAF}",
    f"impact?{LEAF}&by=job",
    "paths?source=raw.price&target=gold.total&nested=true",
    f"view?{LEAF}",
    f"lineage?{LEAF}&form=compact",
    f"lineage?{LEAF}&form=ids",
    f"lineage?{LEAF}&collapse=dataset",
]


@pytest.fixture
def shop(client: TestClient) -> TestClient:
    """raw.price → orders.items.price → gold.total, and other fields beside them."""
    assert client.post(LINEAGE, json=EVENTS).status_code == 201
    return client


@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_of_leaves_fit_the_schema(shop: TestClient, question: str) -> None:
    document = shop.get("/openapi.json").json()
    operation = document["paths"][f"/api/v2/{question.partition('?')[0]}"]["get"]
    answer = answer_to(shop, question)
    validator(document, operation["responses"]["200"]).validate(answer)
    assert "sku" not in str(answer)


def test_a_leaf_is_named_with_the_fields_that_lead_to_it(shop: TestClient) -> None:
    answer = answer_to(shop, f"upstream?{LEAF}")
    assert answer["start"] == {
        "namespace": "file",
        "name": "/orders",
        "field": "items.price",
        "path": ["items", "price"],
    }
    assert [one["field"] for one in answer["columns"]] == ["items.price", "price"]
    compact = answer_to(shop, f"upstream?{LEAF}&form=compact")
    plain = {
        key: [without_path(one) for one in some] if isinstance(some, list) else some for key, some in answer.items()
    }
    assert unordered(spelled_out(compact))["columns"] == unordered(plain)["columns"]
    (impacted,) = answer_to(shop, f"impact?{LEAF}")["datasets"]
    assert [one["field"] for one in impacted["columns"]] == ["total"]


def without_path(one: Json) -> Json:
    return {key: value for key, value in one.items() if key != "path"}


def test_a_view_has_the_column_of_a_leaf(shop: TestClient) -> None:
    columns = rows_of(answer_to(shop, f"view?{LEAF}")["columns"])
    leaf, price, total = (
        next(one for one in columns if one["field"] == name) for name in ("items.price", "price", "total")
    )
    assert (leaf["dataType"], price["within"], total["within"]) == ("double", None, None)
    (items,) = [
        one for one in rows_of(answer_to(shop, "view?column=orders.items")["columns"]) if one["field"] == "items"
    ]
    assert leaf["within"] == items["id"] != leaf["id"]
    view = answer_to(shop, f"view?{LEAF}")
    assert view["columns"]["id"] == answer_to(shop, f"view?{LEAF}")["columns"]["id"]
    ends = f"input={price['id']}&output={items['id']}&job={view['jobs']['id'][0]}"
    step = answer_to(shop, f"step?{ends}")
    assert step["run"]


HOSTILE = (
    "a.b",
    "`",
    "a``.b",
    "<script>alert(1)</script>",
    "\u202egpj",
    "",
    " ",
    "n" * 10_000,
    "'; DROP TABLE edge; --",
    "%_",
)


def test_hostile_names_of_leaves_are_names(client: TestClient) -> None:
    """Leaves of any name are told apart, shown in every form, and found by the name that the answer has."""
    leaves = {nested_name(("items", name)): [f"raw.c{place}"] for place, name in enumerate(HOSTILE)}
    fields = ",".join(f"{name}:string" for name in HOSTILE)  # which Spark does not quote
    output = nested("orders", {}, {})
    output["facets"] = written("orders", leaves)["facets"]
    output["facets"]["schema"]["fields"] = [{"name": "items", "type": f"struct<{fields}>"}]
    whole = [one for field in output["facets"]["columnLineage"]["fields"].values() for one in field["inputFields"]]
    output["facets"]["headwater_nestedLineage"] = output["facets"]["columnLineage"]
    output["facets"]["columnLineage"] = {"fields": {"items": {"inputFields": whole}}, "dataset": []}
    assert client.post(LINEAGE, json=run_event("pack", output)).status_code == 201
    for place, name in enumerate(HOSTILE):
        raw = {"namespace": "file", "dataset": "/raw", "field": f"c{place}"}
        (leaf,) = client.get("/api/v2/downstream", params=raw | {"nested": True, "depth": 1}).json()["columns"][1:]
        assert leaf["path"] == ["items", name]
        for form in ("csv", "mermaid", "dot", "graphml"):
            drawn = client.get("/api/v2/downstream", params=raw | {"nested": True, "format": form})
            assert drawn.status_code == 200
        parameters = {"namespace": "file", "dataset": "/orders", "field": leaf["field"]}
        found = client.get("/api/v2/upstream", params=parameters)
        assert [one["field"] for one in found.json()["columns"]] == [leaf["field"], f"c{place}"], name[:50]
        assert client.get("/api/v2/view", params=parameters).status_code == 200


def test_leaves_of_one_name_but_for_case_are_one_to_who_asks(client: TestClient) -> None:
    """Spark compares names without case: what is made of either is an answer to a question about one."""
    output = nested("orders", {"items.a": ["raw.x"], "items.A": ["raw.y"]}, {"items": "struct<a:string,A:string>"})
    assert client.post(LINEAGE, json=run_event("pack", output)).status_code == 201
    answer = answer_to(client, "upstream?namespace=file&dataset=/orders&field=items.A")
    assert {one["field"] for one in answer["columns"]} >= {"x", "y"}


def test_what_is_hidden_has_no_leaves(client: TestClient) -> None:
    output = packed() | {"namespace": "hr"}
    gold = nested("gold", {"total": ["orders.items.price"]})
    for facet in ("columnLineage", "headwater_nestedLineage"):
        for field in gold["facets"][facet]["fields"].values():
            field["inputFields"][0]["namespace"] = "hr"
    assert client.post(LINEAGE, json=[run_event("pack", output), run_event("gold", gold)]).status_code == 201
    dependency = get_args(Reader)[1].dependency
    client.app.dependency_overrides[dependency] = lambda: Caller("file", Scope.READ, ("file",), secret=b"s")  # type: ignore[attr-defined]
    for question in ("upstream?column=gold.total", "view?column=gold.total", "upstream?column=gold.total&form=compact"):
        answer = client.get(f"/api/v2/{question}&nested=true")
        assert answer.status_code == 200
        assert not [word for word in ("items", "orders", '"hr"') if word in answer.text]
    plain, leaves = (answer_to(client, f"upstream?column=gold.total{more}") for more in ("", "&nested=true"))
    assert (plain["columns"], plain["hops"]) == (leaves["columns"], leaves["hops"])
    assert client.get("/api/v2/upstream?column=orders.items.price").status_code == 404
