"""Every operation of the OpenAPI document with generated requests, right and wrong ones: each answer is described."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance
from tests.server.processes import Forker, serving

from headwater.server import ServerSettings, create_app

EVENTS = Path(__file__).parents[2] / "docs" / "flights.json"
STREAM = "/api/v2/changes"
"""What it sends has no end; tests/server/columns/test_changes.py reads it."""

EACH = 12
DESCRIBED = [status_code_conformance, response_schema_conformance]
API = schemathesis.openapi.from_dict(create_app(ServerSettings()).openapi()).exclude(path=STREAM)
OPERATIONS = {one.ok().label: one.ok() for one in API.get_all_operations()}
CALLS = [
    *((name, GenerationMode.POSITIVE) for name in OPERATIONS),
    # Any text can stand in a path, so where there is nothing else nothing can be wrong.
    *((name, GenerationMode.NEGATIVE) for name, one in OPERATIONS.items() if len(one.query) or len(one.body)),
]


@pytest.fixture(scope="module")
def url(forker: Forker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that has the events of the example."""
    folder = tmp_path_factory.mktemp("whole")
    with serving(forker, f"sqlite:///{folder}/lineage.db", folder / "output") as server:
        httpx2.post(f"{server.url}/api/v1/lineage", content=EVENTS.read_bytes()).raise_for_status()
        yield server.url


@pytest.mark.parametrize(("operation", "mode"), CALLS, ids=str)
def test_no_answer_is_the_servers_fault_or_another_than_described(
    operation: str, mode: GenerationMode, url: str
) -> None:
    @settings(max_examples=EACH, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    @given(case=OPERATIONS[operation].as_strategy(generation_mode=mode))
    def ask(case: schemathesis.Case) -> None:
        answer = case.call(base_url=url, timeout=60)
        assert answer.status_code < 500, f"{answer.status_code} to {case.as_curl_command()}\n{answer.text[:1000]}"
        case.validate_response(answer, checks=DESCRIBED)

    ask()
