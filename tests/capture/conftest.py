"""Jobs in a folder of their own, run as plain Python runs them and as headwater does."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.class_archive import CLASSES
from typer.testing import CliRunner

from headwater.cli.main import app

PYTHON = sys.executable
WATCHED = [PYTHON, "-m", "headwater.capture.submit"]

SPARK = """\
from pyspark.sql import SparkSession, functions as sf

spark = (
    SparkSession.builder.master("local[1]").appName("shop").config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1").config("spark.sql.warehouse.dir", "warehouse").getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
items = spark.range(3).select(sf.col("id"), (sf.col("id") * 2).alias("price"))
"""


@dataclass(frozen=True)
class Ended:
    """The end of a program: its exit code, its output, and how long it took."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def traceback(self) -> str:
        """Standard error from the first traceback on."""
        return self.err[self.err.find("Traceback") :]


class Jobs:
    """Runs jobs in ``folder``, in an environment without settings of headwater's, but with every guard off."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(("HEADWATER", "OPENLINEAGE"))
        }
        paths = [os.path.abspath(path) for path in inherited.pop("PYTHONPATH", "").split(os.pathsep) if path]
        self.environment = {
            **inherited,
            **({"PYTHONPATH": os.pathsep.join(paths)} if paths else {}),
            "HEADWATER_STRICT": "1",
            "HEADWATER_EVENTS": "events.ndjson",
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": PYTHON,
            "HOME": str(folder),
            **CLASSES,
            "SPARK_SUBMIT_OPTS": f"{inherited.get('SPARK_SUBMIT_OPTS', '')} -Dspark.ui.showConsoleProgress=false",
        }

    def write(self, text: str, name: str = "job.py") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, command: Sequence[object], *, stdin: str = "", environment: Mapping[str, str] | None = None) -> Ended:
        begun = time.monotonic()
        done = subprocess.run(
            [str(word) for word in command],
            input=stdin,
            cwd=self.folder,
            env={**self.environment, **(environment or {})},
            capture_output=True,
            text=True,
            timeout=500,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr, time.monotonic() - begun)

    def plain(self, *job: object, **more: Any) -> Ended:
        return self.run([PYTHON, *job], **more)

    def watched(self, *job: object, **more: Any) -> Ended:
        """As ``headwater run`` does it, without the second that its command line takes; see ``events``."""
        return self.run([*WATCHED, *job], **more)

    def headwater(self, *words: object, **more: Any) -> Ended:
        """The command line itself."""
        return self.run([PYTHON, "-m", "headwater", *words], **more)

    def ask(self, *words: object) -> Any:
        """The answer of the command line in JSON, from this process: one of its own takes a second to start."""
        done = CliRunner().invoke(app, [*map(str, words), "--format", "json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def events(self, name: str = "events.ndjson") -> list[dict[str, Any]]:
        path = self.folder / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path)


def states(events: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The name of the job and the state, of each event."""
    return [(event["job"]["name"], event["eventType"]) for event in events]


def statements(events: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The states of each run below the application's, by the short name of its job."""
    found: dict[str, list[str]] = {}
    for event in events:
        if "." in event["job"]["name"]:
            found.setdefault(short_name(event), []).append(event["eventType"])
    return found


def short_name(event: Mapping[str, Any]) -> str:
    """The name of an event's job, of each path in it the last part: ``shop.out`` for ``shop./folder/out``."""
    return re.sub(r"(?<=[.+])/[^+]*/(?=[^/+]*(\+|$))", "", event["job"]["name"])


def gaps(event: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Kind and subject of what the coverage facet of a run complains of."""
    facet = event["run"].get("facets", {}).get("headwater_coverage", {})
    return [(gap["kind"], gap["what"]) for gap in facet.get("gaps", [])]
