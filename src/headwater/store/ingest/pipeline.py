"""Writes one event into the store: its job, its run, its datasets, and the event itself."""

import gc
from collections.abc import Iterable, Mapping
from typing import Any

from headwater.openlineage.reading.events import FINAL, SUCCESSFUL, Event, pack
from headwater.store import schema
from headwater.store.ingest.attributes import propose_attribute
from headwater.store.ingest.current_lineage import add_fields
from headwater.store.ingest.descriptions import describe
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.lookups import load, unknown
from headwater.store.ingest.name_changes import datasets_across_renames, joined_twins, name
from headwater.store.ingest.replay import replay_events
from headwater.store.ingest.tags import FACET, job_tags

_RUN = schema.run
_LONGEST_TEXT = 20_000  # of a statement or an error message; the whole of it stays in the event
_NEW_OBJECTS = 500_000  # more than the events that wait to be written; Python's own 700 are less than one


def collect_seldom() -> None:
    """Let Python's garbage collector look less often, and never at objects that are there already.

    For a process that takes lineage in, or answers: events and answers are thousands of objects without a cycle. To
    look at them again and again takes a third of the time of an intake, and an answer would set off a look at each
    object of the process in the middle of it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)


def record(writer: Writer, events: Iterable[Event]) -> int:
    """Writes the events that are not there yet; how many these are."""
    new = list(unknown(writer, events))
    load(writer, new)
    for event in new:
        _record(writer, event)
    whole = set(writer.pending.new_runs)
    add_fields(writer, new)
    writer.flush()
    writer.runs_to_summarize -= whole  # which were written with all that they touched
    return len(new)


def _record(writer: Writer, event: Event) -> None:
    run_id = _run(writer, event)
    writer.runs_to_summarize.add(run_id)
    _describe_job(writer, event, run_id)
    _datasets(writer, event, run_id)
    _keep(writer, event, run_id)
    writer.read[event.digest] = event


def _run(writer: Writer, event: Event) -> int:
    run_id, values = writer.runs[event.run]
    changed = changed_columns(values, event, writer.job(event.job))
    parent = event.about.parent
    if parent is not None and values["parent_id"] is None:
        changed["parent_id"] = writer.runs[parent.run].id
    if changed:
        values |= changed
        writer.pending.runs[run_id] = values
    return run_id


def changed_columns(known: Mapping[str, Any], event: Event, job_id: int) -> dict[str, Any]:
    """The columns of a run's row that an event changes."""
    changed: dict[str, Any] = {}
    if _weight(known["state"], known["state_at"]) < _weight(event.state, event.at):
        changed |= {"job_id": job_id, "state": event.state, "state_at": event.at}
    if event.state == "START" and (known["started_at"] is None or event.at < known["started_at"]):
        changed["started_at"] = event.at
    if known["engine"] < event.about.engine:
        changed["engine"] = event.about.engine
    return changed


def _weight(state: str, at: int) -> tuple[bool, int, str]:
    """An end outweighs everything before it, also when it arrives first."""
    return state in FINAL, at, state


def _describe_job(writer: Writer, event: Event, run_id: int) -> None:
    """Notes what an event says of its job and its run, beside the run's state."""
    about, job_id = event.about, writer.job(event.job)
    propose_attribute(writer, (schema.job, "type"), job_id, about.job_type, event.at)
    propose_attribute(writer, (schema.job, "sql"), job_id, about.sql[:_LONGEST_TEXT], event.at)
    propose_attribute(writer, (schema.job, "description"), job_id, about.description[:_LONGEST_TEXT], event.at)
    propose_attribute(writer, (schema.job, "location"), job_id, about.location, event.at)
    propose_attribute(writer, (schema.run, "error"), run_id, about.error[:_LONGEST_TEXT], event.at)
    writer.pending.seen(schema.job, job_id, event.at)
    for facet in about.facets:
        writer.pending.facet((0, job_id), facet, event.at, event.digest)
        if facet == FACET:
            writer.pending.tags((0, job_id), job_tags(event))
    for gap in about.gaps:
        writer.pending.gap(run_id, gap)


def _datasets(writer: Writer, event: Event, run_id: int) -> None:
    late = datasets_across_renames(writer, event)
    if not late:
        name(writer, [event])
        late = writer.merged_with_renames | joined_twins(writer, event)
    if late:
        replay_events(writer, late, (event, run_id))
    else:
        describe(writer, event, run_id)


def _keep(writer: Writer, event: Event, run_id: int) -> None:
    payload = event.packed or pack(event.text)
    writer.pending.events.append((event.digest, run_id, event.at, event.state, event.concerns_rows, payload))
    if event.concerns_rows or event.state in FINAL or event.state in SUCCESSFUL:
        writer.runs_to_recompute.add(run_id)
