"""People make, tag, begin, end and delete things over HTTP; each lasts, and is shown at once."""

from typing import Any

from fastapi.testclient import TestClient
from tests.server.marquez.conftest import EVENTS

LAKE = "/api/v1/namespaces/s3%3A%2F%2Flake"
FLIGHTS = f"{LAKE}/datasets/flights"
CLEAN = "/api/v1/namespaces/spark/jobs/etl.clean"
RUN = "00000000-0000-4000-8000-0000000000bb"


def done(answer: Any, status: int = 200) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def test_namespaces_sources_and_tags_are_described(empty: TestClient) -> None:
    made = done(empty.put("/api/v1/namespaces/a%2Fb", json={"ownerName": "us", "description": "d"}))
    assert (made["name"], made["ownerName"], made["description"]) == ("a/b", "us", "d")
    again = done(empty.put("/api/v1/namespaces/a%2Fb", json={"ownerName": "them"}))
    assert (again["ownerName"], again["description"], again["createdAt"]) == ("them", None, made["createdAt"])
    source = {"type": "postgresql", "connectionUrl": "jdbc:postgresql://db/x", "description": "main"}
    assert done(empty.put("/api/v1/sources/db", json=source))["type"] == "POSTGRESQL"
    assert [one["name"] for one in done(empty.get("/api/v1/sources"))["sources"]] == ["db"]
    assert done(empty.put("/api/v1/tags/pii", json={"description": "of people"})) == {
        "name": "pii",
        "description": "of people",
    }
    assert done(empty.put("/api/v1/tags/PII", json={}))["description"] == "of people"
    assert len(done(empty.get("/api/v1/tags"))["tags"]) == 1
    assert empty.put("/api/v1/namespaces/x", json={}).status_code == 422


def test_tags_are_put_and_taken_off(world: TestClient) -> None:
    assert done(world.post(f"{FLIGHTS}/tags/mine"))["tags"] == ["gold", "mine"]
    assert done(world.delete(f"{FLIGHTS}/tags/gold"))["tags"] == ["mine"]
    tagged = done(world.post(f"{FLIGHTS}/fields/km/tags/metric"))
    assert [field["tags"] for field in tagged["fields"]] == [["pii"], ["metric"]]
    assert done(world.delete(f"{FLIGHTS}/fields/km/tags/METRIC"))["fields"][1]["tags"] == []
    assert world.post(f"{FLIGHTS}/fields/none/tags/x").status_code == 404
    assert done(world.post(f"{CLEAN}/tags/old"))["tags"] == ["nightly", "old"]
    assert done(world.delete(f"{CLEAN}/tags/nightly"))["tags"] == ["old"]


def test_a_deleted_node_is_hidden_until_an_event_has_it_again(world: TestClient) -> None:
    assert done(world.delete(FLIGHTS))["name"] == "flights"
    assert world.get(FLIGHTS).status_code == 404
    assert [one["name"] for one in done(world.get(f"{LAKE}/datasets"))["datasets"]] == ["raw/flights"]
    node = "postgres://db:5432:air.public.carriers"
    assert done(world.get(f"/api/v1/column-lineage?nodeId=dataset:{node}"))["graph"] == []
    assert "dataset:s3://lake:flights" not in world.get(f"/api/v1/lineage?nodeId=dataset:{node}").text
    assert done(world.delete(CLEAN))["name"] == "etl.clean"
    assert world.get(CLEAN).status_code == 404
    again = [event | {"eventTime": "2999-01-01T00:00:00Z"} for event in EVENTS]
    done(world.post("/api/v1/lineage", json=again), 201)
    assert done(world.get(FLIGHTS))["tags"] == ["gold"]
    assert done(world.get(CLEAN))["name"] == "etl.clean"


def test_a_namespace_is_deleted_with_all_that_is_in_it(world: TestClient) -> None:
    done(world.delete(LAKE))
    assert done(world.get(LAKE))["isHidden"] is True
    assert done(world.get(f"{LAKE}/datasets"))["totalCount"] == 0
    done(world.put(LAKE, json={"ownerName": "us"}))
    assert done(world.get(LAKE))["isHidden"] is False


