"""Facets of an event's run and job, as values."""

from dataclasses import dataclass

from headwater.model import Gap, Job
from headwater.openlineage.identifiers import COVERAGE
from headwater.openlineage.reading.json_values import Record, record, records, text

LONGEST_RUN_ID = 200


@dataclass(frozen=True, slots=True)
class Parent:
    """The run that started a run."""

    run: str
    job: Job


@dataclass(frozen=True, slots=True)
class About:
    """The facets of an event's run and job."""

    parent: Parent | None = None
    engine: str = ""
    error: str = ""
    job_type: str = ""
    streaming: bool = False
    sql: str = ""
    description: str = ""
    location: str = ""
    facets: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


def about(value: Record, gaps: list[Gap]) -> About:
    """The facets of an event's run and job; ``gaps`` were found in it elsewhere."""
    run, job = record(value, "run", "facets"), record(value, "job", "facets")
    engine = (text(run, "processing_engine", "name"), text(run, "processing_engine", "version"))
    return About(
        _parent(record(run, "parent")),
        " ".join(filter(None, engine)),
        text(run, "errorMessage", "message"),
        text(job, "jobType", "jobType"),
        text(job, "jobType", "processingType").upper() == "STREAMING",
        text(job, "sql", "query"),
        text(job, "documentation", "description"),
        text(job, "sourceCodeLocation", "url"),
        tuple(map(text, job)),
        (*gaps, *_gaps(run)),
    )


def _parent(facet: Record) -> Parent | None:
    run, job = text(facet, "run", "runId"), record(facet, "job")
    if not run or len(run) > LONGEST_RUN_ID or not text(job, "namespace") or not text(job, "name"):
        return None
    return Parent(run, Job(text(job, "namespace"), text(job, "name")))


def _gaps(run: Record) -> list[Gap]:
    if COVERAGE not in run and "extractionError" not in run:  # as most
        return []
    reported = [
        Gap(text(gap, "kind"), text(gap, "what"), text(gap, "why"), text(gap, "output"))
        for gap in records(run, COVERAGE, "gaps")
    ]
    failed = [
        Gap("error", text(error, "task") or "extraction", text(error, "errorMessage"))
        for error in records(run, "extractionError", "errors")
    ]
    return reported + failed
