"""Changes by new events: each output of a job whose lineage changed, or appeared for the first time."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from headwater.model import Job
from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Tables
from headwater.store.questions import names
from headwater.store.questions.answers import KnownDataset
from headwater.store.sql.rows import rows_for
from headwater.store.store import Store

_EVENT = schema.event
_LINEAGE = schema.lineage
_RUN = schema.run
_FIELD = schema.field


@dataclass(frozen=True, slots=True)
class Change:
    """A run has another lineage of an output of its job than the run before it; ``first`` when none was before.

    ``event`` is the id of the latest event that was looked at for it, ``at`` the moment from which the lineage holds;
    ``edges`` there are then, ``added`` and ``removed`` at that moment.
    """

    event: int
    first: bool
    job: Job
    output: KnownDataset
    run: str
    at: int
    edges: int
    added: int
    removed: int


def latest_event(store: Store) -> int:
    """The id of the event that was taken in last, 0 when there is none."""
    with store.read() as connection:
        return connection.execute(select(func.max(_EVENT.c.id))).scalar() or 0


def changes_after(store: Store, event: int, most: int = 500) -> tuple[int, tuple[Change, ...]]:
    """The changes by the next events after one, in their order; and the id of the last event that was looked at.

    A run whose events come in several times may come several times.
    """
    question = select(_EVENT.c.id, _EVENT.c.run_id).where(_EVENT.c.id > event).order_by(_EVENT.c.id).limit(most)
    with store.read() as connection:
        rows = connection.execute(question).all()
        latest = {row.run_id: row.id for row in rows if row.run_id is not None}
        lineages = sorted(_lineage_of_runs(connection, latest), key=lambda row: (latest[row.run_id], row.output_id))
        changed = [(row, before) for row in lineages if (before := _before(connection, row)) != row.digest]
        datasets = names.datasets(connection, {row.output_id for row, _ in changed})
        jobs = names.jobs(connection, {row.job_id for row, _ in changed})
        changes = tuple(
            Change(
                latest[row.run_id],
                before is None,
                jobs[row.job_id],
                datasets[row.output_id],
                row.shown or row.uuid,
                row.at,
                *_counts(connection, row),
            )
            for row, before in changed
        )
    return (rows[-1].id if rows else event), changes


def _lineage_of_runs(connection: Connection, runs: Iterable[int]) -> list[Any]:
    question = select(_LINEAGE, _RUN.c.uuid, _RUN.c.shown).join(_RUN, _RUN.c.id == _LINEAGE.c.run_id)
    return list(rows_for(connection, list(runs), lambda some: question.where(_LINEAGE.c.run_id.in_(some))))


def _before(connection: Connection, row: Any) -> bytes | None:
    """The digest of the lineage that held before; runs of one moment go by their ids, as where they are settled."""
    at = _LINEAGE.c.at
    earlier = or_(at < row.at, and_(at == row.at, _RUN.c.uuid < row.uuid))
    question = select(_LINEAGE.c.digest).join(_RUN, _RUN.c.id == _LINEAGE.c.run_id)
    question = question.where(_LINEAGE.c.job_id == row.job_id, _LINEAGE.c.output_id == row.output_id, earlier)
    found: bytes | None = connection.execute(question.order_by(at.desc(), _RUN.c.uuid.desc()).limit(1)).scalar()
    return found


def _counts(connection: Connection, row: Any) -> tuple[int, int, int]:
    """How many edges hold at the moment, begin with it, and end with it."""
    counts = [_counts_in(connection, tables, row) for tables in (FIELD_EDGES, DATASET_EDGES)]
    edges, added, removed = (sum(column) for column in zip(*counts, strict=True))
    return edges, added, removed


def _counts_in(connection: Connection, tables: Tables, row: Any) -> tuple[int, int, int]:
    current, history = tables

    def count(table: Any, *conditions: ColumnElement[bool]) -> int:
        if "output_field" in table.c:
            into = table.c.output_field.in_(select(_FIELD.c.id).where(_FIELD.c.dataset_id == row.output_id))
        else:
            into = table.c.output_dataset == row.output_id
        mine = select(func.count()).select_from(table).where(into, table.c.job_id == row.job_id, *conditions)
        return connection.execute(mine).scalar_one()

    still = history.c.valid_to > row.at
    return (
        count(current, current.c.valid_from <= row.at) + count(history, history.c.valid_from <= row.at, still),
        count(current, current.c.valid_from == row.at) + count(history, history.c.valid_from == row.at),
        count(history, history.c.valid_to == row.at),
    )
