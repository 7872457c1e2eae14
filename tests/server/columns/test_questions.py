"""Roots, impact, paths, differences, lists; and what all answers have: an ETag."""

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.server.columns.answers import Json, short, steps
from tests.server.columns.conftest import LINEAGE
from tests.store.conftest import run_event, written

Ask = Callable[..., Json]


def test_roots_with_why_they_are_some(ask: Ask) -> None:
    answer = ask("roots", column="avg_delay")
    assert {short(root["column"]): (root["origin"], root["distance"]) for root in answer["roots"]} == {
        "flights.dep_delay": ("source", 2),
        "flights.cancelled": ("source", 2),
        "flights.carrier": ("source", 2),
    }
    first = ask("roots", column="avg_delay", limit=2)
    second = ask("roots", column="avg_delay", limit=2, cursor=first["next"])
    assert first["roots"] + second["roots"] == answer["roots"]
    assert (len(first["roots"]), second["next"]) == (2, None)


def test_a_root_of_a_filtered_walk_says_that_there_is_more(ask: Ask) -> None:
    answer = ask("roots", column="avg_delay", job="gold")
    assert {(short(root["column"]), root["origin"]) for root in answer["roots"]} == {
        ("flights.delay", "filtered"),
        ("flights.carrier", "filtered"),
    }


def test_impact_by_dataset_by_job_in_pages_and_as_rows(flights: TestClient, ask: Ask) -> None:
    answer = ask("impact", column="landing/flights")
    assert answer["total"] == {"datasets": 2, "columns": 5, "jobs": 2}
    first = ask("impact", column="landing/flights", limit=3)
    pages = [first, ask("impact", column="landing/flights", limit=3, cursor=first["next"])]
    columns = [
        (one["name"], column["field"]) for page in pages for one in page["datasets"] for column in one["columns"]
    ]
    assert columns == [(one["name"], column["field"]) for one in answer["datasets"] for column in one["columns"]]
    assert [len(one["columns"]) for one in pages[0]["datasets"]] == [3]
    by_job = ask("impact", column="landing/flights", by="job")
    assert {one["job"]["name"]: len(one["columns"]) for one in by_job["jobs"]} == {"clean": 3, "gold": 2}
    one_job = ask("impact", column="landing/flights", by="job", limit=1)
    other = ask("impact", column="landing/flights", by="job", limit=1, cursor=one_job["next"])
    assert (one_job["jobs"] + other["jobs"], other["next"]) == (by_job["jobs"], None)
    rows = list(csv.DictReader(io.StringIO(flights.get("/api/v2/impact?column=dep_delay&format=csv").text)))
    assert [(row["dataset"], row["field"], row["subtype"]) for row in rows] == [
        ("/data/silver/flights", "delay", "TRANSFORMATION"),
        ("/data/gold/delays", "avg_delay", "AGGREGATION"),
    ]


def test_impact_on_a_dataset_of_which_no_column_is_known(client: TestClient) -> None:
    client.post(
        LINEAGE, json=[run_event("j", written("counted", {"*": ["raw.x FILTER"]}), written("b", {"x": ["raw.x"]}))]
    )
    transformation = {"type": "INDIRECT", "subtype": "FILTER", "masking": False, "opaque": False, "wholeDataset": True}
    answer = client.get("/api/v2/impact?column=raw.x").json()
    assert [(one["name"], len(one["columns"]), one.get("transformations")) for one in answer["datasets"]] == [
        ("/b", 1, None),
        ("/counted", 0, [transformation]),
    ]
    assert answer["total"] == {"datasets": 2, "columns": 1, "jobs": 1}
    first = client.get("/api/v2/impact?column=raw.x&limit=1").json()
    pages = [first, client.get(f"/api/v2/impact?column=raw.x&limit=1&cursor={first['next']}").json()]
    assert [one for page in pages for one in page["datasets"]] == answer["datasets"]
    rows = list(csv.DictReader(io.StringIO(client.get("/api/v2/impact?column=raw.x&format=csv").text)))
    assert [(row["dataset"], row["field"], row["subtype"]) for row in rows] == [
        ("/b", "x", "IDENTITY"),
        ("/counted", "", "FILTER"),
    ]


def impacted(answer: Json) -> list[tuple[str, str]]:
    return [(one["name"], column["field"]) for one in answer["datasets"] for column in one["columns"]]