def test_datasets_and_jobs_are_described_by_events(world: TestClient) -> None:
    place = f"{LAKE}/datasets/new%2Fone"
    body = {
        "type": "STREAM",
        "physicalName": "new/one",
        "sourceName": "lake",
        "description": "d",
        "fields": [{"name": "x", "type": "INT", "tags": ["pii"], "description": "x of it"}],
        "tags": ["t"],
    }
    made = done(world.put(place, json=body))
    assert (made["type"], made["sourceName"], made["description"], made["tags"]) == ("STREAM", "lake", "d", ["t"])
    assert made["fields"] == [{"name": "x", "type": "INT", "tags": ["pii"], "description": "x of it"}]
    assert done(world.get(f"{place}/versions"))["versions"][0]["createdByRun"] is None
    job = {
        "type": "SERVICE",
        "inputs": [{"namespace": "s3://lake", "name": "new/one"}],
        "outputs": [],
        "location": "https://example.org/a",
        "context": {"sql": "SELECT 1"},
        "tags": ["t"],
    }
    written = done(world.put("/api/v1/namespaces/spark/jobs/serve", json=job))
    assert (written["type"], written["location"], written["inputs"], written["tags"]) == (
        "SERVICE",
        "https://example.org/a",
        [{"namespace": "s3://lake", "name": "new/one"}],
        ["t"],
    )
    assert written["facets"]["sql"]["query"] == "SELECT 1"
    assert world.put(place, json=body | {"sourceName": "none"}).status_code == 404
    assert world.put("/api/v1/namespaces/none/jobs/x", json=job).status_code == 404


def test_text_that_no_database_holds_is_taken_all_the_same(world: TestClient) -> None:
    made = done(world.put("/api/v1/namespaces/a%00b", json={"ownerName": "\0us"}))
    assert (made["name"], made["ownerName"]) == ("a\N{REPLACEMENT CHARACTER}b", "\N{REPLACEMENT CHARACTER}us")
    for place in ("jobs/runs/%00", "search?q=%00", "runlineage/upstream?runId=%00", "lineage?nodeId=job:%00:x"):
        assert world.get(f"/api/v1/{place}").status_code in (200, 404), place
    assert done(world.post(f"{FLIGHTS}/tags/a%00"))["tags"] == ["a\N{REPLACEMENT CHARACTER}", "gold"]
    refused = world.put("/api/v1/namespaces/a", content=b"[1]", headers={"Content-Type": "application/json"})
    assert refused.status_code == 422


def test_a_dataset_is_found_by_its_other_names(world: TestClient) -> None:
    link = {"identifiers": [{"namespace": "hive://ms", "name": "air.flights", "type": "TABLE"}]}
    event = {
        "eventTime": "2026-01-03T00:00:00Z",
        "dataset": {"namespace": "s3://lake", "name": "flights", "facets": {"symlinks": link}},
    }
    done(world.post("/api/v1/lineage", json=[event]), 201)
    assert done(world.get("/api/v1/namespaces/hive%3A%2F%2Fms/datasets/air.flights"))["name"] == "flights"
    place = "/api/v1/column-lineage?depth=1&nodeId=datasetField:hive://ms:air.flights:km"
    assert done(world.get(place))["graph"][0]["id"] == "datasetField:s3://lake:flights:km"


def test_a_run_is_made_begun_and_ended(world: TestClient) -> None:
    body = {"id": RUN, "nominalStartTime": "2026-02-01T00:00:00Z", "args": {"mode": "full"}}
    made = done(world.post(f"{CLEAN}/runs", json=body), 201)
    assert (made["id"], made["state"], made["args"]["mode"]) == (RUN, "NEW", "full")
    assert world.post(f"{CLEAN}/runs", json=body).status_code == 409
    place = f"/api/v1/jobs/runs/{RUN}"
    begun = done(world.post(f"{place}/start?at=2999-01-01T00:00:00Z"))
    assert (begun["state"], begun["startedAt"]) == ("RUNNING", "2999-01-01T00:00:00Z")
    for _ in range(2):  # the same end twice is one
        ended = done(world.post(f"{place}/complete?at=2999-01-01T00:00:02.500000Z"))
    assert (ended["state"], ended["durationMs"]) == ("COMPLETED", 2500)
    assert done(world.get(f"{CLEAN}/runs"))["totalCount"] == 2
    assert [one["state"] for one in done(world.get(CLEAN))["latestRuns"]] == ["COMPLETED", "COMPLETED"]
    assert world.post(f"{place}/complete?at=then").status_code == 400
    assert world.post(f"{place}/explode").status_code == 422
    assert world.post(f"/api/v1/jobs/runs/{RUN[:-1]}c/start").status_code == 404


def test_a_run_writes_a_dataset_that_is_described_with_it(world: TestClient) -> None:
    done(world.post(f"{CLEAN}/runs", json={"id": RUN}), 201)
    done(world.post(f"/api/v1/jobs/runs/{RUN}/start"))
    body = {"type": "DB_TABLE", "physicalName": "flights", "sourceName": "lake", "runId": RUN}
    done(world.put(FLIGHTS, json=body))
    done(world.post(f"/api/v1/jobs/runs/{RUN}/complete"))
    newest = done(world.get(f"{FLIGHTS}/versions?limit=1"))
    assert (newest["totalCount"], newest["versions"][0]["createdByRun"]["id"]) == (2, RUN)
    version = newest["versions"][0]["version"]
    assert done(world.get(FLIGHTS))["currentVersion"] == version
    assert done(world.get(f"{FLIGHTS}/versions/{version}")) == newest["versions"][0]
    assert world.get(f"{FLIGHTS}/versions/{RUN}").status_code == 404
