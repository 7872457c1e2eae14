"""What is kept, in the JSON of Marquez: names and order of members as its service/models have them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from headwater.answers.documents import of_overwrite
from headwater.answers.redaction import Redaction
from headwater.model import Dataset, Job
from headwater.openlineage.reading.json_values import text
from headwater.store.catalog.currentjobs import JobVersion
from headwater.store.catalog.datasets import DatasetField, KeptDataset
from headwater.store.catalog.fieldlineage import Given
from headwater.store.catalog.jobs import KeptJob
from headwater.store.catalog.runevents import ToldRun
from headwater.store.catalog.runs import KeptRun
from headwater.store.catalog.sources import UNTOLD
from headwater.store.catalog.touched import Used
from headwater.store.catalog.versions import Version

Document = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STREAMS = ("STREAM", "TOPIC")


def instant(at: int | None) -> str | None:
    """A moment as Marquez writes it.

    >>> instant(1_767_225_600_000_000), instant(None)
    ('2026-01-01T00:00:00Z', None)
    """
    if at is None:
        return None
    return (_EPOCH + timedelta(microseconds=at)).isoformat().replace("+00:00", "Z")


def dataset_name(named: Dataset) -> Document:
    """A DatasetId."""
    return {"namespace": named.namespace, "name": named.name}


def dataset(kept: KeptDataset, redaction: Redaction) -> Document:
    """A Dataset with its column lineage."""
    outline = dataset_outline(kept, redaction.dataset(kept.named))
    del outline["lastLifecycleState"]
    return outline | {
        "lastLifecycleState": kept.lifecycle or None,
        "currentVersion": None if kept.version is None else str(kept.version.uuid),
        "columnLineage": column_lineage(kept.lineage, redaction),
        "facets": redaction.json(kept.facets),
        "deleted": False,
    }


def dataset_outline(kept: KeptDataset, shown: Dataset) -> Document:
    """Return a DatasetData: the part of a dataset that nodes of the lineage graph have, too."""
    return {
        "id": dataset_name(shown),
        "type": _dataset_type(kept),
        "name": shown.name,
        "physicalName": shown.name,
        "createdAt": instant(kept.created_at),
        "updatedAt": instant(kept.updated_at),
        "namespace": shown.namespace,
        "sourceName": kept.source or UNTOLD,
        "fields": [dataset_field(one) for one in kept.fields],
        "tags": list(kept.tags),
        "lastModifiedAt": instant(None if kept.version is None else kept.version.at),
        "description": kept.description or None,
        "lastLifecycleState": kept.lifecycle or None,
    }


def dataset_field(kept: DatasetField) -> Document:
    """A Field."""
    return {
        "name": kept.name,
        "type": kept.type or None,
        "tags": list(kept.tags),
        "description": kept.description or None,
    }


def column_lineage(lineage: Mapping[str, tuple[Given, ...]], redaction: Redaction) -> list[Document] | None:
    """The ColumnLineage of each field that has one; null for none, as in Marquez."""
    if not lineage:
        return None
    return [
        {"name": name, "inputFields": [input_field(one, redaction) for one in given], **way_of(given, redaction)}
        for name, given in sorted(lineage.items())
    ]


def input_field(given: Given, redaction: Redaction) -> Document:
    """A ColumnLineageInputField, with the run that may have replaced what was made so, where there is one."""
    owner = given.column.dataset.dataset
    shown = redaction.dataset(owner)
    by = given.replaced_by
    replaced = {} if by is None else {"possiblyReplaced": of_overwrite(redaction.answer(by))}
    return {
        "namespace": shown.namespace,
        "dataset": shown.name,
        "field": redaction.field(owner, given.column.name),
        "transformationDescription": redaction.description(given.description) or None,
        "transformationType": given.type,
        **replaced,
    }


def way_of(given: Iterable[Given], redaction: Redaction) -> Document:
    """The deprecated members that stand for all input fields: those of the first that carries the value."""
    some = list(given)
    first = next((one for one in some if one.direct), some[0] if some else None)
    return {
        "transformationDescription": redaction.description(first.description) or None if first is not None else None,
        "transformationType": first.type if first is not None else None,
    }


def dataset_version(kept: KeptDataset, version: Version, run: KeptRun | None, redaction: Redaction) -> Document:
    """A DatasetVersion: the dataset with the fields of that version, and the run that wrote it."""
    outline = dataset(kept, redaction)
    shared = ("type", "name", "physicalName", "namespace", "sourceName", "fields", "tags", "description", "facets")
    return {
        "id": outline["id"] | {"version": str(version.uuid)},
        "createdAt": instant(version.at),
        "version": str(version.uuid),
        **{name: outline[name] for name in shared},
        "lifecycleState": kept.lifecycle or None,
        "currentSchemaVersion": None if version.schema is None else str(UUID(bytes=version.schema)),
        "createdByRun": None if run is None else run_document(run, redaction),
    }


def run_document(kept: KeptRun, redaction: Redaction) -> Document:
    """A Run; of a hidden job only that it was, and when."""
    job, told = redaction.job(kept.job), kept.told
    if redaction.hides(kept.job):
        told = ToldRun(told.first_at, told.last_at)
    duration = None if None in (kept.started_at, kept.ended_at) else kept.ended_at - kept.started_at  # type: ignore[operator]
    return {
        "id": kept.uuid,
        "createdAt": instant(told.first_at),
        "updatedAt": instant(told.last_at),
        "nominalStartTime": told.nominal_start or None,
        "nominalEndTime": told.nominal_end or None,
        "state": kept.state,
        "startedAt": instant(kept.started_at),
        "endedAt": instant(kept.ended_at),
        "durationMs": None if duration is None else duration // 1_000,
        "args": _arguments(told.arguments, redaction),
        "jobVersion": {
            "namespace": job.namespace,
            "name": job.name,
            "version": redaction.version(kept.job, kept.version),
        },
        "inputDatasetVersions": [_used(one, told.inputs, redaction) for one in kept.inputs],
        "outputDatasetVersions": [_used(one, told.outputs, redaction) for one in kept.outputs],
        "facets": redaction.json(told.facets),
    }


def job(kept: KeptJob, uuid: UUID | None, redaction: Redaction) -> Document:
    """A Job with its newest runs; ``uuid`` is that of its parent."""
    return {
        **job_outline(kept, uuid, redaction),
        "latestRun": run_document(kept.runs[0], redaction) if kept.runs else None,
        "latestRuns": [run_document(run, redaction) for run in kept.runs] if kept.runs else None,
        "facets": redaction.json(kept.facets),
        "currentVersion": None if kept.version is None else str(kept.version),
        "labels": [],
        "tags": list(kept.tags),
    }


def job_outline(kept: KeptJob, uuid: UUID | None, redaction: Redaction) -> Document:
    """What a node of the lineage graph has of a job too (JobData)."""
    parent = kept.parent
    return {
        "id": {"namespace": kept.named.namespace, "name": kept.named.name},
        "type": job_type(kept),
        "name": kept.named.name,
        "simpleName": kept.named.name if parent is None else kept.named.name.removeprefix(f"{parent.name}."),
        "parentJobName": None if parent is None else parent.name,
        "parentJobUuid": None if uuid is None else str(uuid),
        "createdAt": instant(kept.created_at),
        "updatedAt": instant(kept.updated_at),
        "namespace": kept.named.namespace,
        "inputs": [dataset_name(redaction.dataset(one)) for one in kept.inputs],
        "outputs": [dataset_name(redaction.dataset(one)) for one in kept.outputs],
        "location": kept.location or None,
        "description": kept.description or None,
    }


def with_facets(kept: KeptJob, facets: Document) -> KeptJob:
    """A job with the facets that its type is read from."""
    return replace(kept, facets=facets)


def bare_job(kept: KeptJob, shown: Job) -> KeptJob:
    """A hidden job: a name that tells nothing, and when there was something."""
    return KeptJob(kept.id, shown, None, "", "", kept.created_at, kept.updated_at, (), (), None, ())


def bare_dataset(kept: KeptDataset, shown: Dataset) -> KeptDataset:
    """A hidden dataset."""
    return KeptDataset(kept.id, shown, "", "", "", kept.created_at, kept.updated_at, (), (), None)


def job_version(named: Job, location: str, version: JobVersion, run: KeptRun | None, redaction: Redaction) -> Document:
    """A JobVersion with its newest run."""
    own = {"namespace": named.namespace, "name": named.name}
    return {
        "id": own | {"version": str(version.uuid)},
        "name": named.name,
        "createdAt": instant(version.at),
        "version": str(version.uuid),
        "namespace": named.namespace,
        "location": location or None,
        "inputs": [dataset_name(redaction.dataset(one)) for one in version.inputs],
        "outputs": [dataset_name(redaction.dataset(one)) for one in version.outputs],
        "latestRun": None if run is None else run_document(run, redaction),
    }


def _arguments(told: dict[str, str], redaction: Redaction) -> dict[str, str]:
    hidden = redaction.hides(Job(told.get("namespace", ""), ""))
    return {name: value for name, value in told.items() if not hidden or name not in ("name", "namespace")}


def _used(used: Used, facets: Mapping[tuple[str, str], Document], redaction: Redaction) -> Document:
    hidden = redaction.hides(used.named)
    said = {} if hidden else facets.get((used.named.namespace, used.named.name), {})
    return {
        "datasetVersionId": dataset_name(redaction.dataset(used.named))
        | {"version": redaction.version(used.named, used.version)},
        "facets": redaction.json(said),
    }


def _dataset_type(kept: KeptDataset) -> str:
    streams = text(kept.facets, "datasetType", "datasetType").upper() in _STREAMS
    return "STREAM" if streams or kept.named.namespace.startswith("kafka:") else "DB_TABLE"


def job_type(kept: KeptJob) -> str:
    """JobTypeJobFacet 2-0-3, as Marquez reads it; SERVICE is what a PUT said."""
    if text(kept.facets, "jobType", "jobType").upper() == "SERVICE":
        return "SERVICE"
    return "STREAM" if text(kept.facets, "jobType", "processingType").upper() == "STREAMING" else "BATCH"
