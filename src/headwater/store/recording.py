"""Writes one event into the store: its job, its run, its datasets, and the event itself."""

import zlib
from typing import Any

from sqlalchemy import insert, select, update

from headwater.model import DatasetDescription, Gap
from headwater.store import schema
from headwater.store.attributes import offer, offer_schema, touch
from headwater.store.events import FINAL, About, Event
from headwater.store.ids import Writer, key_of
from headwater.store.settling import SUCCESSFUL
from headwater.store.symlinks import dataset_id

_RUN = schema.run
_LONGEST_TEXT = 20_000  # of a statement or an error message; the whole of it stays in the event


def record(writer: Writer, event: Event) -> bool:
    """Writes an event; False when it was there already."""
    known = select(schema.event.c.id).where(schema.event.c.digest == event.digest)
    if writer.connection.execute(known).first() is not None:
        return False
    job_id = writer.job(event.job)
    run_id = _run(writer, event, job_id)
    _describe(writer, event.about, job_id, run_id, event.at)
    _datasets(writer, event, run_id)
    _keep(writer, event, run_id)
    writer.read[event.digest] = event
    return True


def _run(writer: Writer, event: Event, job_id: int) -> int:
    row = writer.connection.execute(select(_RUN).where(_RUN.c.uuid == event.run)).first()
    run_id = row.id if row is not None else _placeholder(writer, event.run, job_id)
    state = {"job_id": job_id, "state": event.state, "state_at": event.at}
    if row is None or _weight(row.state, row.state_at) < _weight(event.state, event.at):
        writer.connection.execute(update(_RUN).where(_RUN.c.id == run_id).values(**state))
    started = row.started_at if row is not None else None
    if event.state == "START" and (started is None or event.at < started):
        writer.connection.execute(update(_RUN).where(_RUN.c.id == run_id).values(started_at=event.at))
    return run_id


def _placeholder(writer: Writer, uuid: str, job_id: int) -> int:
    return writer.add(_RUN, {"uuid": uuid, "job_id": job_id, "state": "", "state_at": 0, "engine": ""})


def _weight(state: str, at: int) -> tuple[bool, int, str]:
    """An end outweighs everything before it, also when it arrives first."""
    return state in FINAL, at, state


def _describe(writer: Writer, about: About, job_id: int, run_id: int, at: int) -> None:
    offer(writer, (schema.job, "type"), job_id, about.job_type, at)
    offer(writer, (schema.job, "sql"), job_id, about.sql[:_LONGEST_TEXT], at)
    offer(writer, (_RUN, "error"), run_id, about.error[:_LONGEST_TEXT], at)
    if about.engine:
        mine = (_RUN.c.id == run_id, _RUN.c.engine < about.engine)
        writer.connection.execute(update(_RUN).where(*mine).values(engine=about.engine))
    if about.parent is not None:
        known = writer.connection.execute(select(_RUN.c.id).where(_RUN.c.uuid == about.parent.run)).scalar()
        parent = known if known is not None else _placeholder(writer, about.parent.run, writer.job(about.parent.job))
        orphan = (_RUN.c.id == run_id, _RUN.c.parent_id.is_(None))
        writer.connection.execute(update(_RUN).where(*orphan).values(parent_id=parent))
    for gap in about.gaps:
        _gap(writer, run_id, gap)


def _gap(writer: Writer, run_id: int, gap: Gap) -> None:
    key: dict[str, Any] = {"run_id": run_id, "key": key_of(gap.kind, gap.what, gap.why, gap.output)}
    if writer.connection.execute(select(schema.gap.c.run_id).filter_by(**key)).first() is None:
        values = {"kind": gap.kind, "what": gap.what, "why": gap.why, "output": gap.output}
        writer.connection.execute(insert(schema.gap).values(**key, **values))


def _datasets(writer: Writer, event: Event, run_id: int) -> None:
    for described in event.inputs:
        _dataset(writer, described, run_id, event.at, lineage=None)
    for output in event.outputs:
        _dataset(writer, output.description, run_id, event.at, lineage=output.lineage is not None)


def _dataset(writer: Writer, seen: DatasetDescription, run_id: int, at: int, *, lineage: bool | None) -> None:
    """``lineage`` is None for a dataset that is read."""
    owner = dataset_id(writer, seen.dataset, seen.symlinks)
    offer_schema(writer, owner, seen.schema, at)
    for name in ("source", "lifecycle", "version"):
        offer(writer, (schema.dataset, name), owner, getattr(seen, name), at)
    touch(writer, run_id, owner, written=lineage is not None, has_lineage=bool(lineage))


def _keep(writer: Writer, event: Event, run_id: int) -> None:
    has_lineage = any(output.lineage is not None for output in event.outputs)
    values = {"digest": event.digest, "run_id": run_id, "at": event.at, "type": event.state, "has_lineage": has_lineage}
    payload = zlib.compress(event.text.encode())
    writer.connection.execute(insert(schema.event).values(**values, payload=payload))
    if has_lineage or event.state in FINAL or event.state in SUCCESSFUL:
        writer.unsettled.add(run_id)
