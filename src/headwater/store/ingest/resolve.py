"""The second step: from the events of a batch, and the ids of all that they name, to rows.

Nothing is written here but what changes the meaning of names: symlinks that join two datasets and renames change rows
that are there, and what comes after them needs to find the rows as they are then.
"""

from collections.abc import Mapping
from typing import Any

from headwater.openlineage.reading.events import FINAL, SUCCESSFUL, Event, pack
from headwater.store import schema
from headwater.store.ingest.descriptions import describe
from headwater.store.ingest.ids import IdResolver
from headwater.store.ingest.name_changes import datasets_across_renames, joined_twins, resolve_names
from headwater.store.ingest.read import Batch
from headwater.store.ingest.replay import replay_events
from headwater.store.ingest.rows import Rows
from headwater.store.ingest.run_lineage import add_fields, lineage_events, run_of
from headwater.store.ingest.tags import FACET, job_tags

_LONGEST_TEXT = 20_000  # of a statement or an error message; the whole of it stays in the event


def resolve(batch: Batch, ids: IdResolver) -> Rows:
    """Return the rows of all that events have of jobs, runs and datasets, and of the events themselves."""
    for event in batch.events:
        run_id = _change_run(ids, event)
        ids.rows.summarize([run_id])
        _describe_job(ids, event, run_id)
        _describe_datasets(ids, event, run_id)
        _add_event(ids.rows, event, run_id)
    ids.rows.summarize_no_new_runs()
    add_fields(ids, [one for event in batch.events for one in lineage_events(run_of(ids, event.run), event)])
    return ids.rows


def _change_run(ids: IdResolver, event: Event) -> int:
    run_id, values = ids.run(event.run)
    changed = changed_columns(values, event, ids.job(event.job))
    parent = event.about.parent
    if parent is not None and values["parent_id"] is None:
        changed["parent_id"] = ids.run(parent.run).id
    if changed:
        values |= changed
        ids.rows.change_run(run_id, values)
    return run_id


def changed_columns(row: Mapping[str, Any], event: Event, job_id: int) -> dict[str, Any]:
    """The columns of a run's row that an event changes."""
    changed: dict[str, Any] = {}
    if _weight(row["state"], row["state_at"]) < _weight(event.state, event.at):
        changed |= {"job_id": job_id, "state": event.state, "state_at": event.at}
    if event.state == "START" and (row["started_at"] is None or event.at < row["started_at"]):
        changed["started_at"] = event.at
    if row["engine"] < event.about.engine:
        changed["engine"] = event.about.engine
    return changed


def _weight(state: str, at: int) -> tuple[bool, int, str]:
    """An end outweighs everything before it, also when it arrives first."""
    return state in FINAL, at, state


def _describe_job(ids: IdResolver, event: Event, run_id: int) -> None:
    """Add what an event contains of its job and its run, beside the run's state."""
    about, job_id = event.about, ids.job(event.job)
    ids.rows.propose_attribute((schema.job, "type"), job_id, about.job_type, event.at)
    ids.rows.propose_attribute((schema.job, "sql"), job_id, about.sql[:_LONGEST_TEXT], event.at)
    ids.rows.propose_attribute((schema.job, "description"), job_id, about.description[:_LONGEST_TEXT], event.at)
    ids.rows.propose_attribute((schema.job, "location"), job_id, about.location, event.at)
    ids.rows.propose_attribute((schema.run, "error"), run_id, about.error[:_LONGEST_TEXT], event.at)
    ids.rows.span(schema.job, job_id, event.at)
    for facet in about.facets:
        ids.rows.add_facet((0, job_id), facet, event.at, event.digest)
        if facet == FACET:
            ids.rows.set_tags((0, job_id), job_tags(event))
    for gap in about.gaps:
        ids.rows.add_gap(run_id, gap)


def _describe_datasets(ids: IdResolver, event: Event, run_id: int) -> None:
    again = datasets_across_renames(ids, event)
    if not again:
        resolve_names(ids, [event])
        again = ids.merged_with_renames | joined_twins(ids, event)
    if again:
        replay_events(ids, again, (event, run_id))
    else:
        describe(ids, event, run_id)


def _add_event(rows: Rows, event: Event, run_id: int) -> None:
    payload = event.packed or pack(event.text)
    rows.add_event((event.digest, run_id, event.at, event.state, event.concerns_rows, payload))
    if event.concerns_rows or event.state in FINAL or event.state in SUCCESSFUL:
        rows.recompute([run_id])
