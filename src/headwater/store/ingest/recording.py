"""Writes one event into the store: its job, its run, its datasets, and the event itself."""

from collections.abc import Iterable, Mapping
from typing import Any

from headwater.openlineage.reading.events import FINAL, SUCCESSFUL, Event, pack
from headwater.store import schema
from headwater.store.ingest.attributes import offer
from headwater.store.ingest.describing import describe
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.loading import load, unknown
from headwater.store.ingest.naming import joined_twins, name, straddling
from headwater.store.ingest.replay import retell
from headwater.store.ingest.settling import add_fields
from headwater.store.ingest.tags import FACET, tag_job

_RUN = schema.run
_LONGEST_TEXT = 20_000  # of a statement or an error message; the whole of it stays in the event


def record(writer: Writer, events: Iterable[Event]) -> int:
    """Writes the events that are not there yet; how many these are."""
    new = list(unknown(writer, events))
    load(writer, new)
    for event in new:
        _record(writer, event)
    whole = set(writer.pending.new_runs)
    add_fields(writer, new)
    writer.flush()
    writer.moved -= whole  # which were written with all that they touched
    return len(new)


def _record(writer: Writer, event: Event) -> None:
    run_id = _run(writer, event)
    writer.moved.add(run_id)
    _describe_job(writer, event, run_id)
    _datasets(writer, event, run_id)
    _keep(writer, event, run_id)
    writer.read[event.digest] = event


def _run(writer: Writer, event: Event) -> int:
    run_id, values = writer.runs[event.run]
    news = _news(values, event, writer.job(event.job))
    parent = event.about.parent
    if parent is not None and values["parent_id"] is None:
        news["parent_id"] = writer.runs[parent.run].id
    if news:
        values |= news
        writer.pending.runs[run_id] = values
    return run_id


def _news(known: Mapping[str, Any], event: Event, job_id: int) -> dict[str, Any]:
    """The columns of a run's row that an event changes."""
    news: dict[str, Any] = {}
    if _weight(known["state"], known["state_at"]) < _weight(event.state, event.at):
        news |= {"job_id": job_id, "state": event.state, "state_at": event.at}
    if event.state == "START" and (known["started_at"] is None or event.at < known["started_at"]):
        news["started_at"] = event.at
    if known["engine"] < event.about.engine:
        news["engine"] = event.about.engine
    return news


def _weight(state: str, at: int) -> tuple[bool, int, str]:
    """An end outweighs everything before it, also when it arrives first."""
    return state in FINAL, at, state


def _describe_job(writer: Writer, event: Event, run_id: int) -> None:
    """Notes what an event says of its job and its run, beside the run's state."""
    about, job_id = event.about, writer.job(event.job)
    offer(writer, (schema.job, "type"), job_id, about.job_type, event.at)
    offer(writer, (schema.job, "sql"), job_id, about.sql[:_LONGEST_TEXT], event.at)
    offer(writer, (schema.job, "description"), job_id, about.description[:_LONGEST_TEXT], event.at)
    offer(writer, (schema.job, "location"), job_id, about.location, event.at)
    offer(writer, (schema.run, "error"), run_id, about.error[:_LONGEST_TEXT], event.at)
    writer.pending.seen(schema.job, job_id, event.at)
    for facet in about.facets:
        writer.pending.facet((0, job_id), facet, event.at, event.digest)
        if facet == FACET:
            tag_job(writer, job_id, event)
    for gap in about.gaps:
        writer.pending.gap(run_id, gap)


def _datasets(writer: Writer, event: Event, run_id: int) -> None:
    late = straddling(writer, event)
    if not late:
        name(writer, [event])
        late = writer.entangled | joined_twins(writer, event)
    if late:
        retell(writer, late, (event, run_id))
    else:
        describe(writer, event, run_id)


def _keep(writer: Writer, event: Event, run_id: int) -> None:
    payload = event.packed or pack(event.text)
    writer.pending.events.append((event.digest, run_id, event.at, event.state, event.concerns_rows, payload))
    if event.concerns_rows or event.state in FINAL or event.state in SUCCESSFUL:
        writer.unsettled.add(run_id)
