"""The OpenAPI document says of every operation what it answers, who may ask, and how it refuses."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.server.auth.test_access import OPEN
from tests.server.marquez.conftest import EVENTS
from tests.server.schemas import resolved, validator

from headwater.server import ServerSettings, create_app

CASES = sorted((Path(__file__).parent / "marquez" / "contract").glob("*.case"))
TEXTS = {"/metrics"}
"""Operations that do not answer with JSON."""

NEVER_MISSING = {"/api/v1/tags/{tag}", "/api/v1/events/{namespace}"}
"""Operations that make what is not there, or list nothing of it."""

BARE = ({}, {"type": "object"}, {"type": "string"})
Operation = tuple[str, str, dict[str, Any]]


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(ServerSettings()).openapi()


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> list[Operation]:
    return [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_operation_has_a_schema_of_its_answer(operations: list[Operation]) -> None:
    assert len(operations) > 50
    without = [
        f"{method} {path} {status}"
        for path, method, operation in operations
        for status, response in operation["responses"].items()
        if status not in {"204", "304"} and "$ref" not in response
        for media in response.get("content") or {"none": {}}
        if path not in TEXTS and media in {"application/json", "none", "text/event-stream"}
        if response.get("content", {}).get(media, {}).get("schema", {}) in BARE
    ]
    assert without == []


def test_every_operation_says_who_may_ask_and_how_it_refuses(
    document: dict[str, Any], operations: list[Operation]
) -> None:
    assert {"bearer", "apiKey"} == document["components"]["securitySchemes"].keys()
    for path, method, operation in operations:
        statuses = operation["responses"].keys()
        if path in OPEN:
            assert "security" not in operation
            continue
        assert operation["security"] == [{"bearer": []}, {"apiKey": []}], path
        expected = {"401", "403", "429", "503"}
        expected |= {"400", "408", "413", "415"} if "requestBody" in operation else set()
        expected |= {"404"} if "{" in path and path not in NEVER_MISSING else set()
        assert expected <= statuses, (method, path)
        for status in statuses - {"200", "201", "204", "207", "304"}:
            refusal = resolved(document, operation["responses"][status])
            assert refusal["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Problem"}


def matching(operations: list[Operation], method: str, path: str) -> Iterator[dict[str, Any]]:
    for pattern, other, operation in operations:
        if other == method.lower() and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path):
            yield operation


def test_answers_of_the_contract_cases_have_the_schemas_of_the_document(
    client: TestClient, document: dict[str, Any], operations: list[Operation]
) -> None:
    assert client.post("/api/v1/lineage", json=EVENTS).status_code == 201
    seen = set()
    for case in CASES:
        method, _, request = case.read_text().partition("---\n")[0].strip().partition(" ")
        operation = next(matching(operations, method, request.partition("?")[0]))
        answer = client.request(method, request)
        validator(document, operation["responses"][str(answer.status_code)]).validate(answer.json())
        seen.add(operation["operationId"])
    assert len(seen) > 20


@pytest.mark.parametrize("kind", ["lineage-events", "jobs", "datasets", "sources"])
def test_statistics_need_their_period(document: dict[str, Any], kind: str) -> None:
    path = f"/api/v1/stats/{kind}"
    required = {one["name"]: one["required"] for one in document["paths"][path]["get"]["parameters"]}
    assert required == {"period": True, "timezone": False}
    with TestClient(create_app(ServerSettings())) as client:
        assert client.get(path).status_code == 422
        assert client.get(f"{path}?period=YEAR").status_code == 400
