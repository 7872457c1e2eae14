"""Start a dry run in a process of its own, and read what it left: declarations of jobs, and a report."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from openlineage.client.event_v2 import JobEvent, RunEvent, RunState

from headwater.capture.java import has_java, java_home
from headwater.dryrun.report import ANSWERS, EVENTS, REPORT, SCHEMAS, Report, read_report
from headwater.dryrun.schemas import Schemas, write_schemas
from headwater.dryrun.sources import parts
from headwater.errors import DryRunError
from headwater.openlineage.identifiers import COVERAGE
from headwater.openlineage.writing.events import job_event, read_event

_OWN = ("HEADWATER", "OPENLINEAGE", "SPARK_REMOTE")


@dataclass(frozen=True, slots=True)
class Options:
    """``answers`` are results of actions by their place (``job.py:12``); ``seconds`` end a job that takes longer.

    ``schemas`` are those of tables and paths that the job cannot reach.
    """

    answers: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    seconds: float = 600.0
    schemas: Schemas = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class DryRun:
    """The jobs that a run would be made of, each with its inputs, outputs and lineage; and the report."""

    events: tuple[JobEvent, ...]
    report: Report


def dry_run(job: Path, arguments: Sequence[str] = (), options: Options | None = None) -> DryRun:
    """Run a PySpark job without rows and without traces, and return the lineage that it would have.

    The job is a Python file, a notebook, an SQL file or a folder of those; ``arguments`` are its own. What it prints
    goes to standard error.

    Raises:
        SettingError: there is no such job.
        DryRunError: the process ended without a report: it was killed, or took longer than allowed.
    """
    chosen = options or Options()
    parts(job)
    with tempfile.TemporaryDirectory(prefix="headwater-plan-") as name:
        folder = Path(os.path.realpath(name))
        (folder / "tmp").mkdir()
        (folder / ANSWERS).write_text(json.dumps(dict(chosen.answers)), "utf-8")
        write_schemas(chosen.schemas, folder / SCHEMAS)
        code = _run([str(folder), str(job), *arguments], folder, chosen.seconds)
        if not (folder / REPORT).exists():
            raise DryRunError(f"The job ended the process with exit code {code}, before a report was written.")
        return _read(folder)


def _run(words: list[str], folder: Path, seconds: float) -> int:
    command = [sys.executable, "-m", "headwater.dryrun.process", *words]
    try:
        done = subprocess.run(
            command, env=_environment(folder), stdout=sys.stderr, stdin=subprocess.DEVNULL, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise DryRunError(f"The job did not end within {seconds:g} seconds; raise --timeout.") from late
    return done.returncode


def _environment(folder: Path) -> dict[str, str]:
    """This environment without headwater's settings, with temporary files in ``folder``."""
    found = {name: value for name, value in os.environ.items() if not name.startswith(_OWN)}
    found |= {"TMPDIR": str(folder / "tmp"), "SPARK_LOCAL_DIRS": str(folder / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
    home = None if has_java() else java_home()
    return found | ({"JAVA_HOME": home} if home else {})


def _read(folder: Path) -> DryRun:
    file = folder / EVENTS
    runs = [read_event(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    report = read_report((folder / REPORT).read_text("utf-8"))
    failed = {f"{one.job.name}: {_error(one)}": None for one in runs if one.eventType is RunState.FAIL and one.outputs}
    gaps = dict.fromkeys(_gaps(runs))
    return DryRun(tuple(_declared(runs)), replace(report, failed=tuple(failed), gaps=tuple(gaps)))


def _declared(runs: Iterable[RunEvent]) -> Iterable[JobEvent]:
    """A declaration of each job that writes, in the order of the first writes."""
    by_job: dict[tuple[str, str], list[RunEvent]] = {}
    for run in runs:
        if run.outputs:
            by_job.setdefault((run.job.namespace, run.job.name), []).append(run)
    return map(job_event, by_job.values())


def _gaps(runs: Iterable[RunEvent]) -> Iterable[str]:
    for run in runs:
        for gap in _facet(run, COVERAGE).get("gaps", ()):
            yield f"{run.job.name}: {gap['kind']} {gap['what']}: {gap['why']}"


def _error(run: RunEvent) -> str:
    return str(_facet(run, "errorMessage").get("message", "failed"))


def _facet(run: RunEvent, name: str) -> Mapping[str, Any]:
    found: Any = (run.run.facets or {}).get(name)
    return found or {}
