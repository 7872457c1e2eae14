"""The questions that the documents show, and what keeps their answers true.

``python -m tests.server.columns.examples`` writes them anew: docs/flights.json, the answers in docs/api.md, and those
of the OpenAPI document.
"""

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from tests.cli.conftest import EVENTS

from headwater.server import ServerSettings, columns, create_app
from headwater.server.columns.changes import of_change
from headwater.store import open_store
from headwater.store.questions import changes_after

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT, FLIGHTS = ROOT / "docs" / "api.md", ROOT / "docs" / "flights.json"
WRITTEN = Path(columns.__file__).with_name("examples.json")
WALK = "column=gold.delays.avg_delay&depth=1"
QUESTIONS = {
    "upstream": [WALK, f"{WALK}&form=compact", f"{WALK}&form=ids", f"{WALK}&collapse=dataset"],
    "downstream": ["namespace=file&dataset=/data/landing/flights&field=tailnum"],
    "lineage": ["column=silver/flights.delay"],
    "view": ["column=silver/flights.delay&type=DIRECT&up=1"],
    "roots": ["column=avg_delay&type=DIRECT"],
    "impact": ["column=dep_delay", "column=dep_delay&by=job"],
    "paths": ["source=tailnum&target=silver/flights.tail"],
    "diff": ["namespace=file&dataset=/data/gold/delays&before=2025-12-31&after=01900002-0000-7000-8000-000000000000"],
    "columns": ["q=delay&limit=3"],
    "datasets": ["q=gold"],
    "search": ["q=delays"],
    "tags": ["column=silver/flights.delay"],
    "tags/flow": ["tag=sensitivity&value=internal"],
    "tags/arriving": ["column=gold.delays.avg_delay"],
    "versions": ["namespace=file&dataset=/data/silver/flights&limit=1"],
    "coverage": [""],
}
SHOWN = re.compile(r"curl -s '?http://localhost:5000(/api/v2/[^\s']*)'?\n```\n(?:\n```(\w+)\n(.*?)\n```\n)?", re.DOTALL)


def answers(client: TestClient, store: str) -> dict[str, dict[str, Any]]:
    """The answers of QUESTIONS by route and request, and one of the stream's."""
    found: dict[str, dict[str, Any]] = {}
    for route, questions in QUESTIONS.items():
        requests = [f"/api/v2/{route}{'?' if question else ''}{question}" for question in questions]
        found[route] = {request: client.get(request).json() for request in requests}
    with open_store(store, read_only=True) as opened:
        _, changes = changes_after(opened, 1)
    return found | {"changes": {"/api/v2/changes": of_change(changes[0])}}


def text(value: Any, indent: str = "") -> str:
    """JSON as people like to read it: what fits a line stays on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent + line) <= 110 or not isinstance(value, dict | list) or not value:
        return line
    deeper = indent + "  "
    if isinstance(value, dict):
        parts = [f"{deeper}{json.dumps(key)}: {text(one, deeper)}" for key, one in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + text(one, deeper) for one in value) + f"\n{indent}]"


def answer_text(client: TestClient, request: str) -> tuple[str, str]:
    """The kind and the text of an answer as the document shows it."""
    answer = client.get(request)
    if answer.headers["content-type"] == "application/json":
        return "json", text(answer.json())
    return "mermaid", answer.text.rstrip("\n")


def served(folder: str) -> TestClient:
    """A server with the flights in it, to be entered."""
    store = f"sqlite:///{folder}/lineage.db"
    with open_store(store) as opened:
        opened.ingest(EVENTS)
    return TestClient(create_app(ServerSettings(store)))


def main() -> None:
    FLIGHTS.write_text(text(EVENTS) + "\n")
    with tempfile.TemporaryDirectory() as folder, served(folder) as client:
        WRITTEN.write_text(text(answers(client, f"sqlite:///{folder}/lineage.db")) + "\n")

        def shown(found: re.Match[str]) -> str:
            kind, answer = answer_text(client, found[1])
            quoted = f"'http://localhost:5000{found[1]}'"
            return f"curl -s {quoted}\n```\n\n```{kind}\n{answer}\n```\n"

        DOCUMENT.write_text(SHOWN.sub(shown, DOCUMENT.read_text()))


if __name__ == "__main__":
    main()
