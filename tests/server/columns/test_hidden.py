"""A node that a caller may not see keeps its place in the graph, and nothing else."""

from typing import get_args

import pytest
from fastapi.testclient import TestClient
from tests.server.columns.answers import Json, spelled_out, unordered
from tests.server.columns.conftest import LINEAGE
from tests.store.conftest import run_event, written

from headwater.server.auth.access import Caller, Scope
from headwater.server.server import Reader

FORMATS = ("csv", "mermaid", "dot", "graphml")


def of(namespace: str, output: Json) -> Json:
    for lineage in output["facets"]["columnLineage"]["fields"].values():
        for one in lineage["inputFields"]:
            one["namespace"] = "hr" if one["name"] == "/secret" else "sales"
            one["transformations"][0]["description"] = "salary * 2"
    return output | {"namespace": namespace}


@pytest.fixture
def limited(client: TestClient) -> TestClient:
    """A server whose caller sees sales and the job, on the way sales.in → hr.secret → sales.out."""
    outputs = (of("hr", written("secret", {"salary": ["in.x"]})), of("sales", written("out", {"y": ["secret.salary"]})))
    events = [run_event(f"j{place}", output) for place, output in enumerate(outputs)]
    assert client.post(LINEAGE, json=events).status_code == 201
    dependency = get_args(Reader)[1].dependency
    client.app.dependency_overrides[dependency] = lambda: Caller("sales", Scope.READ, ("sales*",))  # type: ignore[attr-defined]
    return client


def test_the_graph_keeps_its_shape_without_the_names(limited: TestClient) -> None:
    answer = limited.get("/api/v2/upstream?namespace=sales&dataset=/out&field=y").json()
    names = [(one["namespace"], one["name"].split("-")[0], one["field"].split("-")[0]) for one in answer["columns"]]
    assert names == [("sales", "/out", "y"), ("hidden", "hidden", "hidden"), ("sales", "/in", "x")]
    assert len(answer["hops"]) == 2
    assert {hop["job"]["namespace"] for hop in answer["hops"]} == {"hidden"}
    compact = limited.get("/api/v2/upstream?namespace=sales&dataset=/out&field=y&form=compact").json()
    assert unordered(spelled_out(compact)) == unordered(answer)


@pytest.mark.parametrize(
    "question",
    [
        *(f"{walk}?namespace=sales&dataset=/{name}" for walk, name in (("upstream", "out"), ("downstream", "in"))),
        "upstream?namespace=sales&dataset=/out&form=compact",
        "view?namespace=sales&dataset=/out",
        "view?namespace=sales&dataset=/in&field=x",
        "view?column=secret.salary",
        "view?namespace=hr&dataset=/secret",
        "upstream?namespace=sales&dataset=/out&collapse=dataset",
        *(f"upstream?namespace=sales&dataset=/out&format={one}" for one in FORMATS),
        "roots?namespace=sales&dataset=/out&field=y",
        "impact?namespace=sales&dataset=/in",
        "impact?namespace=sales&dataset=/in&by=job",
        "impact?namespace=sales&dataset=/in&format=csv",
        "paths?source=in.x&target=out.y",
        "diff?namespace=sales&dataset=/out&before=2020-01-01",
        "columns?q=s",
        "columns?q=secret",
        "datasets",
        "coverage",
        "upstream?column=secret",
        "upstream?column=secret.salar",
        "upstream?namespace=hr&dataset=/secret",
        "diff?job=j0&before=2020-01-01",
    ],
)
def test_no_answer_names_what_is_hidden(limited: TestClient, question: str) -> None:
    answer = limited.get(f"/api/v2/{question}")
    assert answer.status_code in (200, 404)
    assert not [word for word in ("secret", "salary", "hr", "j0", "j1") if word in answer.text.replace(question, "")]


def test_names_of_the_hidden_are_the_same_everywhere(limited: TestClient) -> None:
    up = limited.get("/api/v2/upstream?namespace=sales&dataset=/out").json()
    down = limited.get("/api/v2/downstream?namespace=sales&dataset=/in").json()
    hidden = [{one["name"] for one in answer["columns"] if one["namespace"] == "hidden"} for answer in (up, down)]
    assert hidden[0] == hidden[1] != set()


def test_a_view_shows_neither_types_nor_numbers_of_hidden_columns(limited: TestClient) -> None:
    output = of("hr", written("secret", {"salary": ["in.x"], "bonus": ["in.x"]}))
    output["facets"]["schema"] = {"fields": [{"name": one, "type": "decimal(9,9)"} for one in ("salary", "bonus")]}
    assert limited.post(LINEAGE, json=run_event("j0", output, minute=30)).status_code == 201
    view = limited.get("/api/v2/view?namespace=sales&dataset=/out&field=y").json()
    names = dict(zip(view["datasets"]["namespace"], view["datasets"]["width"], strict=True))
    assert names["hidden"] == 0
    types = dict(zip(view["columns"]["field"], view["columns"]["dataType"], strict=True))
    assert types.pop("y") == "string"
    assert set(types.values()) == {None}
    assert "decimal" not in str(view)


def test_a_step_at_which_anything_is_hidden_is_not_there(limited: TestClient) -> None:
    view = limited.get("/api/v2/view?namespace=sales&dataset=/out&field=y").json()
    ids, jobs = view["columns"]["id"], view["jobs"]["id"]
    for place, source in enumerate(view["edges"]["input"]):
        ends = {"input": ids[source], "output": ids[view["edges"]["output"][place]]}
        answer = limited.get("/api/v2/step", params=ends | {"job": jobs[view["edges"]["job"][place]]})
        assert (answer.status_code, answer.json()["message"]) == (404, "Nothing that you may see has that name.")
