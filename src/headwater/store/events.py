"""OpenLineage events as values: run events, job events and dataset events of any producer."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from headwater.errors import EventError
from headwater.model import ColumnLineage, DatasetDescription, Gap, Job
from headwater.store import facets
from headwater.store.jsonvalues import Record, record, records, text

DECLARED = "DECLARED"
"""The state of the run that stands for a job event or a dataset event: lineage told without running."""

NO_JOB = Job("", "")
"""The job of lineage that a dataset event tells."""

SUCCESSFUL = ("COMPLETE", DECLARED)
FINAL = ("ABORT", "COMPLETE", "FAIL")
_LONGEST_RUN_ID = 200
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WrittenDataset:
    """An output of an event, and its lineage where the event tells it."""

    description: DatasetDescription
    lineage: ColumnLineage | None

    @property
    def renamed(self) -> bool:
        """True when the event gives the dataset or its fields other names: then it tells of no rows."""
        return bool(self.description.names or self.description.fields)


@dataclass(frozen=True, slots=True)
class Parent:
    """The run that started a run."""

    run: str
    job: Job


@dataclass(frozen=True, slots=True)
class About:
    """What the facets of an event's run and job say."""

    parent: Parent | None = None
    engine: str = ""
    error: str = ""
    job_type: str = ""
    streaming: bool = False
    sql: str = ""
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, slots=True)
class Event:
    """One event; ``at`` is in microseconds since 1970, ``digest`` is equal for equal content."""

    digest: bytes
    at: int
    state: str
    run: str
    job: Job
    inputs: tuple[DatasetDescription, ...]
    outputs: tuple[WrittenDataset, ...]
    about: About
    text: str

    @property
    def renames(self) -> bool:
        """True when names are others from this event on, or would be, had the run not failed."""
        return any(output.renamed for output in self.outputs)


def read_event(source: Mapping[str, Any] | str | bytes) -> Event:
    """The event in a JSON text or object.

    Raises:
        EventError: it is not JSON, not an event of the specification, or has no time, job or run.
    """
    value = _parsed(_canonical(source) if isinstance(source, Mapping) else source)
    canonical = _canonical(value)
    digest = blake2b(canonical.encode(), digest_size=16).digest()
    outputs, gaps = _outputs(value)
    run, state, job = _identity(value, digest)
    return Event(
        digest,
        _moment(value),
        state,
        run,
        job,
        tuple(facets.description(item) for item in records(value, "inputs")),
        outputs,
        _about(value, gaps),
        canonical,
    )


def _parsed(source: str | bytes) -> Record:
    try:
        value = json.loads(source)
    except (ValueError, RecursionError) as fault:
        raise EventError(
            f"Not JSON ({fault}): expected one OpenLineage event. Correct or leave out the line."
        ) from None
    if not isinstance(value, dict):
        raise EventError(f"A JSON {type(value).__name__} instead of an object: expected one OpenLineage event.")
    return value


def _canonical(value: Mapping[str, Any]) -> str:
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as fault:
        raise EventError(f"An event that is not JSON ({fault}): expected dicts, lists, strings and numbers.") from None


def _identity(value: Record, digest: bytes) -> tuple[str, str, Job]:
    if "run" in value:
        return _run_id(value), (text(value, "eventType") or "OTHER").upper(), _job(record(value, "job"))
    if "job" in value:
        return f"job event {digest.hex()}", DECLARED, _job(record(value, "job"))
    if "dataset" in value:
        return f"dataset event {digest.hex()}", DECLARED, NO_JOB
    raise EventError(
        f"An object with {', '.join(sorted(value)[:5]) or 'nothing'}: expected a run event "
        "(run, job), a job event (job) or a dataset event (dataset) of the OpenLineage specification."
    )


def _run_id(value: Record) -> str:
    run = text(value, "run", "runId")
    if not run or len(run) > _LONGEST_RUN_ID:
        raise EventError(
            f"run.runId is {str(record(value, 'run').get('runId'))[:50]!r}: expected a UUID. Correct the producer."
        )
    return run


def _job(value: Record) -> Job:
    job = Job(text(value, "namespace"), text(value, "name"))
    if not job.namespace or not job.name:
        raise EventError(
            f"The job has namespace {value.get('namespace')!r} and name {value.get('name')!r}: "
            "expected two strings that are not empty. Correct the producer."
        )
    return job


def _moment(value: Record) -> int:
    written = text(value, "eventTime")
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise EventError(
            f"eventTime is {str(value.get('eventTime'))[:50]!r}: "
            "expected an ISO 8601 time such as 2026-01-31T09:30:00Z."
        ) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = aware - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _outputs(value: Record) -> tuple[tuple[WrittenDataset, ...], list[Gap]]:
    written: list[WrittenDataset] = []
    gaps: list[Gap] = []
    alone = record(value, "dataset")
    for item in [*records(value, "outputs"), *([alone] if alone else [])]:
        described = facets.description(item)
        try:
            lineage = facets.column_lineage(item)
        except EventError as fault:
            lineage = None
            gaps.append(Gap("facet", "columnLineage", str(fault), str(described.dataset)))
        told = WrittenDataset(described, lineage)
        # What a renamed column is made of is its former self: in the store they are one.
        written.append(WrittenDataset(described, None) if told.renamed else told)
    return tuple(written), gaps


def _about(value: Record, gaps: list[Gap]) -> About:
    run, job = record(value, "run", "facets"), record(value, "job", "facets")
    engine = (text(run, "processing_engine", "name"), text(run, "processing_engine", "version"))
    return About(
        _parent(record(run, "parent")),
        " ".join(filter(None, engine)),
        text(run, "errorMessage", "message"),
        text(job, "jobType", "jobType"),
        text(job, "jobType", "processingType").upper() == "STREAMING",
        text(job, "sql", "query"),
        (*gaps, *_told_gaps(run)),
    )


def _parent(facet: Record) -> Parent | None:
    run, job = text(facet, "run", "runId"), record(facet, "job")
    if not run or len(run) > _LONGEST_RUN_ID or not text(job, "namespace") or not text(job, "name"):
        return None
    return Parent(run, Job(text(job, "namespace"), text(job, "name")))


def _told_gaps(run: Record) -> list[Gap]:
    told = [
        Gap(text(gap, "kind"), text(gap, "what"), text(gap, "why"), text(gap, "output"))
        for gap in records(run, "headwater_coverage", "gaps")
    ]
    failed = [
        Gap("error", text(error, "task") or "extraction", text(error, "errorMessage"))
        for error in records(run, "extractionError", "errors")
    ]
    return told + failed