def test_paths_between_two_columns(ask: Ask) -> None:
    answer = ask("paths", source="dep_delay", target="avg_delay")
    (path,) = answer["paths"]
    assert [short(column) for column in path["columns"]] == ["flights.dep_delay", "flights.delay", "delays.avg_delay"]
    assert ask("paths", source="dep_delay", target="tailnum")["paths"] == []


def changing(client: TestClient) -> None:
    first = written("gold", {"a": ["raw.x", "raw.y AGGREGATION"], "b": ["raw.z"]})
    second = written("gold", {"a": ["raw.x TRANSFORMATION", "raw.w"], "b": ["raw.z"]})
    events = [
        run_event("job", first, minute=1, run="one"),
        run_event("job", second, minute=5, run="two"),
        run_event("raw", written("raw", {"z": ["source.z"]}), minute=7),
    ]
    assert client.post(LINEAGE, json=events).status_code == 201


def test_what_became_of_a_dataset_a_column_and_the_outputs_of_a_job(served: TestClient) -> None:
    changing(served)
    runs = {"before": "2026-01-01T00:02:00Z", "after": "2026-01-01T00:06:00Z"}

    def diff(**parameters: str) -> Json:
        answer = served.get("/api/v2/diff", params=runs | parameters)
        assert answer.status_code == 200, answer.text
        document: Json = answer.json()
        return document

    for about in ({"namespace": "file", "dataset": "/gold"}, {"column": "gold.a"}, {"job": "job"}, {"job": "demo/job"}):
        answer = diff(**about)
        assert steps(answer["added"]) == {"gold.a <- raw.w IDENTITY by job"}
        assert steps(answer["removed"]) == {"gold.a <- raw.y AGGREGATION by job"}
        (changed,) = answer["changed"]
        assert steps([changed]) == {"gold.a <- raw.x TRANSFORMATION by job"}
        assert [transformation["subtype"] for transformation in changed["before"]] == ["IDENTITY"]
    assert steps(diff(column="gold.b", after="2026-01-01T00:08:00Z")["added"]) == {"raw.z <- source.z IDENTITY by raw"}


def test_two_runs_are_compared_by_what_held_from_them_on(client: TestClient) -> None:
    changing(client)
    ids = {row["job"]["name"]: row["run"] for row in client.get("/api/v2/coverage").json()["outputs"]}
    answer = client.get(f"/api/v2/diff?column=gold.b&before={ids['job']}&after={ids['raw']}").json()
    assert (steps(answer["added"]), answer["removed"]) == ({"raw.z <- source.z IDENTITY by raw"}, [])
    rows = client.get(f"/api/v2/diff?job=job&before=2026-01-01&after={ids['job']}&format=csv").text.splitlines()
    assert [row.split(",")[0] for row in rows] == ["change", *["added"] * 3, *["column added"] * 2]
    assert client.get("/api/v2/diff?job=no&before=2026-01-01").status_code == 404
    assert client.get("/api/v2/diff?job=job&column=gold.b&before=2026-01-01").status_code == 400


def test_columns_are_found_by_rank_in_pages(served: TestClient) -> None:
    outputs = [
        written("orders", {"id": [], "price": [], "price_net": [], "the_price": []}),
        written("prices", {"x": []}),
    ]
    served.post(LINEAGE, json=run_event("job", *outputs))

    def found(q: str, limit: int = 100) -> list[tuple[str, str]]:
        columns: list[tuple[str, str]] = []
        cursor: Json = {}
        while cursor is not None:
            page = served.get("/api/v2/columns", params={"q": q, "limit": limit, **cursor}).json()
            columns += [(short(one), one["match"]) for one in page["columns"]]
            cursor = {"cursor": page["next"]} if page["next"] else None  # type: ignore[assignment]
        return columns

    expected = [
        ("orders.price", "exact"),
        ("orders.price_net", "start"),
        ("orders.the_price", "part"),
        ("prices.x", "dataset"),
    ]
    assert found("PRICE") == found("PRICE", 1) == found("price", 2) == expected
    assert found("orders.price") == [("orders.price", "exact"), *expected[1:3]]
    assert found("100%") == []


def test_datasets_with_their_columns_in_pages(served: TestClient) -> None:
    served.post(LINEAGE, json=run_event("job", *(written(name, {"y": [], "x": ["s.x"]}) for name in "cab")))
    names, cursor = [], ""
    while cursor is not None:
        page = served.get(f"/api/v2/datasets?limit=2{cursor and '&cursor='}{cursor}").json()
        names += [(one["name"], [column["field"] for column in one["columns"]]) for one in page["datasets"]]
        cursor = page["next"]
    assert names == [("/a", ["y", "x"]), ("/b", ["y", "x"]), ("/c", ["y", "x"]), ("/s", ["x"])]
    assert [one["name"] for one in served.get("/api/v2/datasets?q=B").json()["datasets"]] == ["/b"]


