"""Writes one event into the store: its job, its run, its datasets, and the event itself."""

import zlib
from collections.abc import Mapping
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from headwater.model import Gap, Job
from headwater.store import schema
from headwater.store.attributes import offer
from headwater.store.describing import describe
from headwater.store.events import FINAL, SUCCESSFUL, About, Event
from headwater.store.ids import Writer
from headwater.store.keys import key_of
from headwater.store.naming import name, straddling
from headwater.store.retelling import retell

_RUN = schema.run
_KNOWN = select(schema.event.c.id).where(schema.event.c.digest == bindparam("the_digest"))
_KEEP = insert(schema.event)
_RUN_NAMED = select(_RUN).where(_RUN.c.uuid == bindparam("the_uuid"))
_TELL_RUN = update(_RUN).where(_RUN.c.id == bindparam("row"))
_UNTOLD: dict[str, Any] = {"parent_id": None, "state": "", "state_at": 0, "started_at": None, "engine": ""}
_LONGEST_TEXT = 20_000  # of a statement or an error message; the whole of it stays in the event


def record(writer: Writer, event: Event) -> bool:
    """Writes an event; False when it was there already."""
    if writer.connection.execute(_KNOWN, {"the_digest": event.digest}).first() is not None:
        return False
    job_id = writer.job(event.job)
    run_id = _run(writer, event, job_id)
    _describe(writer, event.about, job_id, run_id, event.at)
    _datasets(writer, event, run_id)
    _keep(writer, event, run_id)
    writer.read[event.digest] = event
    return True


def _run(writer: Writer, event: Event, job_id: int) -> int:
    parent = event.about.parent
    parent_id = None if parent is None else _run_named(writer, parent.run, parent.job)
    row = writer.connection.execute(_RUN_NAMED, {"the_uuid": event.run}).first()
    if row is None:
        values = _UNTOLD | {"uuid": event.run, "job_id": job_id, "parent_id": parent_id}
        return writer.add(_RUN, values | _news(values, event, job_id))
    news = _news(row._asdict(), event, job_id)
    if row.parent_id is None and parent_id is not None:
        news["parent_id"] = parent_id
    if news:
        writer.connection.execute(_TELL_RUN, {**news, "row": row.id})
    return int(row.id)


def _run_named(writer: Writer, uuid: str, job: Job) -> int:
    """The id of a run of which nothing more may be known than that it is there."""
    row = writer.connection.execute(_RUN_NAMED, {"the_uuid": uuid}).first()
    return int(row.id) if row is not None else writer.add(_RUN, _UNTOLD | {"uuid": uuid, "job_id": writer.job(job)})


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


def _describe(writer: Writer, about: About, job_id: int, run_id: int, at: int) -> None:
    offer(writer, (schema.job, "type"), job_id, about.job_type, at)
    offer(writer, (schema.job, "sql"), job_id, about.sql[:_LONGEST_TEXT], at)
    offer(writer, (_RUN, "error"), run_id, about.error[:_LONGEST_TEXT], at)
    for gap in about.gaps:
        _gap(writer, run_id, gap)


def _gap(writer: Writer, run_id: int, gap: Gap) -> None:
    key: dict[str, Any] = {"run_id": run_id, "key": key_of(gap.kind, gap.what, gap.why, gap.output)}
    if writer.connection.execute(select(schema.gap.c.run_id).filter_by(**key)).first() is None:
        values = {"kind": gap.kind, "what": gap.what, "why": gap.why, "output": gap.output}
        writer.connection.execute(insert(schema.gap).values(**key, **values))


def _datasets(writer: Writer, event: Event, run_id: int) -> None:
    late = straddling(writer, event)
    if not late:
        name(writer, [event])
        late = set(writer.entangled)
    if late:
        retell(writer, late, (event, run_id))
    else:
        describe(writer, event, run_id)


def _keep(writer: Writer, event: Event, run_id: int) -> None:
    has_lineage = any(output.lineage is not None for output in event.outputs)
    values = {"digest": event.digest, "run_id": run_id, "at": event.at, "type": event.state, "has_lineage": has_lineage}
    payload = zlib.compress(event.text.encode())
    writer.connection.execute(_KEEP, {**values, "payload": payload})
    if has_lineage or event.state in FINAL or event.state in SUCCESSFUL:
        writer.unsettled.add(run_id)
