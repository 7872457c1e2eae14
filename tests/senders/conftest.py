"""A server that asks for keys, on a port; what its documentation tells a user to type; what it then knows."""

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import requests
from tests.ports import free_port
from tests.server.conftest import forker as forker  # noqa: PLC0414 - a fixture
from tests.server.processes import ROOT, Forker, ServerProcess, serving

from headwater.store import open_store
from headwater.store.maintenance.keyring import issue

NAMESPACES = ["default", "dbt", "demo", "duckdb://*", "file"]
"""Those that the senders of these tests may write: of their jobs, and of their datasets."""


def documented(title: str) -> str:
    """The lines that docs/server.md tells to type in a section below "Senders"."""
    page = (ROOT / "docs" / "server.md").read_text()
    section = re.search(rf"^### {re.escape(title)}\n(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL)
    assert section is not None, f"docs/server.md has no section {title!r}"
    fenced = re.search(r"^```python\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)
    if fenced is not None:
        return fenced[1]
    return "".join(line[4:] + "\n" for line in section[1].splitlines() if line.startswith("    "))


class Place:
    """A server with a store of its own, always on the same port, that can be killed and started again."""

    def __init__(self, forker: Forker, folder: Path) -> None:
        self.store = f"sqlite:///{folder}/served/lineage.db"
        with open_store(self.store) as opened:
            _, self.key = issue(opened, "senders", "write", NAMESPACES)
        self._forker, self._log, self._port = forker, folder / "served" / "log", free_port()
        self.url = f"http://127.0.0.1:{self._port}"

    @property
    def environment(self) -> dict[str, str]:
        """The two variables that the documentation names, with their values."""
        exports = re.findall(r"export (\w+)=(\S+)", documented("Where to, and by which key"))
        values = {"http://127.0.0.1:5000": self.url, "hw_…": self.key}
        return {name: values[value] for name, value in exports}

    def up(self) -> AbstractContextManager[ServerProcess]:
        """The server, for a block."""
        return serving(self._forker, self.store, self._log, "--auth", "--port", str(self._port))

    def get(self, path: str, **parameters: str) -> Any:
        """A document, asked for with the key."""
        address = f"{self.url}{path}?{urlencode(parameters)}"
        answer = requests.get(address, headers={"Authorization": f"Bearer {self.key}"}, timeout=120)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def upstream(self, column: str) -> set[str]:
        """Every step above a column, as ``"totals.km <- flights.distance AGGREGATION"``."""
        found = self.get("/api/v2/upstream", column=column)
        assert found["truncated"] == []
        return {
            f"{_short(hop['output'])} <- {_short(hop['input'])} {transformation['subtype']}"
            for hop in found["hops"]
            for transformation in hop["transformations"]
        }

    def column_lineage(self, namespace: str, name: str) -> set[str]:
        """The steps of Marquez's graph of columns, as ``"totals.km <- flights.distance"``."""
        return steps(self.get("/api/v1/column-lineage", nodeId=f"dataset:{namespace}:{name}"))

    def marquez(self) -> Any:
        """A client of marquez-python, made as the documentation says."""
        lines = documented("Reading: marquez-python").replace("http://127.0.0.1:5000", self.url)
        found: dict[str, Any] = {}
        exec(lines.replace("hw_…", self.key), found)
        return found["client"]


def steps(document: dict[str, Any]) -> set[str]:
    """The edges into each node of a graph of columns; nodes are of columns alone."""
    nodes = {node["id"]: node["data"] for node in document["graph"]}
    short = {name: _short({"name": data["dataset"], **data}) for name, data in nodes.items()}
    return {
        f"{short[edge['origin']]} <- {short[edge['destination']]}"
        for node in document["graph"]
        for edge in node["inEdges"]
    }


def _short(place: dict[str, str]) -> str:
    """The last word of the dataset's name, and the column; ``*`` for all of them."""
    return f"{re.split(r'[/.]', place['name'])[-1]}.{place.get('field', '*')}"


@pytest.fixture
def place(forker: Forker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    client = pytest.importorskip("marquez_client.client")
    monkeypatch.setattr(client, "_HEADERS", dict(client._HEADERS))  # where it keeps the key, for all clients
    (tmp_path / "served").mkdir()
    return Place(forker, tmp_path)


@pytest.fixture
def server(place: Place) -> Iterator[ServerProcess]:
    with place.up() as process:
        yield process


def variables(place: Place, **more: str) -> dict[str, str]:
    """The environment of a sender: this one without settings of headwater's or OpenLineage's, and the two variables."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HEADWATER", "OPENLINEAGE"))}
    return {**inherited, **place.environment, **more}
