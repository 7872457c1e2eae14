"""The process of a dry run: the job in a sandbox, and its report in a file.

``python -m headwater.dryrun.process FOLDER JOB.PY [ARGS…]``; the folder has ``answers.json`` and gets the rest.
"""

import json
import os
import runpy
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import CodeType
from typing import Any

from headwater.capture.attach import attach
from headwater.dryrun.actions import Actions
from headwater.dryrun.audit import Audit
from headwater.dryrun.files import Files
from headwater.dryrun.landlock import UNCONFINED, confine, start_programs_unconfined
from headwater.dryrun.lines import Lines
from headwater.dryrun.pipelines import run_pipeline, specification
from headwater.dryrun.places import name_of, place, place_of_error
from headwater.dryrun.report import ANSWERS, EVENTS, REPORT, SCHEMAS, Failure, Findings
from headwater.dryrun.sandbox import sandbox
from headwater.dryrun.schemas import load_schemas
from headwater.dryrun.sources import REFUSE, is_script, makes_session, parts


def run(folder: Path, job: Path, arguments: list[str]) -> None:
    """Run a job dry; its events and its report are in ``folder`` when the process has ended."""
    findings, schemas = Findings(), load_schemas(folder / SCHEMAS)
    unwatched: tuple[str, ...] = ()
    actions = Actions(findings, json.loads((folder / ANSWERS).read_text("utf-8")))
    codes, failure = _codes(job)
    home = job if job.is_dir() else job.parent
    lines = Lines(home, codes)
    if failure is None:
        sandbox(folder, schemas)
        attach(events=str(folder / EVENTS), quiet=True)
        actions.start()
        Files(findings, schemas).start()
        start_programs_unconfined()
        Audit(str(folder), findings).start()
        unwatched = () if confine(str(folder)) else (UNCONFINED,)
        sys.argv[:] = [str(job), *arguments]
        sys.path[0] = str(home)
        lines.start()
        failure = _failure(job, codes, findings)
        lines.stop()
        actions.stop()
    report = findings.report(lines.unexecuted(actions.worker_codes), failure, unwatched)
    (folder / REPORT).write_text(report.to_json(), "utf-8")


def _codes(job: Path) -> tuple[dict[str, CodeType], Failure | None]:
    """The codes of a job by their names, and the failure of a job that is no Python."""
    try:
        return {one.name: one.code() for one in parts(job)}, None
    except SyntaxError as error:
        return {}, Failure(name_of(error.filename or str(job), error.lineno or 1), f"SyntaxError: {error.msg}")


def _failure(job: Path, codes: Mapping[str, CodeType], findings: Findings) -> Failure | None:
    """Run the job to its end; how it failed, None when it did not."""
    try:
        if not job.is_dir() and is_script(job):
            runpy.run_path(str(job), run_name="__main__")
        elif job.is_dir() and (file := specification(job)):
            run_pipeline(file, codes)
        else:
            _run_cells(job, codes, findings)
    except SystemExit as exit:
        return Failure(place_of_error(exit.__traceback__), f"SystemExit: {exit.code}") if exit.code else None
    except BaseException as error:
        traceback.print_exc()
        text = str(error).splitlines()
        return Failure(place_of_error(error.__traceback__), f"{type(error).__name__}: {text[0] if text else ''}")
    return None


def _run_cells(job: Path, codes: Mapping[str, CodeType], findings: Findings) -> None:
    """Run cells or SQL files one after the other, with the names that a notebook has."""
    from pyspark.sql import SparkSession

    def refuse(line: str) -> None:
        findings.refuse(place(), line, "it is a command of the notebook's server")

    names: dict[str, Any] = {"__name__": "__main__", REFUSE: refuse}
    if not makes_session(parts(job)):
        spark = SparkSession.builder.appName(job.stem).getOrCreate()
        names |= {"spark": spark, "sc": spark.sparkContext}
    names["display"] = lambda *_, **__: None
    for code in codes.values():
        exec(code, names)


def main() -> None:
    """Run the job that the command line names."""
    sys.dont_write_bytecode = True
    folder, job, *arguments = sys.argv[1:]
    run(Path(folder), Path(os.path.abspath(job)), arguments)


if __name__ == "__main__":
    main()
