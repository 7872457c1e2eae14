"""Both APIs show a dataset by the first of its names that may be seen, and everything else under the same tokens."""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.server.access import bearer
from tests.store.conftest import run_event, written

from headwater.server import ServerSettings, create_app
from headwater.store import open_store
from headwater.store.maintenance.keyring import issue

ALIAS = {"namespace": "sales", "name": "shop.middle", "type": "TABLE"}


def events() -> list[dict[str, Any]]:
    """in → secret → middle → out, of which middle is called hr:/middle and sales:shop.middle, and secret is of hr."""
    outputs: list[dict[str, Any]] = [
        written("secret", {"s": ["in.x"]}) | {"namespace": "hr"},
        written("middle", {"m": ["secret.s"]}) | {"namespace": "hr"},
        written("out", {"y": ["middle.m"]}) | {"namespace": "sales"},
    ]
    outputs[1]["facets"]["symlinks"] = {"identifiers": [ALIAS]}
    made = []
    for place, output in enumerate(outputs):
        (lineage,) = output["facets"]["columnLineage"]["fields"].values()
        (source,) = lineage["inputFields"]
        source["namespace"] = "sales" if source["name"] == "/in" else "hr"
        event = run_event(f"job{place}", output, minute=place)
        event["job"]["namespace"] = "hr" if place == 0 else "sales"
        event["inputs"] = [{"namespace": source["namespace"], "name": source["name"]}]
        made.append(event)
    return made


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[TestClient]:
    """Requests with a key for sales."""
    url = f"sqlite:///{tmp_path}/lineage.db"
    with open_store(url) as store:
        assert not store.ingest(events()).rejected
        _, token = issue(store, "sales", "read", ["sales"])
    with TestClient(create_app(ServerSettings(url, auth=True)), headers=bearer(token)) as client:
        yield client


def walked(client: TestClient) -> list[tuple[str, str, str]]:
    answer = client.get("/api/v2/upstream?namespace=sales&dataset=/out&field=y").json()
    return [(one["namespace"], one["name"], one["field"]) for one in answer["columns"]]


def test_both_apis_show_a_dataset_by_the_name_that_may_be_seen(limited: TestClient) -> None:
    assert ("sales", "shop.middle", "m") in walked(limited)
    graph = limited.get("/api/v1/lineage?nodeId=dataset:sales:/out&withColumnLineage=true").json()["graph"]
    assert "dataset:sales:shop.middle" in {node["id"] for node in graph}
    columns = limited.get("/api/v1/column-lineage?nodeId=datasetField:sales:/out:y").json()["graph"]
    assert "datasetField:sales:shop.middle:m" in {node["id"] for node in columns}
    job = limited.get("/api/v1/namespaces/sales/jobs/job2").json()
    assert job["inputs"] == [{"namespace": "sales", "name": "shop.middle"}]
    (used,) = job["latestRun"]["inputDatasetVersions"]
    assert used["datasetVersionId"]["name"] == "shop.middle"
    dataset = limited.get("/api/v1/namespaces/sales/datasets/shop.middle")
    assert (dataset.status_code, dataset.json()["id"]) == (200, {"namespace": "sales", "name": "shop.middle"})
    versions = limited.get("/api/v1/namespaces/sales/datasets/shop.middle/versions").json()["versions"]
    assert [one["id"]["name"] for one in versions] == ["shop.middle"]
    assert "/middle" not in dataset.text
    for node in graph + columns:
        assert "hr" not in (node["data"]["namespace"], *node["id"].split(":"))


def test_both_apis_have_the_same_tokens(limited: TestClient) -> None:
    (hidden,) = {one for one in walked(limited) if one[0] == "hidden"}
    columns = limited.get("/api/v1/column-lineage?nodeId=datasetField:sales:/out:y").json()["graph"]
    assert f"datasetField:{':'.join(hidden)}" in {node["id"] for node in columns}


def test_no_token_can_be_found_by_trying_names_or_ids(limited: TestClient) -> None:
    tokens = {part for one in walked(limited) if one[0] == "hidden" for part in one[1:]}
    tried = [f"{kind} {id_}".encode() for kind in ("dataset", "field", "job") for id_ in range(20)]
    tried += [b"hr\0/secret", b"dataset\0hr\0/secret", b"field\0hr\0/secret\0s"]
    guesses = {f"hidden-{blake2b(one, digest_size=6).hexdigest()}" for one in tried}
    assert tokens
    assert not tokens & guesses
