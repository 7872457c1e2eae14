"""Dry runs as declarations of jobs: of what one has left in its folder, and of several as one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from openlineage.client.event_v2 import JobEvent, RunEvent

from headwater.dryrun.report import EVENTS, REPORT, DryRun, Report, read_report
from headwater.model import Job
from headwater.openlineage.reading.events import Event, read_event
from headwater.openlineage.writing.events import job_event
from headwater.openlineage.writing.events import read_event as run_event_of


def left_in(folder: Path, renamed: Callable[[str], str]) -> DryRun:
    """The dry run whose process has ended; ``renamed`` gives paths in its texts the names that they are to have."""
    file = folder / EVENTS
    lines = renamed(file.read_text("utf-8")).splitlines() if file.exists() else []
    runs = [(read_event(line), run_event_of(line)) for line in lines]
    report = read_report(renamed((folder / REPORT).read_text("utf-8")))
    failed = [
        f"{seen.job.name}: {seen.about.error or 'failed'}" for seen, _ in runs if seen.state == "FAIL" and seen.outputs
    ]
    gaps = [f"{seen.job.name}: {gap.kind} {gap.what}: {gap.why}" for seen, _ in runs for gap in seen.about.gaps]
    found = replace(report, failed=tuple(dict.fromkeys(failed)), gaps=tuple(dict.fromkeys(gaps)))
    return DryRun(tuple(_declared(runs)), found)


def _declared(runs: Iterable[tuple[Event, RunEvent]]) -> Iterable[JobEvent]:
    """A declaration of each job that writes, in the order of the first writes."""
    by_job: dict[Job, list[RunEvent]] = {}
    for seen, run in runs:
        if seen.outputs:
            by_job.setdefault(seen.job, []).append(run)
    return map(job_event, by_job.values())


def combined(runs: Sequence[DryRun]) -> DryRun:
    """Return dry runs as one, with the findings of all; of failures after the first, each is among ``failed``."""
    reports = [run.report for run in runs]
    failures = [one.failure for one in reports if one.failure]
    later = (f"{one.place}: {one.error}" for one in failures[1:])
    return DryRun(
        tuple(event for run in runs for event in run.events),
        Report(
            tuple(answer for one in reports for answer in one.answers),
            tuple(refusal for one in reports for refusal in one.refusals),
            tuple(lines for one in reports for lines in one.unexecuted),
            (*(text for one in reports for text in one.failed), *later),
            failures[0] if failures else None,
            tuple(gap for one in reports for gap in one.gaps),
            tuple(dict.fromkeys(text for one in reports for text in one.unwatched)),
        ),
    )
