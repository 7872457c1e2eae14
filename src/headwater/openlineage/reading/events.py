"""OpenLineage events as values: run events, job events and dataset events of any producer."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from headwater.errors import EventError
from headwater.model import Dataset, DatasetDescription, Gap, Job, ReplacedRows
from headwater.model.names import run_within
from headwater.model.time import parse_iso
from headwater.openlineage.identifiers import GRANT
from headwater.openlineage.reading import facets
from headwater.openlineage.reading.facets import LONGEST_RUN_ID, About, about
from headwater.openlineage.reading.grants import Grant, grant_of, own_about, own_lineage, own_names
from headwater.openlineage.reading.json_values import (
    Record,
    canonical,
    digest_of,
    in_parts,
    read_json,
    record,
    records,
    text,
)
from headwater.openlineage.reading.lineage_facets import EncodedLineage, ExplicitLineage, column_lineage, whole_sources

DECLARED = "DECLARED"
"""The state of the run that stands for a job event or a dataset event: lineage without a run."""

NO_JOB = Job("", "")
"""The job of the lineage in a dataset event."""

SUCCESSFUL = ("COMPLETE", DECLARED)
FINAL = ("ABORT", "COMPLETE", "FAIL")
_REPLACING = ("CREATE", "DROP", "TRUNCATE")
_PACKED = 3  # zlib's level: two fifths of the time of its usual 6, for an eighth more bytes
_END = 253_402_214_400_000_000
"""The last day that every time zone can write."""


@dataclass(frozen=True, slots=True)
class WrittenDataset:
    """An output of an event, its lineage where the event has one, and the rows it replaces where the event says so.

    ``partition`` says that the run was about a part of the dataset (OutputSubsetOutputDatasetFacet).
    ``restores`` is the version whose rows it has again, empty where it is not known; None where none are restored.
    """

    description: DatasetDescription
    lineage: EncodedLineage | None
    replaces: ReplacedRows | None = None
    partition: bool = False
    restores: str | None = None

    @property
    def made_version(self) -> str:
        """The version that the run made of the dataset; empty unless its producer is certain of it."""
        return self.description.version if self.replaces is not None else ""

    @property
    def replaces_all(self) -> bool:
        """True when no row of before is left in the dataset.

        Of events without ``headwater_write``, DROP, TRUNCATE and CREATE are believed. A dataset whose names end has no
        rows to speak of: what was made of it leads to its sources as before.
        """
        if self.replaces is not None:
            return self.replaces is ReplacedRows.ALL and not self.renamed
        return self.description.lifecycle in _REPLACING and not self.partition and not self.renamed

    @property
    def may_replace_all(self) -> bool:
        """True when an event without ``headwater_write`` says OVERWRITE, which may have been of partitions."""
        return self.replaces is None and self.description.lifecycle == "OVERWRITE" and not self.partition

    @property
    def replacement(self) -> ReplacedRows | None:
        """ALL where no row of before is left, SOME where nobody knows, None where the output ends no lineage."""
        if self.replaces_all:
            return ReplacedRows.ALL
        return ReplacedRows.SOME if self.may_replace_all or self.restores is not None else None

    @property
    def renamed(self) -> bool:
        """True when the event renames the dataset or its fields: then it is about no rows."""
        return bool(self.description.names or self.description.fields)

    def named_at(self, at: int) -> int:
        """A moment at which its name means that dataset: that of the event, or just before one that drops the name."""
        return at - 1 if any(change.present is None for change in self.description.names) else at

    @property
    def twins(self) -> frozenset[str]:
        """The names in lower case that several of its fields have."""
        of_schema = facets.twins_of(self.description)
        return of_schema if self.lineage is None else of_schema | self.lineage.twins


@dataclass(frozen=True, slots=True)
class Event:
    """One event; ``at`` is in microseconds since 1970, ``digest`` is equal for equal content.

    ``packed`` is the text as a store keeps it, once somebody has made it. ``references`` are datasets that it only
    names: what it says of those does not count (`headwater.openlineage.reading.grants`).
    """

    digest: bytes
    at: int
    state: str
    run: str
    job: Job
    inputs: tuple[DatasetDescription, ...]
    outputs: tuple[WrittenDataset, ...]
    about: About
    facets: Mapping[Dataset, frozenset[str]]
    text: bytes
    packed: bytes = b""
    references: frozenset[Dataset] = frozenset()

    @property
    def tells_lineage(self) -> bool:
        """True when it has the lineage of an output."""
        return any(output.lineage is not None for output in self.outputs)

    @property
    def replaces(self) -> bool:
        """True when rows of an output were replaced, or may have been."""
        return any(output.replacement for output in self.outputs)

    @property
    def concerns_rows(self) -> bool:
        """True when it has lineage of an output, or replaces rows of one."""
        return self.tells_lineage or self.replaces

    @property
    def renames(self) -> bool:
        """True when names are others from this event on, or would be, had the run not failed."""
        return any(output.renamed for output in self.outputs)

    @property
    def twins(self) -> bool:
        """True when fields of one dataset differ in case only."""
        return any(map(facets.twins_of, self.inputs)) or any(output.twins for output in self.outputs)


def read_event(source: Mapping[str, Any] | str | bytes) -> Event:
    """The event in a JSON text or object.

    Raises:
        EventError: it is not JSON, not an event of the specification, or has no time, job or run.
    """
    return event_of(in_parts(read_json(source if isinstance(source, str | bytes) else canonical(source))))


def event_of(value: Any) -> Event:
    """The event in a JSON value, as it was read or `in_parts`.

    Raises:
        EventError: as for `read_event`.
    """
    if not isinstance(value, dict):
        raise EventError(f"A JSON {type(value).__name__} instead of an object: expected one OpenLineage event.")
    text_of_all = canonical(value)
    digest = digest_of(text_of_all)
    outputs, gaps = _outputs(value)
    run, state, job = _identity(value, digest)
    event = Event(
        digest,
        event_time(value),
        state,
        run,
        job,
        tuple(facets.description(item) for item in records(value, "inputs")),
        outputs,
        about(value, gaps),
        _facets(value),
        text_of_all,
    )
    patterns = value.get(GRANT)
    return event if patterns is None else _limited(event, grant_of(patterns))


def _limited(event: Event, grant: Grant) -> Event:
    """The event as far as the key that sent it owns what it speaks of; of the rest it has the names."""
    references = frozenset(one.dataset for one in event.inputs if not grant.owns(one.dataset))
    return replace(
        event,
        run=run_within(event.run, event.job.namespace),
        inputs=tuple(
            DatasetDescription(one.dataset) if one.dataset in references else own_names(one, grant)
            for one in event.inputs
        ),
        outputs=tuple(
            replace(
                one,
                description=own_names(one.description, grant),
                lineage=None if one.lineage is None else own_lineage(one.lineage, grant),
            )
            for one in event.outputs
        ),
        about=own_about(event.about, grant),
        facets={named: names for named, names in event.facets.items() if named not in references},
        references=references,
    )


def packed(event: Event) -> Event:
    """The event with its packed text: whoever reads events while others write has time for that."""
    return replace(event, packed=pack(event.text))


def pack(text_of_all: bytes) -> bytes:
    """The text of an event as it is kept."""
    return zlib.compress(text_of_all, _PACKED)


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
    if not run or len(run) > LONGEST_RUN_ID:
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


def event_time(value: Record) -> int:
    """The time of an event, in microseconds since 1970.

    Raises:
        EventError: it has none, or one that is not from 1970 to 9999.
    """
    written = text(value, "eventTime")
    try:
        at = parse_iso(written)
    except ValueError:
        raise EventError(
            f"eventTime is {str(value.get('eventTime'))[:50]!r}: "
            "expected an ISO 8601 time such as 2026-01-31T09:30:00Z."
        ) from None
    if not 0 <= at < _END:
        raise EventError(f"eventTime is {written[:50]!r}: expected a time from 1970 to 9999. Correct the producer.")
    return at


def _outputs(value: Record) -> tuple[tuple[WrittenDataset, ...], list[Gap]]:
    written: list[WrittenDataset] = []
    gaps: list[Gap] = []
    alone = record(value, "dataset")
    explicit = ExplicitLineage(value)
    for item in [*records(value, "outputs"), *([alone] if alone else [])]:
        described = facets.description(item)
        entry = explicit.entry(item, described.dataset)
        try:
            lineage = column_lineage(item, entry)
        except EventError as fault:
            lineage = None
            gaps.append(Gap("facet", "columnLineage", str(fault), str(described.dataset)))
        gaps += whole_sources(lineage, described.dataset)
        output = WrittenDataset(described, lineage, *facets.replaced_version(item))
        # A rename creates no edge: both names are one column in the store.
        written.append(replace(output, lineage=None) if output.renamed else output)
    return tuple(written), [*gaps, *explicit.gaps]


def _facets(value: Record) -> dict[Dataset, frozenset[str]]:
    """The names of the facets of each dataset."""
    found: dict[Dataset, frozenset[str]] = {}
    for item in (*records(value, "inputs"), *records(value, "outputs"), *filter(None, [record(value, "dataset")])):
        named = facets.dataset(item)
        found[named] = found.get(named, frozenset()).union(map(text, record(item, "facets")))
    return found
