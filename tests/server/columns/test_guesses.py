"""Guesses over HTTP: only on request, marked in every form, hidden as everything is."""

import csv
import io
from typing import get_args

import pytest
from fastapi.testclient import TestClient
from tests.server.columns.answers import Json, answer_to, short, spelled_out, unordered
from tests.server.columns.conftest import LINEAGE
from tests.server.schemas import validator
from tests.store.conftest import run_event, written

from headwater.server.auth.access import Caller, Scope
from headwater.server.server import Reader

EVENTS = [
    run_event("clean", written("silver", {"x": ["raw.x"]}), minute=1),
    run_event("export", written("out", None), inputs=["silver"], minute=2),
    run_event("use", written("gold", {"a": ["out.z AGGREGATION"]}), minute=3),
]
WALKS = [
    "upstream?column=gold.a",
    "upstream?namespace=file&dataset=/out&form=compact",
    "upstream?column=gold.a&form=ids",
    "downstream?column=raw.x&collapse=dataset",
    "downstream?column=raw.x&limit=1",
    "roots?column=gold.a",
    "impact?column=raw.x",
    "impact?column=raw.x&by=job",
    "paths?source=raw.x&target=gold.a",
]


@pytest.fixture
def shop(client: TestClient) -> TestClient:
    """raw.x → silver.x → whatever is in out → gold.a; of out no columns are known."""
    assert client.post(LINEAGE, json=EVENTS).status_code == 201
    return client


@pytest.mark.parametrize("question", WALKS)
def test_nothing_is_guessed_without_the_parameter(shop: TestClient, question: str) -> None:
    without = answer_to(shop, question)
    assert answer_to(shop, f"{question}&guess=false") == without
    assert "guess" not in str(without)
    guessed = answer_to(shop, f"{question}&guess=true")
    assert guessed != without or "limit" in question
    document = shop.get("/openapi.json").json()
    operation = document["paths"][f"/api/v2/{question.partition('?')[0]}"]["get"]
    validator(document, operation["responses"]["200"]).validate(guessed)


def test_a_guess_is_marked_in_every_form_of_json(shop: TestClient) -> None:
    walk = answer_to(shop, "upstream?column=gold.a&guess=true")
    transformations = {short(hop["input"]): hop["transformations"] for hop in walk["hops"]}
    assert transformations["silver.x"] == [
        {
            "type": "DIRECT",
            "subtype": "TRANSFORMATION",
            "masking": False,
            "opaque": True,
            "description": "guess: the event has inputs and outputs, but no columns",
            "guess": True,
        }
    ]
    assert "guess" not in transformations["raw.x"][0]
    compact = answer_to(shop, "upstream?column=gold.a&guess=true&form=compact")
    assert sorted(compact["transformations"]["guess"]) == [False, False, True]
    known = answer_to(shop, "upstream?column=gold.a&form=ids")["columns"]["id"]
    ids = answer_to(shop, "upstream?column=gold.a&guess=true&form=ids")["columns"]
    assert {one for one, guess in zip(ids["id"], ids["guess"], strict=True) if not guess} == set(known)
    (root,) = answer_to(shop, "roots?column=gold.a&guess=true")["roots"]
    assert (short(root["column"]), root["distance"], root["transformations"][0]["guess"]) == ("raw.x", 3, True)
    impact = answer_to(shop, "impact?column=raw.x&guess=true")
    marks = {
        one["name"]: [transformation.get("guess", False) for transformation in _transformations(one)]
        for one in impact["datasets"]
    }
    assert marks == {"/silver": [False], "/out": [True], "/gold": [True]}
    by_job = answer_to(shop, "impact?column=raw.x&guess=true&by=job")["jobs"]
    assert {one["job"]["name"]: [column.get("guess") for column in one["columns"]] for one in by_job} == {
        "clean": [None],
        "export": [True],
        "use": [True],
    }


def _transformations(dataset: Json) -> list[Json]:
    return [transformation for column in dataset["columns"] for transformation in column["transformations"]]


def test_compact_and_readable_say_the_same_of_a_guess(shop: TestClient) -> None:
    question = "upstream?column=gold.a&guess=true"
    compact = spelled_out(answer_to(shop, f"{question}&form=compact"))
    for hop in compact["hops"]:
        for transformation in hop["transformations"]:
            assert transformation["guess"] or transformation.pop("guess") is False
    assert unordered(compact) == unordered(answer_to(shop, question))


def test_a_guess_is_marked_in_exports(shop: TestClient) -> None:
    def text(question: str) -> str:
        answer = shop.get(f"/api/v2/{question}")
        assert answer.status_code == 200, answer.text
        return answer.text

    for question, guesses in (
        ("upstream?column=gold.a", 1),
        ("upstream?column=gold.a&collapse=dataset", 1),
        ("roots?column=gold.a", 1),
        ("impact?column=raw.x", 2),
        ("paths?source=raw.x&target=gold.a", 1),
    ):
        assert "guess" not in text(f"{question}&format=csv")
        rows = list(csv.DictReader(io.StringIO(text(f"{question}&format=csv&guess=true"))))
        assert [row["guess"] for row in rows].count("True") == guesses
        assert {row["guess"] for row in rows} <= {"True", "False"}
        if not question.startswith("impact"):
            assert '-.->|"guess"|' in text(f"{question}&format=mermaid&guess=true") or "AGGREGATION guess" in text(
                f"{question}&format=mermaid&guess=true"
            )
            assert "style=dashed" in text(f"{question}&format=dot&guess=true")
            assert '<data key="guess">true</data>' in text(f"{question}&format=graphml&guess=true")
            assert "guess" not in text(f"{question}&format=graphml")


def test_what_is_hidden_stays_hidden_in_guesses(client: TestClient) -> None:
    event = run_event("export", written("out"), inputs=["silver"])
    event["inputs"][0]["namespace"] = "hr"
    event["inputs"][0]["facets"] = {"schema": {"fields": [{"name": "salary", "type": "int"}]}}
    assert client.post(LINEAGE, json=event).status_code == 201
    dependency = get_args(Reader)[1].dependency
    client.app.dependency_overrides[dependency] = lambda: Caller("some", Scope.READ, ("file",))  # type: ignore[attr-defined]
    answer = client.get("/api/v2/upstream?namespace=file&dataset=/out&guess=true")
    (hop,) = answer.json()["hops"]
    assert (hop["input"]["namespace"], hop["job"]["namespace"]) == ("hidden", "hidden")
    assert hop["transformations"][0] | {"guess": True, "description": ""} == hop["transformations"][0]
    assert not [word for word in ("salary", "silver", "hr", "export") if word in answer.text]