def test_coverage(flights: TestClient, ask: Ask) -> None:
    answer = ask("coverage")
    assert answer["total"] == {"none": 1, "partial": 0, "opaque": 1, "full": 1}
    assert [one["coverage"] for one in answer["outputs"]] == ["none", "opaque", "full"]
    assert ask("coverage", run="01900002")["total"]["full"] == 1
    assert flights.get("/api/v2/coverage?format=csv").text.startswith("coverage,namespace,")


def test_coverage_comes_in_pages_that_no_other_output_shifts(served: TestClient) -> None:
    served.post(LINEAGE, json=[run_event(name, written(name), minute=1) for name in "bcdf"])
    first = served.get("/api/v2/coverage?limit=2").json()
    served.post(LINEAGE, json=[run_event(name, written(name), minute=2) for name in "ae"])
    rest = served.get(f"/api/v2/coverage?limit=9&cursor={first['next']}").json()
    pages = [[one["output"]["name"] for one in page["outputs"]] for page in (first, rest)]
    assert pages == [["/b", "/c"], ["/d", "/e", "/f"]]
    assert rest["next"] is None
    assert served.get("/api/v2/coverage?cursor=WzFd").status_code == 400


def test_an_answer_has_a_tag_until_lineage_changes(flights: TestClient) -> None:
    def ask(tag: str = "", **parameters: Any) -> Any:
        return flights.get(
            "/api/v2/roots", params={"column": "avg_delay", **parameters}, headers={"If-None-Match": tag}
        )

    tag = ask().headers["etag"]
    again = ask(tag)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert ask(f'"other", {tag}').status_code == 304
    assert ask(tag, limit=1).status_code == 200
    flights.post(LINEAGE, json=run_event("other", written("elsewhere", {"a": ["b.c"]})))
    assert ask(tag).status_code == 200


def test_an_answer_that_time_cut_has_no_etag(flights: TestClient) -> None:
    answer = flights.get("/api/v2/upstream?column=avg_delay&seconds=0.000000001")
    assert (answer.json()["truncated"], "etag" in answer.headers) == (["time"], False)


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("roots?column=out.x", "roots"),
        ("upstream?column=out.x", "columns"),
        ("upstream?column=out.x&form=compact", "columns"),
        ("upstream?column=out.x&form=ids", "columns"),
        ("impact?column=first.x", "datasets"),
        ("impact?column=first.x&by=job", "jobs"),
    ],
)
def test_pages_skip_and_repeat_nothing_while_events_come_in(client: TestClient, question: str, items: str) -> None:
    middle = [run_event(f"make {one}", written(one, {"x": ["first.x"]})) for one in ("m2", "m4")]
    client.post(LINEAGE, json=[*middle, run_event("out", written("out", {"x": ["m2.x", "m4.x", "r1.x", "r5.x"]}))])

    def shown(page: Json) -> list[Json]:
        found = page[items]
        return list(found if isinstance(found, list) else found["id"])

    whole = shown(client.get(f"/api/v2/{question}").json())
    first = client.get(f"/api/v2/{question}&limit=1").json()
    # They come before all that was on the first page, or after it.
    client.post(LINEAGE, json=[run_event("make a0", written("a0", {"x": ["first.x"]}), minute=1, run="a0")])
    client.post(LINEAGE, json=[run_event("aaa", written("out", {"x": ["a1.x"]}), minute=1, run="a1")])
    rest, cursor = [], first["next"]
    while cursor is not None:
        page = client.get(f"/api/v2/{question}&limit=1&cursor={cursor}").json()
        rest += shown(page)
        cursor = page["next"]
    read = list(map(str, shown(first) + rest))
    assert len(read) == len(set(read))
    assert {str(one) for one in whole} <= set(read)


@pytest.mark.parametrize(
    "question", ["roots?column=avg_delay", "impact?column=dep_delay", "impact?by=job&column=dep_delay"]
)
@pytest.mark.parametrize("cursor", ["x", "WzJd", "WyJhIl0", "e30", "W10", "%F0%9F", "W251bGwsMV0"])
def test_a_cursor_of_another_answer_is_refused(flights: TestClient, question: str, cursor: str) -> None:
    assert flights.get(f"/api/v2/{question}&limit=1&cursor={cursor}").status_code == 400
