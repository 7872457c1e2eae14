"""The process of a dry run: the job as ``__main__``, in a sandbox, and its report in a file.

``python -m headwater.dryrun.process FOLDER JOB.PY [ARGS…]``; the folder has ``answers.json`` and gets the rest.
"""

import json
import os
import runpy
import sys
import traceback
from pathlib import Path

from headwater.capture.attach import attach
from headwater.dryrun.actions import Actions
from headwater.dryrun.audit import Audit
from headwater.dryrun.lines import Lines
from headwater.dryrun.places import place_of_error
from headwater.dryrun.report import ANSWERS, EVENTS, REPORT, Failure, Findings
from headwater.dryrun.sandbox import sandbox


def run(folder: Path, job: Path, arguments: list[str]) -> None:
    """Run a job dry; its events and its report are in ``folder`` when the process has ended."""
    findings, lines = Findings(), Lines(job)
    actions = Actions(findings, json.loads((folder / ANSWERS).read_text("utf-8")))
    sandbox(folder)
    attach(events=str(folder / EVENTS), quiet=True)
    actions.start()
    Audit(str(folder), findings).start()
    sys.argv[:] = [str(job), *arguments]
    sys.path[0] = str(job.resolve().parent)
    lines.start()
    failure = _failure(job)
    lines.stop()
    report = findings.report(lines.unexecuted(actions.worker_codes), failure)
    (folder / REPORT).write_text(report.to_json(), "utf-8")


def _failure(job: Path) -> Failure | None:
    """Run the job to its end; how it failed, None when it did not."""
    try:
        runpy.run_path(str(job), run_name="__main__")
    except SystemExit as exit:
        return Failure(place_of_error(exit.__traceback__), f"SystemExit: {exit.code}") if exit.code else None
    except BaseException as error:
        traceback.print_exc()
        text = str(error).splitlines()
        return Failure(place_of_error(error.__traceback__), f"{type(error).__name__}: {text[0] if text else ''}")
    return None


def main() -> None:
    """Run the job that the command line names."""
    sys.dont_write_bytecode = True
    folder, job, *arguments = sys.argv[1:]
    run(Path(folder), Path(os.path.abspath(job)), arguments)


if __name__ == "__main__":
    main()
