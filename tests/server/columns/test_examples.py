"""The OpenAPI document and docs/api.md describe the API as it answers."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.cli.conftest import EVENTS
from tests.server.columns import examples
from tests.server.columns.answers import spelled_out, unordered, view_in_names
from tests.server.schemas import validator

ANEW = "write it anew: python -m tests.server.columns.examples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("flights"))


@pytest.fixture(scope="module")
def flights(folder: str) -> Iterator[TestClient]:
    with examples.served(folder) as client:
        yield client


def without_ids(answer: Any) -> Any:
    """An answer without the ids, which are any numbers."""
    if isinstance(answer, dict) and "focus" in answer:
        return view_in_names(answer)
    if isinstance(answer, dict) and isinstance(answer.get("transformations"), dict):
        return unordered(spelled_out(answer))
    if isinstance(answer, dict):
        return {key: without_ids(one) for key, one in answer.items() if key not in ("id", "next")}
    return sorted(map(without_ids, answer), key=repr) if isinstance(answer, list) else answer


def test_the_examples_of_the_openapi_document_are_real(flights: TestClient, folder: str) -> None:
    real = examples.answers(flights, f"sqlite:///{folder}/lineage.db")
    document = flights.get("/openapi.json").json()
    for route, by_request in real.items():
        response = document["paths"][f"/api/v2/{route}"]["get"]["responses"]["200"]
        content = response["content"]
        ((media, described),) = [one for one in content.items() if "examples" in one[1]]
        shown = {name.removeprefix("GET "): one["value"] for name, one in described["examples"].items()}
        assert without_ids(shown) == without_ids(by_request), ANEW
        for answer in by_request.values():
            validator(document, response, media).validate(answer)


def test_every_question_has_an_example_and_says_what_its_parameters_are(flights: TestClient) -> None:
    document = flights.get("/openapi.json").json()
    ours = {path.removeprefix("/api/v2/"): one["get"] for path, one in document["paths"].items() if "/api/v2/" in path}
    assert {*examples.QUESTIONS, "changes"} <= ours.keys()
    walk = {one["name"] for one in ours["upstream"]["parameters"]}
    assert {"column", "namespace", "as_of", "subtype", "masking", "job", "within", "depth", "cursor", "form"} <= walk


def test_the_page_about_the_api_shows_real_answers(flights: TestClient, folder: str) -> None:
    assert json.loads(examples.FLIGHTS.read_text()) == EVENTS, ANEW
    shown = examples.SHOWN.findall(examples.DOCUMENT.read_text())
    assert len(shown) > 9
    for request, kind, answer in shown:
        real = examples.answer_text(flights, request)
        assert kind == real[0], ANEW
        if kind == "json":
            assert without_ids(json.loads(answer)) == without_ids(json.loads(real[1])), (ANEW, request)
        else:
            assert answer == real[1], (ANEW, request)
    (change,) = examples.answers(flights, f"sqlite:///{folder}/lineage.db")["changes"].values()
    documented = re.search(r"^event: lineage\ndata: (.*)$", examples.DOCUMENT.read_text(), re.MULTILINE)
    assert documented is not None
    assert json.loads(documented[1]) == change
