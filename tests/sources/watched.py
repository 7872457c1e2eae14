"""Spark applications of the tests, each run once under ``headwater run``: its cases and their events."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from .case_file import SourceCase
from .event_text import event_text

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
SCRIPT = HERE / "application.py"
EVENTS = "events.ndjson"
COMMON = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    # Many small statements: what makes large ones fast costs more than it saves.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
    "spark.sql.warehouse.dir": "{folder}/warehouse",
    "spark.driver.extraJavaOptions": "-Dderby.system.home={folder}",
    "spark.openlineage.columnLineage.descriptionsEnabled": "true",
}


@dataclass(frozen=True)
class Plan:
    """The cases that an application runs, with its inputs and configuration.

    ``inputs`` are tables of the database ``shared`` with their rows, in the format ``provider``; ``scope`` is what
    cases in Python find by name, ``jars`` are Maven coordinates of jars to be added without what they depend on.
    """

    cases: Sequence[SourceCase]
    inputs: Mapping[str, str]
    conf: Mapping[str, str]
    scope: Mapping[str, object] = field(default_factory=dict)
    jars: Sequence[str] = ()
    provider: str = "parquet"


class Application:
    """One Spark application that has run the cases of its kind; ``values`` stand for ``{names}`` in cases and conf."""

    def __init__(self, plan: Plan, folder: Path, values: Mapping[str, str]) -> None:
        self.folder = folder
        self.cases = plan.cases
        self.values = {**values, "folder": str(folder)}
        text = {
            "conf": {key: self._filled(value) for key, value in {**COMMON, **plan.conf}.items()},
            "folder": str(folder),
            "inputs": dict(plan.inputs),
            "provider": plan.provider,
            "scope": dict(plan.scope),
            "jars": plan.jars,
            "cases": [{**asdict(case), "body": self._filled(case.body)} for case in self.cases],
        }
        (folder / "plan.json").write_text(json.dumps(text))
        self.printed = run_watched(SCRIPT, str(folder / "plan.json"), folder=folder)
        self.ran = json.loads((folder / "ran.json").read_text())
        self.events = [json.loads(line) for line in (folder / EVENTS).read_text().splitlines()]

    def event_text(self, case: SourceCase) -> str:
        """The text of the case's events, its folder and database as the case calls them."""
        number = self.cases.index(case)
        text = event_text(self.events_of(case))
        text = text.replace(f"{self.folder}/warehouse", "{warehouse}").replace(f"{self.folder}/data_{number}", "{data}")
        text = text.replace(f"case_{number}", "{db}").replace(str(self.folder), "{folder}")
        text = text.replace(f"kafka://{self.values.get('broker', '-')}", "{broker}")
        return text.replace(f"postgres://{self.values.get('server', '-')}", "{server}")

    def events_of(self, case: SourceCase) -> list[dict[str, Any]]:
        """The events of the time in which the case ran; the case must not have failed."""
        ran = self.ran[self.cases.index(case)]
        assert not ran["error"], ran["error"]
        return [event for event in self.events if ran["began"] <= _seconds(event["eventTime"]) <= ran["ended"]]

    def _filled(self, text: str) -> str:
        for name, value in self.values.items():
            text = text.replace(f"{{{name}}}", value)
        return text


def run_watched(script: Path, *arguments: str, folder: Path) -> str:
    """Run a job in ``folder`` under ``headwater run``; its output. Fails when the job fails."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-m", "headwater", "run", "--events", EVENTS, str(script), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if "unresolved dependenc" in done.stderr:
        pytest.skip("the packages of the connectors cannot be had from here")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


def once_each(
    run: Callable[[str, Path, ExitStack], Application], folders: pytest.TempPathFactory
) -> Iterator[Callable[[str], Application]]:
    """A fixture's value: the application of a kind, which ``run`` starts when a test asks for it first."""
    ran: dict[str, Application] = {}
    with ExitStack() as running:

        def of_kind(kind: str) -> Application:
            if kind not in ran:
                ran[kind] = run(kind, folders.mktemp(kind), running)
            return ran[kind]

        yield of_kind
