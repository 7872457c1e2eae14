"""OpenLineage events for what clients describe over HTTP, so that it is stored and replayed like every event."""

from glob import escape
from typing import Any

from headwater.model import Dataset, Job
from headwater.openlineage.reading import event_of
from headwater.openlineage.reading.grants import granted
from headwater.openlineage.writing import json_events
from headwater.server.auth.access import Caller, require_own, with_grant
from headwater.server.marquez.bodies import DatasetBody, DatasetName, JobBody, RunBody
from headwater.server.server import Server
from headwater.store.catalog.runs import StoredRun

Json = dict[str, Any]


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


def dataset_event(dataset: Dataset, body: DatasetBody, url: str, at: int) -> Json:
    """Return a dataset event with the description of a dataset."""
    fields = [{"name": one.name, "type": one.type, "description": one.description} for one in body.fields or ()]
    source = (body.source_name, url)
    facets = json_events.dataset_facets(source, fields, body.description, stream=body.type == "STREAM")
    return json_events.dataset_event(dataset, facets, at)


def job_event(job: Job, body: JobBody, at: int) -> Json:
    """Return a job event with the description of a job, or an event of the run that the body names."""
    statement = (body.context or {}).get("sql")
    sql = statement if isinstance(statement, str) else None
    facets = json_events.job_facets(body.type, body.description, body.location, sql)
    inputs, outputs = (
        [json_events.named(Dataset(one.namespace, one.name)) for one in some] for some in (body.inputs, body.outputs)
    )
    event = json_events.job_event(job, facets, inputs, outputs, at)
    return event if body.run_id is None else json_events.of_run(event, str(body.run_id), job)


def run_facets(body: RunBody) -> Json:
    """Return the facets with the nominal time and the arguments of a run."""
    start, end = (
        None if time is None else time.isoformat() for time in (body.nominal_start_time, body.nominal_end_time)
    )
    return json_events.run_facets(start, end, body.args)


def _named(body: DatasetName) -> Json:
    return json_events.named(Dataset(body.namespace, body.name))
