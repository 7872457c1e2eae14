"""Graphs over time, under names with colons, and as they are shown to those who may not see all of them."""

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from urllib.parse import quote

from fastapi.testclient import TestClient
from tests.server.marquez.conftest import EVENTS
from tests.store.conftest import renamed, run_event, written

COLUMNS = "/api/v1/column-lineage"
CARRIERS = "postgres://db:5432:air.public.carriers"
PARENT = "00000000-0000-4000-8000-00000000000f"
Granted = Callable[..., AbstractContextManager[TestClient]]


def ids(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [node["id"] for node in answer.json()["graph"]]


def test_a_version_is_read_as_of_its_time(world: TestClient) -> None:
    later = copy.deepcopy(EVENTS[2]) | {"eventTime": "2026-01-02T00:00:00Z"}
    later["run"]["runId"] = "00000000-0000-4000-8000-000000000003"
    fields = later["outputs"][0]["facets"]["columnLineage"]["fields"]
    fields["carrier"]["inputFields"][0]["field"] = "km"
    assert world.post("/api/v1/lineage", json=later).status_code == 201
    versions = world.get("/api/v1/namespaces/postgres%3A%2F%2Fdb%3A5432/datasets/air.public.carriers/versions").json()
    newest, first = (one["version"] for one in versions["versions"])
    node = f"datasetField:{CARRIERS}:carrier"
    assert [one.split(":")[-1] for one in ids(world.get(COLUMNS, params={"nodeId": node, "depth": 1}))] == [
        "carrier",
        "km",
    ]
    then = ids(world.get(COLUMNS, params={"nodeId": f"{node}#{first}", "depth": 1}))
    assert [one.split("#")[0] for one in then] == [node, "datasetField:s3://lake:flights:carrier"]
    assert then[0].split("#")[1] == first != newest
    refused = world.get(COLUMNS, params={"nodeId": f"{node}#{first}", "withDownstream": "true"})
    assert (refused.status_code, "version" in refused.json()["message"]) == (400, True)
    assert world.get(COLUMNS, params={"nodeId": f"{node}#{'0' * 8}-{newest[9:]}"}).status_code == 404


def test_a_job_version_starts_at_what_it_wrote_then(world: TestClient) -> None:
    jobs = world.get("/api/v1/namespaces/dbt%3Aprod/jobs/carriers/versions").json()["versions"]
    node = f"job:dbt:prod:carriers#{jobs[0]['version']}"
    assert f"datasetField:{CARRIERS}:carrier" in [
        one.split("#")[0] for one in ids(world.get(COLUMNS, params={"nodeId": node}))
    ]


def test_downstream_is_no_detour_over_siblings(small: TestClient) -> None:
    events = [run_event("one", written("b", {"x": ["a.x"]})), run_event("two", written("c", {"x": ["a.x", "d.x"]}))]
    small.post("/api/v1/lineage", json=events)
    found = ids(small.get(COLUMNS, params={"nodeId": "datasetField:file:/b:x", "withDownstream": "true"}))
    assert found == ["datasetField:file:/a:x", "datasetField:file:/b:x"]


def test_the_values_of_a_whole_dataset_are_those_of_each_column(small: TestClient) -> None:
    fields = {"p": [], "q": ["r.z"], "*": ["r.x TRANSFORMATION", "r.y FILTER"]}
    small.post("/api/v1/lineage", json=[run_event("map", written("m", fields))])
    nodes = small.get(COLUMNS, params={"nodeId": "dataset:file:/m"}).json()["graph"]
    inputs = {node["data"]["field"]: {one["field"] for one in node["data"]["inputFields"]} for node in nodes}
    assert inputs == {"p": {"x", "y"}, "q": {"x", "y", "z"}, "x": set(), "y": set(), "z": set()}
    [one] = [node for node in nodes if node["data"]["field"] == "p"]
    kinds = {input_field["field"]: input_field["transformationType"] for input_field in one["data"]["inputFields"]}
    assert kinds == {"x": "TRANSFORMATION", "y": "FILTER"}
    dataset = small.get("/api/v1/namespaces/file/datasets/%2Fm").json()
    shown = {field["name"]: {one["field"] for one in field["inputFields"]} for field in dataset["columnLineage"]}
    assert shown == {"p": {"x", "y"}, "q": {"x", "y", "z"}}


def test_names_with_colons_are_matched_against_what_is_known(small: TestClient) -> None:
    small.post("/api/v1/lineage", json=[run_event("j", written("a:b", {"x:y": ["r:s.t:u"]}))])
    assert ids(small.get(COLUMNS, params={"nodeId": "datasetField:file:/a:b:x:y"})) == [
        "datasetField:file:/a:b:x:y",
        "datasetField:file:/r:s:t:u",
    ]
    assert small.get(COLUMNS, params={"nodeId": "dataset:" + "a:" * 100}).status_code == 400
    assert small.get(COLUMNS, params={"nodeId": "dataset:file"}).status_code == 404


def test_what_somebody_may_not_see_is_left_out_of_lists(granted: Granted) -> None:
    with granted("postgres:*", "dbt:*") as client:
        names = [one["name"] for one in client.get("/api/v1/namespaces").json()["namespaces"]]
        assert names == ["dbt:prod", "postgres://db:5432"]
        assert [one["name"] for one in client.get("/api/v1/jobs").json()["jobs"]] == ["carriers"]
        assert client.get("/api/v1/search?q=fli").json()["totalCount"] == 0
        assert client.get("/api/v1/events/lineage").json()["totalCount"] == 1
        assert client.get("/api/v1/stats/jobs?period=DAY").json()[-1]["count"] == 1
        for hidden in (
            "namespaces/s3%3A%2F%2Flake",
            "namespaces/s3%3A%2F%2Flake/datasets",
            "namespaces/s3%3A%2F%2Flake/datasets/flights",
            "namespaces/spark/jobs",
            "namespaces/spark/jobs/etl.clean",
            "jobs/runs/00000000-0000-4000-8000-000000000001",
            "column-lineage?nodeId=dataset:s3://lake:flights",
            "lineage?nodeId=job:spark:etl.clean",
        ):
            assert client.get(f"/api/v1/{hidden}").status_code == 404, hidden
        refused = client.put("/api/v1/namespaces/spark", json={"ownerName": "me"})
        assert refused.status_code == 403


def test_what_somebody_may_not_see_has_no_name_in_graphs(granted: Granted) -> None:
    with granted("postgres:*", "dbt:*") as client:
        answers = [
            client.get(f"{COLUMNS}?nodeId=dataset:{CARRIERS}"),
            client.get(f"/api/v1/lineage?nodeId=dataset:{CARRIERS}&withColumnLineage=true"),
            client.get("/api/v1/runlineage/upstream?runId=00000000-0000-4000-8000-000000000002"),
            client.get("/api/v1/namespaces/postgres%3A%2F%2Fdb%3A5432/datasets/air.public.carriers"),
            client.get("/api/v1/namespaces/dbt%3Aprod/jobs/carriers"),
            client.get("/api/v1/events/lineage"),
        ]
        for answer in answers:
            assert answer.status_code == 200
            assert not [word for word in ("s3:", "flights", "miles", "etl") if word in answer.text], answer.url
            assert '"hidden' in answer.text or ":hidden-" in answer.text
        assert ids(answers[0]) == ids(client.get(f"{COLUMNS}?nodeId=dataset:{CARRIERS}"))
        assert len(ids(answers[0])) == 7


def test_a_field_that_is_gone_from_the_schema_is_gone_from_the_dataset(small: TestClient) -> None:
    events = [
        run_event("j", written("d", {"x": ["r.x"], "y": ["r.y"]}), minute=1),
        run_event("j", written("d", {"x": ["r.x"], "*": ["r.k FILTER"]}), minute=2),
        run_event("k", written("e", {"x": ["d.z"]}), minute=2),
    ]
    small.post("/api/v1/lineage", json=events)
    dataset = small.get("/api/v1/namespaces/file/datasets/%2Fd").json()
    assert [field["name"] for field in dataset["fields"]] == ["x", "z"]
    assert [field["name"] for field in dataset["columnLineage"]] == ["x", "z"]
    found = ids(small.get(COLUMNS, params={"nodeId": "datasetField:file:/r:k", "withDownstream": "true"}))
    assert "datasetField:file:/d:y" not in found
    assert "datasetField:file:/e:x" in found


def test_pages_do_not_overlap(small: TestClient) -> None:
    small.post(
        "/api/v1/lineage", json=[run_event(f"j{one}", written(f"d{one}", {"x": []}), minute=one) for one in range(7)]
    )
    for place, key in (("jobs", "jobs"), ("namespaces/file/datasets", "datasets"), ("events/lineage", "events")):
        pages = [small.get(f"/api/v1/{place}?limit=3&offset={offset}").json() for offset in range(0, 12, 3)]
        seen = [str(one) for page in pages for one in page[key]]
        assert len(seen) == len(set(seen)) == pages[0]["totalCount"]


def test_counts_are_those_of_the_lists(world: TestClient) -> None:
    """Of what only lineage names, was dropped and made again, is hidden, and says that it happened in the future."""
    topics = written("topics")
    topics["facets"]["dataSource"] = {"name": "kafka", "uri": "kafka://k"}
    events = [
        run_event("first", written("gold", {"x": ["nowhere.y"]}), minute=1),
        run_event("drop", renamed("gold", None), minute=2),
        run_event("again", written("gold", {"x": ["nowhere.y"]}), minute=3),
        run_event("sourced", topics, minute=4),
        run_event("ahead", written("future", {"x": ["late.y"]})) | {"eventTime": "2999-01-01T00:00:00Z"},
        run_event(
            "child", run_facets={"parent": {"run": {"runId": PARENT}, "job": {"namespace": "demo", "name": "app"}}}
        ),
    ]
    assert world.post("/api/v1/lineage", json=events).status_code == 201
    for hidden in ("file/datasets/%2Ftopics", "demo/jobs/sourced"):
        assert world.delete(f"/api/v1/namespaces/{hidden}").status_code == 200
    spaces = [quote(one["name"], safe="") for one in world.get("/api/v1/namespaces").json()["namespaces"]]
    of_each = [world.get(f"/api/v1/namespaces/{one}/datasets").json() for one in spaces]
    listed = {
        "jobs": world.get("/api/v1/jobs").json()["totalCount"],
        "datasets": sum(one["totalCount"] for one in of_each),
        "sources": len(world.get("/api/v1/sources").json()["sources"]),
    }
    assert listed == {name: counted(world, name, "DAY") for name in listed}
    assert listed == {name: counted(world, name, "WEEK") for name in listed}


def counted(client: TestClient, name: str, period: str) -> int:
    """How many there are at the end of the last span."""
    return int(client.get(f"/api/v1/stats/{name}?period={period}").json()[-1]["count"])


def test_a_run_that_alters_a_table_shows_the_version_that_it_made(world: TestClient) -> None:
    """It wrote no rows, so it had no version, and the table that of before."""
    wider = {"schema": {"fields": [{"name": "a", "type": "string"}, {"name": "b", "type": "int"}]}}
    wider["lifecycleStateChange"] = {"lifecycleStateChange": "ALTER"}  # type: ignore[assignment]
    events = [
        run_event("make", written("gold", {"a": ["raw.x"]}), minute=1, run="make"),
        run_event("add", {"namespace": "file", "name": "/gold", "facets": wider}, minute=2, run="add"),
        run_event(
            "failed", {"namespace": "file", "name": "/gold", "facets": wider}, minute=3, run="failed", state="FAIL"
        ),
        run_event("read", written("made", {"c": ["gold.b"]}), inputs=["gold"], minute=4, run="read"),
    ]
    assert world.post("/api/v1/lineage", json=events).status_code == 201
    runs = {one["job"]["name"]: world.get(f"/api/v1/jobs/runs/{one['run']['runId']}").json() for one in events}
    made, added = (used(runs[name], "output")[0] for name in ("make", "add"))
    assert made != added
    assert used(runs["read"], "input") == [added]
    address = "/api/v1/namespaces/file/datasets/%2Fgold"
    assert world.get(address).json()["currentVersion"] == added
    listed = world.get(f"{address}/versions").json()
    fields = {one["version"]: [field["name"] for field in one["fields"]] for one in listed["versions"]}
    assert (fields[added], fields[made], listed["totalCount"]) == (["a", "b"], ["a"], len(fields))
    assert world.get(f"{address}/versions/{added}").json()["createdByRun"]["id"] == runs["add"]["id"]
    own = world.get("/api/v2/versions", params={"namespace": "file", "dataset": "/gold"}).json()
    assert {one["version"] for one in own["versions"]} == set(fields)


def used(run: Any, side: str) -> list[str]:
    """The versions of the datasets that a run read or wrote."""
    return [one["datasetVersionId"]["version"] for one in run[f"{side}DatasetVersions"]]


def test_what_is_possibly_replaced_is_marked_in_datasets_and_graphs(client: TestClient) -> None:
    nights = [
        run_event(
            f"night {day}", written("out", {"v": [f"{one}.x"], "*": [f"{one}.y FILTER"]}, (), "OVERWRITE"), minute=day
        )
        for day, one in enumerate("ab")
    ]
    client.post("/api/v1/lineage", json=nights)
    by = {
        "run": nights[1]["run"]["runId"],
        "job": {"namespace": "demo", "name": "night 1"},
        "at": "2026-01-01T00:01:00Z",
    }
    dataset = client.get("/api/v1/namespaces/file/datasets/%2Fout").json()
    graph = client.get("/api/v1/column-lineage?nodeId=datasetField:file:/out:v").json()["graph"]
    (node,) = (one for one in graph if one["id"].endswith(":v"))
    for inputs in (dataset["columnLineage"][0]["inputFields"], node["data"]["inputFields"]):
        marks = {(one["dataset"], one["field"]): one.get("possiblyReplaced") for one in inputs}
        assert marks == {("/a", "x"): by, ("/a", "y"): by, ("/b", "x"): None, ("/b", "y"): None}
