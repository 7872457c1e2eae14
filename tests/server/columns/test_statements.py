"""The statements that requests send to the database: what a store has nothing of is not looked for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, event
from tests.server.columns.conftest import LINEAGE
from tests.store.conftest import run_event, written

REQUESTS = {
    "/api/v2/roots?column=t6.x": 25,
    "/api/v2/upstream?column=t6.x": 23,
    "/api/v2/upstream?column=t6.x&form=compact": 22,
    "/api/v2/upstream?column=t6.x&form=ids": 18,
    "/api/v2/impact?column=t0.x": 24,
    "/api/v1/column-lineage?nodeId=datasetField:file:/t6:x": 17,
    "/api/v1/lineage?nodeId=dataset:file:/t6": 23,
    "/api/v1/namespaces/file/datasets": 19,
    "/api/v1/namespaces/file/datasets/%2Ft3": 21,
    "/api/v1/namespaces/file/datasets/%2Ft3/versions": 27,
    "/api/v1/namespaces/demo/jobs": 13,
    "/api/v1/namespaces/demo/jobs/job3": 13,
    "/api/v1/namespaces/demo/jobs/job3/runs": 9,
    "/api/v1/namespaces/demo/jobs/job3/versions": 14,
    f"/api/v1/jobs/runs/{run_event('', run='3')['run']['runId']}": 6,
}
"""The largest number of statements of each request, with six jobs in a row: as many as before there were replacements,
steps between formats and limits of writers. Names of datasets come with the runs that read and wrote them."""


@contextmanager
def statements() -> Iterator[list[str]]:
    """The statements that are sent meanwhile, over all connections."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_more: Any) -> None:
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def fewest(get: Callable[[], Any]) -> int:
    """The statements of a request, the fewest of some: threads of the server send theirs between."""
    counts = []
    for _ in range(5):
        with statements() as sent:
            assert get().status_code == 200
        counts.append(len(sent))
    return min(counts)


@pytest.fixture
def chain(served: TestClient) -> TestClient:
    """A server with a column that goes through six jobs."""
    jobs = [
        run_event(f"job{one}", written(f"t{one + 1}", {"x": [f"t{one}.x"]}), minute=one, run=f"{one}")
        for one in range(6)
    ]
    assert served.post(LINEAGE, json=jobs).status_code == 201
    return served


def test_columns_without_descriptions_cost_an_event_no_statement(served: TestClient) -> None:
    output = written("out", {"x": ["raw.x"]})
    for described in (False, True):
        output["facets"]["schema"]["fields"][0] |= {"description": "An x"} if described else {}
        with statements() as sent:
            assert served.post(LINEAGE, json=run_event("job", output, minute=described)).status_code == 201
        assert sum("field_description" in one for one in sent) == described


def test_requests_send_no_more_statements_than_their_bounds(chain: TestClient) -> None:
    sent = {request: fewest(lambda request=request: chain.get(request)) for request in REQUESTS}  # type: ignore[misc]
    assert {request: count for request, count in sent.items() if count > REQUESTS[request]} == {}, sent
