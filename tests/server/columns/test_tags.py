"""Tags over HTTP: listed, put and taken off, and followed; keys with limits see and change their own."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.server.columns.conftest import LINEAGE
from tests.server.schemas import validator
from tests.store.conftest import packed, run_event

from headwater.server import ServerSettings, create_app
from headwater.store.maintenance import keyring

Json = dict[str, Any]
EMAIL = {"namespace": "crm", "dataset": "raw", "field": "email"}


def table(namespace: str, name: str, /, **fields: list[Json]) -> Json:
    lineage = {"fields": {field: {"inputFields": inputs} for field, inputs in fields.items()}}
    schema = {"fields": [{"name": field, "type": "string"} for field in fields]}
    return {"namespace": namespace, "name": name, "facets": {"columnLineage": lineage, "schema": schema}}


def source(namespace: str, name: str, field: str, subtype: str = "IDENTITY", **how: Any) -> Json:
    kind = {"type": "INDIRECT" if subtype == "FILTER" else "DIRECT", "subtype": subtype, "masking": False, **how}
    return {"namespace": namespace, "name": name, "field": field, "transformations": [kind]}


WORLD = [
    run_event("load", table("crm", "raw", email=[], name=[]), minute=1),
    run_event(
        "clean",
        table(
            "crm",
            "people",
            email=[source("crm", "raw", "email", "TRANSFORMATION", description="lower(email)")],
            digest=[source("crm", "raw", "email", "TRANSFORMATION", masking=True, description="sha2(email, 256)")],
            name=[source("crm", "raw", "name"), source("crm", "raw", "email", "FILTER")],
        ),
        minute=2,
    ),
    run_event("pay", table("hr", "salaries", owner=[source("crm", "people", "email")]), minute=3),
    run_event("report", table("crm", "report", owner=[source("hr", "salaries", "owner")]), minute=4),
]


@pytest.fixture
def world(url: str) -> Iterator[TestClient]:
    """A server on a store of each kind that asks for keys; the client has one for everything."""
    with TestClient(create_app(ServerSettings(url, auth=True))) as client:
        use_key(client, "admin", "*")
        assert client.post(LINEAGE, json=WORLD).status_code == 201
        yield client


def put(client: TestClient, tag: str = "pii.email", **more: str) -> Any:
    return client.post("/api/v2/tags", json={**EMAIL, "tag": tag, **more})


def use_key(client: TestClient, scope: str, namespace: str) -> None:
    store = client.app.state.server.store  # type: ignore[attr-defined]
    client.headers["Authorization"] = f"Bearer {keyring.issue(store, f'{scope} {namespace}', scope, (namespace,))[1]}"


def arrivals(answer: Json) -> list[str]:
    return [
        f"{one['arriving']} {one['column']['name']}.{one['column']['field']} {len(one['path'])}"
        for one in answer["arrivals"]
    ]


def test_a_tag_is_put_listed_and_taken_off(world: TestClient) -> None:
    answer = put(world, value="home")
    assert answer.status_code == 201
    expected = {"on": {"namespace": "crm", "name": "raw", "field": "email"}, "tag": "pii.email", "value": "home"}
    assert answer.json() == {**expected, "source": "API", "at": answer.json()["at"]}
    first = world.get("/api/v2/tags")
    assert first.json() == {"tags": [answer.json()], "writable": True}
    assert world.get("/api/v2/tags", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
    assert put(world, "owner", field="").status_code == 201
    again = world.get("/api/v2/tags", headers={"If-None-Match": first.headers["etag"]})
    assert [one["tag"] for one in again.json()["tags"]] == ["owner", "pii.email"]
    assert [one["tag"] for one in world.get("/api/v2/tags?column=crm/raw.name").json()["tags"]] == []
    assert world.delete("/api/v2/tags", params={**EMAIL, "tag": "PII.email"}).status_code == 204
    assert world.delete("/api/v2/tags", params={**EMAIL, "tag": "pii.email"}).status_code == 404
    assert [one["tag"] for one in world.get("/api/v2/tags").json()["tags"]] == ["owner"]


def test_a_tag_is_followed_with_the_path_and_the_expressions(world: TestClient) -> None:
    put(world)
    answer = world.get("/api/v2/tags/flow?tag=pii.email").json()
    assert answer["starts"] == [{"namespace": "crm", "name": "raw", "field": "email"}]
    assert answer["reached"] == {"value": 3, "masked": 1, "influence": 0}
    assert arrivals(answer) == [
        "value people.email 1",
        "value salaries.owner 2",
        "value report.owner 3",
        "masked people.digest 1",
    ]
    steps = answer["arrivals"][2]["path"]
    assert [one["transformations"][0]["description"] for one in steps] == ["lower(email)", "", ""]
    influenced = world.get("/api/v2/tags/flow?tag=pii.email&influence=true&limit=1").json()
    assert arrivals(influenced) == ["value people.email 1", "masked people.digest 1", "influence people.name 1"]
    assert influenced["reached"] == {"value": 3, "masked": 1, "influence": 1}
    assert world.get("/api/v2/tags/flow?tag=none").json()["arrivals"] == []
    then = world.get("/api/v2/tags/flow?tag=pii.email&as_of=2026-01-01T00:02:30Z").json()
    assert arrivals(then) == ["value people.email 1", "masked people.digest 1"]
    then = world.get("/api/v2/tags/arriving?column=report.owner&as_of=2026-01-01T00:02:30Z").json()
    assert then["arrivals"] == []


def test_the_tags_that_arrive_at_a_column_or_a_dataset_are_listed(world: TestClient) -> None:
    put(world)
    put(world, "gdpr", field="")
    for name, expected in {
        "column=report.owner": [("gdpr", "value report.owner 3"), ("pii.email", "value report.owner 3")],
        "namespace=crm&dataset=people": [
            ("gdpr", "value people.email 1"),
            ("gdpr", "value people.name 1"),
            ("gdpr", "masked people.digest 1"),
            ("pii.email", "value people.email 1"),
            ("pii.email", "masked people.digest 1"),
        ],
        "namespace=crm&dataset=raw": [],
    }.items():
        answer = world.get(f"/api/v2/tags/arriving?{name}").json()
        assert list(zip([one["tag"] for one in answer["arrivals"]], arrivals(answer), strict=True)) == expected


def test_a_key_with_limits_sees_and_changes_its_own_tags_alone(world: TestClient) -> None:
    put(world)
    secret = {"namespace": "hr", "dataset": "salaries", "field": "owner"}
    assert world.post("/api/v2/tags", json={**secret, "tag": "payroll"}).status_code == 201
    use_key(world, "read", "crm")
    answer = world.get("/api/v2/tags").json()
    assert [one["tag"] for one in answer["tags"]] == ["pii.email"]
    assert answer["writable"] is False
    assert put(world, "mine").status_code == 403
    assert world.delete("/api/v2/tags", params={**EMAIL, "tag": "pii.email"}).status_code == 403
    flow = world.get("/api/v2/tags/flow?tag=pii.email")
    assert arrivals(flow.json())[0::2] == ["value people.email 1", "value report.owner 3"]
    assert "salaries" not in flow.text
    assert "lower" not in flow.text
    assert world.get("/api/v2/tags/flow?tag=payroll").json() == {
        "starts": [],
        "reached": {"value": 0, "masked": 0, "influence": 0},
        "arrivals": [],
    }
    arriving = world.get("/api/v2/tags/arriving?column=report.owner")
    assert {one["tag"] for one in arriving.json()["arrivals"]} == {"pii.email"}
    assert world.get("/api/v2/tags/arriving?namespace=hr&dataset=salaries").status_code == 404
    assert world.get("/api/v2/tags?namespace=hr&dataset=salaries").status_code == 404
    use_key(world, "write", "crm")
    assert world.get("/api/v2/tags").json()["writable"] is True
    assert put(world, "mine").status_code == 201
    for answer in (
        world.post("/api/v2/tags", json={**secret, "tag": "mine"}),
        world.delete("/api/v2/tags", params={**secret, "tag": "payroll"}),
    ):
        assert answer.status_code == 403
        assert "crm" in answer.json()["message"]


def test_answers_are_as_the_openapi_document_says(world: TestClient) -> None:
    put(world)
    document = world.get("/openapi.json").json()
    for path in ("tags", "tags/flow?tag=pii.email&influence=true", "tags/arriving?column=report.owner"):
        response = document["paths"][f"/api/v2/{path.partition('?')[0]}"]["get"]["responses"]["200"]
        validator(document, response, "application/json").validate(world.get(f"/api/v2/{path}").json())
    response = document["paths"]["/api/v2/tags"]["post"]["responses"]["201"]
    validator(document, response, "application/json").validate(put(world).json())


@pytest.mark.parametrize("tag", ["", "a=b", "\x00", "x" * 501])
def test_a_tag_that_is_none_is_refused(world: TestClient, tag: str) -> None:
    assert put(world, tag).status_code == 422
    assert put(world, "t", value="\n").status_code == 422
    assert put(world, "t", dataset="none").status_code == 404


def test_a_field_within_a_column_has_tags_of_its_own(world: TestClient) -> None:
    assert world.post(LINEAGE, json=[run_event("pack", packed())]).status_code == 201
    items = {"namespace": "file", "dataset": "/orders", "field": "items"}
    leaf = items | {"field": "items.price"}
    assert world.post("/api/v2/tags", json=items | {"tag": "money"}).status_code == 201
    placed = world.post("/api/v2/tags", json=leaf | {"tag": "money"})
    assert (placed.status_code, placed.json()["on"]["field"]) == (201, "items.price")
    listed = world.get("/api/v2/tags", params=items).json()["tags"]
    assert [one["on"]["field"] for one in listed] == ["items", "items.price"]
    assert world.delete("/api/v2/tags", params=items | {"tag": "money"}).status_code == 204
    flow = world.get("/api/v2/tags/flow", params={"tag": "money"}).json()
    assert [one["field"] for one in flow["starts"]] == ["items.price"]
    world.post("/api/v2/tags", json={"namespace": "file", "dataset": "/raw", "field": "sku", "tag": "code"})
    for field, found in {"items": ["items.sku"], "items.sku": ["items.sku"], "items.price": []}.items():
        arriving = world.get("/api/v2/tags/arriving", params=items | {"field": field}).json()
        assert [one["column"]["field"] for one in arriving["arrivals"]] == found
    assert world.delete("/api/v2/tags", params=leaf | {"tag": "money"}).status_code == 204
