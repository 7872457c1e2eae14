"""What people say over HTTP as OpenLineage events: kept, and told again, like every other."""

from glob import escape
from typing import Any

from headwater.model import Dataset, Job
from headwater.openlineage.reading import event_of
from headwater.openlineage.reading.grants import granted
from headwater.server.access import Caller
from headwater.server.marquez.bodies import DatasetBody, JobBody, RunBody
from headwater.server.marquez.documents import instant
from headwater.server.server import Server
from headwater.server.writing import of_caller, require_own
from headwater.store.catalog.runevents import ARGUMENTS
from headwater.store.catalog.runs import KeptRun

PRODUCER = "urn:headwater:producer:headwater-server"

Json = dict[str, Any]

_SPEC = "https://openlineage.io/spec"
_PROCESSING = {"STREAM": "STREAMING"}


def tell(server: Server, caller: Caller, event: Json) -> None:
    """Gives an event to the store; it is durable when this ends.

    Raises:
        EventError: it is none that the store takes.
        HTTPException: 403, when it would write what the caller does not own.
        StoreError: it cannot be written.
    """
    told = event_of(of_caller(event, caller))
    require_own(caller, told)
    server.intake.put([told]).result()


def tell_of(server: Server, caller: Caller, run: KeptRun, event: Json) -> None:
    """Gives an event of a run that is known to the store, as one of those that told of it.

    Raises:
        As for `tell`.
    """
    told = event_of(event if not run.limited else granted(event, [escape(run.job.namespace)]))
    require_own(caller, told)
    server.intake.put([told]).result()


def of_dataset(named: Dataset, body: DatasetBody, url: str, at: int) -> Json:
    """A dataset event (DatasetEvent 2-0-2) of what somebody says of a dataset."""
    return _event("DatasetEvent", at) | {"dataset": _dataset(named, body, url)}


def of_output(of_dataset: Json, run: str, job: Job) -> Json:
    """A dataset event as that of a run which writes the dataset."""
    event = of_run(run, job, "OTHER", 0)
    return event | {"eventTime": of_dataset["eventTime"], "outputs": [of_dataset["dataset"]]}


def of_job(named: Job, body: JobBody, at: int) -> Json:
    """A job event of what somebody says of a job, or an event of the run that the body names."""
    event = _event("JobEvent", at) if body.run_id is None else of_run(str(body.run_id), named, "OTHER", at)
    inputs, outputs = (
        [{"namespace": one.namespace, "name": one.name} for one in some] for some in (body.inputs, body.outputs)
    )
    job = {"namespace": named.namespace, "name": named.name, "facets": _job_facets(body)}
    return event | {"job": job, "inputs": inputs, "outputs": outputs}


def of_run(run: str, job: Job, kind: str, at: int, facets: Json | None = None) -> Json:
    """A run event: that a run begins, ends, or has facets."""
    return _event("RunEvent", at) | {
        "eventType": kind,
        "run": {"runId": run, "facets": facets or {}},
        "job": {"namespace": job.namespace, "name": job.name, "facets": {}},
        "inputs": [],
        "outputs": [],
    }


def facets_of_run(body: RunBody) -> Json:
    """What a run is for, and its arguments, as facets."""
    facets = {}
    if body.nominal_start_time is not None:
        end = body.nominal_end_time
        times = {"nominalStartTime": body.nominal_start_time.isoformat()}
        times |= {} if end is None else {"nominalEndTime": end.isoformat()}
        facets["nominalTime"] = _facet("1-0-1/NominalTimeRunFacet", times)
    if body.args:
        facets[ARGUMENTS] = _facet("", {"args": body.args})
    return facets


def _dataset(named: Dataset, body: DatasetBody, url: str) -> Json:
    facets = {"dataSource": _facet("1-0-1/DatasourceDatasetFacet", {"name": body.source_name, "uri": url})}
    if body.fields:
        fields = [_without_nothing(name=one.name, type=one.type, description=one.description) for one in body.fields]
        facets["schema"] = _facet("1-1-1/SchemaDatasetFacet", {"fields": fields})
    if body.description:
        facets["documentation"] = _facet("1-0-1/DocumentationDatasetFacet", {"description": body.description})
    if body.type == "STREAM":
        facets["datasetType"] = _facet("1-0-0/DatasetTypeDatasetFacet", {"datasetType": "STREAM"})
    return {"namespace": named.namespace, "name": named.name, "facets": facets}


def _job_facets(body: JobBody) -> Json:
    kind = {"processingType": _PROCESSING.get(body.type, "BATCH"), "integration": "MARQUEZ", "jobType": body.type}
    facets = {"jobType": _facet("2-0-3/JobTypeJobFacet", kind)}
    if body.description:
        facets["documentation"] = _facet("1-0-1/DocumentationJobFacet", {"description": body.description})
    if body.location:
        facets["sourceCodeLocation"] = _facet("1-0-1/SourceCodeLocationJobFacet", {"type": "url", "url": body.location})
    statement = (body.context or {}).get("sql")
    if isinstance(statement, str) and statement:
        facets["sql"] = _facet("1-0-1/SQLJobFacet", {"query": statement})
    return facets


def _event(kind: str, at: int) -> Json:
    schema = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/{kind}"
    return {"eventTime": instant(at), "producer": PRODUCER, "schemaURL": schema}


def _facet(schema: str, members: Json) -> Json:
    name = schema.rpartition("/")[2]
    url = f"{_SPEC}/facets/{schema}.json#/$defs/{name}" if schema else f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunFacet"
    return {"_producer": PRODUCER, "_schemaURL": url, **members}


def _without_nothing(**members: Any) -> Json:
    return {name: value for name, value in members.items() if value is not None}
