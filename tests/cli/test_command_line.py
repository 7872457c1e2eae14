"""Exit codes, errors in one line, odd names, files of events, and the real command."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from headwater import __version__
from headwater.cli.main import app
from headwater.store import open_store

SRC = Path(__file__).resolve().parents[2] / "src"


def good(run: str, name: str = "/gold") -> dict[str, Any]:
    output = {"namespace": "file", "name": name, "facets": {"schema": {"fields": [{"name": "a.b\n\x1b[31m"}]}}}
    job = {"namespace": "n", "name": "j"}
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "run": {"runId": run},
        "job": job,
        "outputs": [output],
    }


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["roots", "gold.delays.avg_dely"], "Near: gold/delays.avg_delay"),
        (["roots", "carrier"], "3 names end in 'carrier'"),
        (["roots", "gold.delays"], "is a dataset: expected one of its columns"),
        (["coverage", "nosuchrun"], "No run begins or ends with 'nosuchrun'"),
        (["datasets", "--store", "nosuch.db"], "No store at"),
        (["ingest", "nosuch.json"], "There is no file or folder"),
    ],
)
def test_an_error_is_one_line_on_stderr(headwater: Callable[..., Result], command: list[str], message: str) -> None:
    result = headwater(*command)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command", [[], ["nosuch"], ["roots"], ["show", "x", "--depth", "0"], ["roots", "x", "-f", "pdf"]]
)
def test_wrong_usage_is_2(headwater: Callable[..., Result], command: list[str]) -> None:
    assert headwater(*command).exit_code == 2


@pytest.mark.parametrize(
    ("run", "plain", "fail", "opaque"), [("", 0, 1, 1), ("01900001", 0, 0, 1), ("01900002", 0, 0, 0)]
)
def test_coverage_fails_with_the_option(
    headwater: Callable[..., Result], run: str, plain: int, fail: int, opaque: int
) -> None:
    results = [headwater("coverage", *filter(None, [run]), *more) for more in ([], ["--fail"], ["--fail-opaque"])]
    assert [one.exit_code for one in results] == [plain, fail, opaque]
    assert len({one.stdout for one in results}) == 1
    assert [one.stderr for one in results] == [""] * 3
    in_json = headwater("coverage", *filter(None, [run]), "--fail", "--format", "json")
    assert in_json.exit_code == fail


def test_a_job_that_is_gone_can_be_forgotten(headwater: Callable[..., Result]) -> None:
    result = headwater("forget", "export")
    assert (result.exit_code, result.stdout) == (0, "forgotten: demo/export\n")
    assert headwater("coverage", "--fail").exit_code == 0
    assert "export" not in headwater("jobs").stdout
    assert "No job is called 'export'" in headwater("forget", "export").stderr


def test_the_version(headwater: Callable[..., Result]) -> None:
    assert headwater("--version").stdout == f"headwater {__version__}\n"


def test_events_come_from_files_folders_and_standard_input(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(good(str(number), f"/d{number}")) for number in range(3)) + "\n\n"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.ndjson").write_text(lines)
    (tmp_path / "in" / "b.json.gz").write_bytes(gzip.compress(json.dumps(good("gz")).encode()))
    store = str(tmp_path / "lineage.db")

    def ingest(source: str, **options: Any) -> str:
        return CliRunner().invoke(app, ["ingest", source, "--store", store], **options).stdout

    assert ingest(str(tmp_path / "in" / "a.ndjson")) == "events: 3 added, 0 known already, 0 rejected\n"
    assert ingest(str(tmp_path / "in")) == "events: 1 added, 3 known already, 0 rejected\n"
    assert ingest("-", input=json.dumps(good("stdin"))) == "events: 1 added, 0 known already, 0 rejected\n"


def test_a_rejected_event_is_reported_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "events.ndjson"
    file.write_text("\n" + json.dumps(good("1")) + "\n{oops\n")
    result = CliRunner().invoke(app, ["ingest", str(file), "--store", str(tmp_path / "lineage.db")])
    assert (result.exit_code, result.stdout) == (1, "events: 1 added, 0 known already, 1 rejected\n")
    assert f"{file}, line 3: Not JSON" in result.stderr


def test_a_name_cannot_steer_the_terminal(tmp_path: Path) -> None:
    store = str(tmp_path / "lineage.db")
    with open_store(store) as opened:
        opened.ingest([good("1"), good("2", "/" + "long" * 2_500)])
    shown = CliRunner().invoke(app, ["show", "/gold", "--store", store]).stdout
    assert r"`a.b\n\x1b[31m`" in shown
    assert max(map(len, CliRunner().invoke(app, ["datasets", "--store", store]).stdout.splitlines())) < 300


def real(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headwater", *arguments]
    env = {"PYTHONPATH": str(SRC), "PATH": os.environ["PATH"], "COLUMNS": "40"} | environment
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


def test_the_real_command_prints_plain_unwrapped_lines(store: str) -> None:
    result = real("roots", "avg_delay", "--store", store)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[1].endswith("via clean → gold")
    assert "\x1b" not in result.stdout
    assert real("roots", "nothing", HEADWATER_STORE=store).returncode == 1
