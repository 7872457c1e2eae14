"""OpenLineage events for what clients describe over HTTP, so that it is stored and replayed like every event."""

from glob import escape
from typing import Any

from headwater.model import Dataset, Job
from headwater.openlineage.reading import event_of
from headwater.openlineage.reading.grants import granted
from headwater.server.auth.access import Caller
from headwater.server.auth.write_permissions import require_own, with_grant
from headwater.server.marquez.bodies import DatasetBody, JobBody, RunBody
from headwater.server.marquez.documents import instant
from headwater.server.server import Server
from headwater.store.catalog.run_events import ARGUMENTS
from headwater.store.catalog.runs import StoredRun

PRODUCER = "urn:headwater:producer:headwater-server"

Json = dict[str, Any]

_SPEC = "https://openlineage.io/spec"
_PROCESSING = {"STREAM": "STREAMING"}


def ingest(server: Server, caller: Caller, event: Json) -> None:
    """Store an event; it is durable when this returns.

    Raises:
        EventError: it cannot be read as an event.
        HTTPException: 403, when the caller may not write what it describes.
        StoreError: it cannot be written.
    """
    parsed = event_of(with_grant(event, caller))
    require_own(caller, parsed)
    server.intake.put([parsed]).result()


def ingest_of_run(server: Server, caller: Caller, run: StoredRun, event: Json) -> None:
    """Store an event of a known run, with the limits of the key that sent its other events.

    Raises:
        As for `ingest`.
    """
    parsed = event_of(event if not run.limited else granted(event, [escape(run.job.namespace)]))
    require_own(caller, parsed)
    server.intake.put([parsed]).result()


def dataset_event(named: Dataset, body: DatasetBody, url: str, at: int) -> Json:
    """Return a DatasetEvent 2-0-2 with the description of a dataset."""
    return _event("DatasetEvent", at) | {"dataset": _dataset(named, body, url)}


def output_event(dataset: Json, run: str, job: Job) -> Json:
    """Return a dataset event as that of a run which writes the dataset."""
    event = run_event(run, job, "OTHER", 0)
    return event | {"eventTime": dataset["eventTime"], "outputs": [dataset["dataset"]]}


def job_event(named: Job, body: JobBody, at: int) -> Json:
    """Return a JobEvent with the description of a job, or an event of the run that the body names."""
    event = _event("JobEvent", at) if body.run_id is None else run_event(str(body.run_id), named, "OTHER", at)
    inputs, outputs = (
        [{"namespace": one.namespace, "name": one.name} for one in some] for some in (body.inputs, body.outputs)
    )
    job = {"namespace": named.namespace, "name": named.name, "facets": _job_facets(body)}
    return event | {"job": job, "inputs": inputs, "outputs": outputs}


def run_event(run: str, job: Job, kind: str, at: int, facets: Json | None = None) -> Json:
    """Return a RunEvent."""
    return _event("RunEvent", at) | {
        "eventType": kind,
        "run": {"runId": run, "facets": facets or {}},
        "job": {"namespace": job.namespace, "name": job.name, "facets": {}},
        "inputs": [],
        "outputs": [],
    }


def run_facets(body: RunBody) -> Json:
    """Return the facets with the nominal time and the arguments of a run."""
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
        fields = [_without_none(name=one.name, type=one.type, description=one.description) for one in body.fields]
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


def _without_none(**members: Any) -> Json:
    return {name: value for name, value in members.items() if value is not None}
