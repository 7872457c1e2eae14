"""Whole answers to requests about a small world, on SQLite and PostgreSQL.

A ``.case`` is a request, ``---``, and the answer: its status where that is not 200, and its JSON. To write the answers
anew, and then read what changed: ``HEADWATER_REWRITE=1``.
"""

import json
import os
from pathlib import Path

from fastapi.testclient import TestClient

CASES = sorted((Path(__file__).parent / "contract").glob("*.case"))


def test_every_read_of_the_small_world(world: TestClient) -> None:
    wrong = [case.stem for case in CASES if not _holds(world, case)]
    assert wrong == []


def _holds(client: TestClient, case: Path) -> bool:
    request, _, expected = case.read_text().partition("---\n")
    method, _, path = request.strip().partition(" ")
    answer = client.request(method, path)
    if os.environ.get("HEADWATER_REWRITE"):
        case.write_text(f"{request}---\n{_written(answer.status_code, answer.json())}")
        return True
    actual = _written(answer.status_code, answer.json())
    if actual != expected:
        print(f"{case.name}: expected\n{expected}\ngot\n{actual}")
    return actual == expected


def _written(status: int, value: object) -> str:
    formatted = json.dumps(value, indent=1, ensure_ascii=False)
    return f"{formatted}\n" if status == 200 else f"{status}\n{formatted}\n"


def test_there_are_cases() -> None:
    assert len(CASES) > 20
