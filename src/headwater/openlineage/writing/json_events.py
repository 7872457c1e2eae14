"""Events and facets as JSON objects, of what is described without a run of Spark: over HTTP or by an extension.

They are made without the classes of openlineage-python, whose import costs a server a fifth of a second of CPU.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from headwater.model import Dataset, Job
from headwater.model.time import iso
from headwater.openlineage.identifiers import ARGUMENTS, SERVER_PRODUCER, event_schema, facet_schema

Json = dict[str, Any]


def dataset_event(dataset: Dataset, facets: Json, at: int) -> Json:
    """Return a DatasetEvent, 2-0-2, at a moment in microseconds."""
    return _event("DatasetEvent", at) | {"dataset": described(dataset, facets)}


def job_event(job: Job, facets: Json, inputs: Iterable[Json], outputs: Iterable[Json], at: int) -> Json:
    """Return a JobEvent, 2-0-2, at a moment in microseconds; its datasets as `described` or `named` makes them."""
    return _event("JobEvent", at) | _job(job, facets, inputs, outputs)


def run_event(run: str, job: Job, state: str, at: int, facets: Json | None = None) -> Json:
    """Return a RunEvent, 2-0-2, of a state such as START, at a moment in microseconds; it names no datasets."""
    head = {"eventType": state, "run": {"runId": run, "facets": facets or {}}}
    return _event("RunEvent", at) | head | _job(job, {}, (), ())


def of_run(event: Json, run: str, job: Job) -> Json:
    """Return a RunEvent of type OTHER with what a job event says; or a dataset event, whose dataset the run writes."""
    same = {name: event[name] for name in ("eventTime", "job", "inputs", "outputs") if name in event}
    return run_event(run, job, "OTHER", 0) | same | ({"outputs": [event["dataset"]]} if "dataset" in event else {})


def named(dataset: Dataset | Job) -> Json:
    """Return the namespace and name of a dataset or job."""
    return {"namespace": dataset.namespace, "name": dataset.name}


def described(dataset: Dataset | Job, facets: Json) -> Json:
    """Return a dataset or job with its facets."""
    return named(dataset) | {"facets": facets}


def dataset_facets(
    source: tuple[str, str], fields: Iterable[Mapping[str, str | None]], description: str | None, stream: bool
) -> Json:
    """Return the facets of a dataset.

    Args:
        source: the name and the URL of where it is.
        fields: the members of each field of the schema facet; those that are None are left out.
    """
    known = [{name: value for name, value in one.items() if value is not None} for one in fields]
    facets = {"dataSource": _facet("1-0-1", "DatasourceDatasetFacet", name=source[0], uri=source[1])}
    if known:
        facets["schema"] = schema_facet(known)
    if description:
        facets["documentation"] = _facet("1-0-1", "DocumentationDatasetFacet", description=description)
    if stream:
        facets["datasetType"] = _facet("1-0-0", "DatasetTypeDatasetFacet", datasetType="STREAM")
    return facets


def schema_facet(fields: Iterable[Mapping[str, str]]) -> Json:
    """Return the facet with the fields of a dataset, each with a ``name``."""
    return _facet("1-1-1", "SchemaDatasetFacet", fields=list(fields))


def symlinks_facet(others: Iterable[tuple[Dataset, str]]) -> Json:
    """Return the facet with other names of a dataset, each with its type, such as ``TABLE``."""
    return _facet("1-0-1", "SymlinksDatasetFacet", identifiers=[named(one) | {"type": kind} for one, kind in others])


def job_facets(kind: str, description: str | None, location: str | None, sql: str | None) -> Json:
    """Return the facets of a job, as Marquez's ``kind`` of it is: BATCH, STREAM or SERVICE."""
    processing = "STREAMING" if kind == "STREAM" else "BATCH"
    facets = {
        "jobType": _facet("2-0-3", "JobTypeJobFacet", processingType=processing, integration="MARQUEZ", jobType=kind)
    }
    if description:
        facets["documentation"] = _facet("1-0-1", "DocumentationJobFacet", description=description)
    if location:
        facets["sourceCodeLocation"] = _facet("1-0-1", "SourceCodeLocationJobFacet", type="url", url=location)
    if sql:
        facets["sql"] = _facet("1-0-1", "SQLJobFacet", query=sql)
    return facets


def run_facets(nominal_start: str | None, nominal_end: str | None, arguments: Mapping[str, str] | None) -> Json:
    """Return the facets with the nominal time, ISO 8601, and the arguments of a run."""
    facets = {}
    if nominal_start is not None:
        times = {"nominalStartTime": nominal_start} | ({} if nominal_end is None else {"nominalEndTime": nominal_end})
        facets["nominalTime"] = _facet("1-0-1", "NominalTimeRunFacet", **times)
    if arguments:
        facets[ARGUMENTS] = base_members(SERVER_PRODUCER, event_schema("RunFacet")) | {"args": arguments}
    return facets


def base_members(producer: str, schema: str) -> Json:
    """Return the members of every facet (BaseFacet)."""
    return {"_producer": producer, "_schemaURL": schema}


def _event(kind: str, at: int) -> Json:
    return {"eventTime": iso(at), "producer": SERVER_PRODUCER, "schemaURL": event_schema(kind)}


def _job(job: Job, facets: Json, inputs: Iterable[Json], outputs: Iterable[Json]) -> Json:
    return {"job": described(job, facets), "inputs": list(inputs), "outputs": list(outputs)}


def _facet(version: str, schema: str, **members: object) -> Json:
    return base_members(SERVER_PRODUCER, facet_schema(version, schema)) | members
