"""The JSON documents of Marquez, with the names and the order of members of its service/models."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from headwater.answers.documents import of_overwrite
from headwater.answers.redaction import Redaction
from headwater.model import Dataset, Job
from headwater.model.time import iso
from headwater.openlineage.reading.json_values import text
from headwater.openlineage.reading.merged_facets import RunEvents
from headwater.store.catalog.datasets import DatasetField, StoredDataset
from headwater.store.catalog.field_lineage import InputColumn
from headwater.store.catalog.job_versions import JobVersion
from headwater.store.catalog.jobs import StoredJob
from headwater.store.catalog.run_datasets import DatasetUse
from headwater.store.catalog.runs import StoredRun
from headwater.store.catalog.sources import DEFAULT_SOURCE
from headwater.store.read_model.versions import Version

Document = dict[str, Any]

_STREAMS = ("STREAM", "TOPIC")


def instant(at: int | None) -> str | None:
    """Return a moment as Marquez writes it.

    >>> instant(1_767_225_600_000_000), instant(None)
    ('2026-01-01T00:00:00Z', None)
    """
    return None if at is None else iso(at)


def dataset_name(dataset: Dataset) -> Document:
    """Return a DatasetId."""
    return {"namespace": dataset.namespace, "name": dataset.name}


def dataset(stored: StoredDataset, redaction: Redaction) -> Document:
    """Return a Dataset with its column lineage."""
    outline = dataset_outline(stored, redaction.dataset(stored.dataset))
    del outline["lastLifecycleState"]
    return outline | {
        "lastLifecycleState": stored.lifecycle or None,
        "currentVersion": None if stored.version is None else str(stored.version.uuid),
        "columnLineage": column_lineage(stored.lineage, redaction),
        "facets": redaction.json(stored.facets),
        "deleted": False,
    }


def dataset_outline(stored: StoredDataset, shown: Dataset) -> Document:
    """Return a DatasetData: the part of a dataset that nodes of the lineage graph have, too."""
    return {
        "id": dataset_name(shown),
        "type": _dataset_type(stored),
        "name": shown.name,
        "physicalName": shown.name,
        "createdAt": instant(stored.created_at),
        "updatedAt": instant(stored.updated_at),
        "namespace": shown.namespace,
        "sourceName": stored.source or DEFAULT_SOURCE,
        "fields": [dataset_field(one) for one in stored.fields],
        "tags": list(stored.tags),
        "lastModifiedAt": instant(None if stored.version is None else stored.version.at),
        "description": stored.description or None,
        "lastLifecycleState": stored.lifecycle or None,
    }


def dataset_field(stored: DatasetField) -> Document:
    """Return a Field."""
    return {
        "name": stored.name,
        "type": stored.type or None,
        "tags": list(stored.tags),
        "description": stored.description or None,
    }


def column_lineage(lineage: Mapping[str, tuple[InputColumn, ...]], redaction: Redaction) -> list[Document] | None:
    """Return the ColumnLineage of each field that has one; None where no field has, as in Marquez."""
    if not lineage:
        return None
    return [
        {
            "name": name,
            "inputFields": [input_field(one, redaction) for one in inputs],
            **first_transformation(inputs, redaction),
        }
        for name, inputs in sorted(lineage.items())
    ]


def input_field(input_: InputColumn, redaction: Redaction) -> Document:
    """Return a ColumnLineageInputField, with the run that may have replaced the rows that were made so, if any."""
    owner = input_.column.dataset.dataset
    shown = redaction.dataset(owner)
    by = input_.replaced_by
    replaced = {} if by is None else {"possiblyReplaced": of_overwrite(redaction.answer(by))}
    return {
        "namespace": shown.namespace,
        "dataset": shown.name,
        "field": redaction.field(owner, input_.column.name),
        "transformationDescription": redaction.description(input_.description) or None,
        "transformationType": input_.type,
        **replaced,
    }


def first_transformation(inputs: Iterable[InputColumn], redaction: Redaction) -> Document:
    """Return the deprecated members for all input fields: those of the first that carries the value."""
    some = list(inputs)
    first = next((one for one in some if one.direct), some[0] if some else None)
    return {
        "transformationDescription": redaction.description(first.description) or None if first is not None else None,
        "transformationType": first.type if first is not None else None,
    }


def dataset_version(stored: StoredDataset, version: Version, run: StoredRun | None, redaction: Redaction) -> Document:
    """Return a DatasetVersion: the dataset with the fields of that version, and the run that wrote it."""
    outline = dataset(stored, redaction)
    shared = ("type", "name", "physicalName", "namespace", "sourceName", "fields", "tags", "description", "facets")
    return {
        "id": outline["id"] | {"version": str(version.uuid)},
        "createdAt": instant(version.at),
        "version": str(version.uuid),
        **{name: outline[name] for name in shared},
        "lifecycleState": stored.lifecycle or None,
        "currentSchemaVersion": None if version.schema is None else str(UUID(bytes=version.schema)),
        "createdByRun": None if run is None else run_document(run, redaction),
    }


def run_document(stored: StoredRun, redaction: Redaction) -> Document:
    """Return a Run; for a hidden job only its moments and its state."""
    job, events = redaction.job(stored.job), stored.events
    if redaction.hides(stored.job):
        events = RunEvents(events.first_at, events.last_at)
    duration = None if None in (stored.started_at, stored.ended_at) else stored.ended_at - stored.started_at  # type: ignore[operator]
    return {
        "id": redaction.run(stored.job, stored.uuid),
        "createdAt": instant(events.first_at),
        "updatedAt": instant(events.last_at),
        "nominalStartTime": events.nominal_start or None,
        "nominalEndTime": events.nominal_end or None,
        "state": stored.state,
        "startedAt": instant(stored.started_at),
        "endedAt": instant(stored.ended_at),
        "durationMs": None if duration is None else duration // 1_000,
        "args": _arguments(events.arguments, redaction),
        "jobVersion": {
            "namespace": job.namespace,
            "name": job.name,
            "version": redaction.version(stored.job, stored.version),
        },
        "inputDatasetVersions": [_used(one, events.inputs, redaction) for one in stored.inputs],
        "outputDatasetVersions": [_used(one, events.outputs, redaction) for one in stored.outputs],
        "facets": redaction.json(events.facets),
    }


def job(stored: StoredJob, uuid: UUID | None, redaction: Redaction) -> Document:
    """Return a Job with its newest runs; ``uuid`` is that of its parent."""
    return {
        **job_outline(stored, uuid, redaction),
        "latestRun": run_document(stored.runs[0], redaction) if stored.runs else None,
        "latestRuns": [run_document(run, redaction) for run in stored.runs] if stored.runs else None,
        "facets": redaction.json(stored.facets),
        "currentVersion": None if stored.version is None else str(stored.version),
        "labels": [],
        "tags": list(stored.tags),
    }


def job_outline(stored: StoredJob, uuid: UUID | None, redaction: Redaction) -> Document:
    """Return a JobData: the part of a job that nodes of the lineage graph have, too."""
    parent = stored.parent
    return {
        "id": {"namespace": stored.named.namespace, "name": stored.named.name},
        "type": job_type(stored),
        "name": stored.named.name,
        "simpleName": stored.named.name if parent is None else stored.named.name.removeprefix(f"{parent.name}."),
        "parentJobName": None if parent is None else parent.name,
        "parentJobUuid": None if uuid is None else str(uuid),
        "createdAt": instant(stored.created_at),
        "updatedAt": instant(stored.updated_at),
        "namespace": stored.named.namespace,
        "inputs": [dataset_name(redaction.dataset(one)) for one in stored.inputs],
        "outputs": [dataset_name(redaction.dataset(one)) for one in stored.outputs],
        "location": stored.location or None,
        "description": stored.description or None,
    }


def with_facets(stored: StoredJob, facets: Document) -> StoredJob:
    """Return a job with facets, from which its type is read."""
    return replace(stored, facets=facets)


def bare_job(stored: StoredJob, shown: Job) -> StoredJob:
    """Return a hidden job: a token, and its moments."""
    return StoredJob(stored.id, shown, None, "", "", stored.created_at, stored.updated_at, (), (), None, ())


def bare_dataset(stored: StoredDataset, shown: Dataset) -> StoredDataset:
    """Return a hidden dataset: a token, and its moments."""
    return StoredDataset(shown, id=stored.id, created_at=stored.created_at, updated_at=stored.updated_at)


def job_version(job: Job, location: str, version: JobVersion, run: StoredRun | None, redaction: Redaction) -> Document:
    """Return a JobVersion with its newest run."""
    own = {"namespace": job.namespace, "name": job.name}
    return {
        "id": own | {"version": str(version.uuid)},
        "name": job.name,
        "createdAt": instant(version.at),
        "version": str(version.uuid),
        "namespace": job.namespace,
        "location": location or None,
        "inputs": [dataset_name(redaction.dataset(one)) for one in version.inputs],
        "outputs": [dataset_name(redaction.dataset(one)) for one in version.outputs],
        "latestRun": None if run is None else run_document(run, redaction),
    }


_PARENT = ("name", "namespace", "run_id")


def _arguments(arguments: dict[str, str], redaction: Redaction) -> dict[str, str]:
    hidden = redaction.hides(Job(arguments.get("namespace", ""), ""))
    return {name: value for name, value in arguments.items() if not hidden or name not in _PARENT}


def _used(used: DatasetUse, facets: Mapping[tuple[str, str], Document], redaction: Redaction) -> Document:
    hidden = redaction.hides(used.named)
    of_run = {} if hidden else facets.get((used.named.namespace, used.named.name), {})
    return {
        "datasetVersionId": dataset_name(redaction.dataset(used.named))
        | {"version": redaction.version(used.named, used.version)},
        "facets": redaction.json(of_run),
    }


def _dataset_type(stored: StoredDataset) -> str:
    streams = text(stored.facets, "datasetType", "datasetType").upper() in _STREAMS
    return "STREAM" if streams or stored.dataset.namespace.startswith("kafka:") else "DB_TABLE"


def job_type(stored: StoredJob) -> str:
    """Return the type of a job by JobTypeJobFacet 2-0-3, as Marquez reads it; SERVICE comes from PUT."""
    if text(stored.facets, "jobType", "jobType").upper() == "SERVICE":
        return "SERVICE"
    return "STREAM" if text(stored.facets, "jobType", "processingType").upper() == "STREAMING" else "BATCH"
