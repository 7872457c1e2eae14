"""Changes by new events: each output of a job whose lineage changed, or appeared for the first time."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select

from headwater.model import Job
from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Tables
from headwater.store.questions import names
from headwater.store.questions.answers import KnownDataset
from headwater.store.read_model.visibility import REFERENCES, references, unseen_datasets
from headwater.store.sql.databases import rows_for
from headwater.store.store import Store

_EVENT = schema.event
_LINEAGE = schema.lineage
_RUN = schema.run
_FIELD = schema.field

_Counts = tuple[int, int, int]


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
        marked = bool(references(connection))
        changed = [(row, *found) for row in lineages if (found := _change(connection, row, marked=marked)) is not None]
        datasets = names.datasets(connection, {row.output_id for row, *_ in changed})
        jobs = names.jobs(connection, {row.job_id for row, *_ in changed})
        changes = tuple(
            Change(
                latest[row.run_id],
                first,
                jobs[row.job_id],
                datasets[row.output_id],
                row.shown or row.uuid,
                row.at,
                *counts,
            )
            for row, first, counts in changed
        )
    return (rows[-1].id if rows else event), changes


def _lineage_of_runs(connection: Connection, runs: Iterable[int]) -> list[Any]:
    question = select(_LINEAGE, _RUN.c.uuid, _RUN.c.shown).join(_RUN, _RUN.c.id == _LINEAGE.c.run_id)
    return list(rows_for(connection, list(runs), lambda some: question.where(_LINEAGE.c.run_id.in_(some))))


def _before(connection: Connection, row: Any) -> bytes | None:
    """The digest of the lineage that held before; runs of one moment go by their ids, as everywhere."""
    at = _LINEAGE.c.at
    earlier = or_(at < row.at, and_(at == row.at, _RUN.c.uuid < row.uuid))
    question = select(_LINEAGE.c.digest).join(_RUN, _RUN.c.id == _LINEAGE.c.run_id)
    question = question.where(_LINEAGE.c.job_id == row.job_id, _LINEAGE.c.output_id == row.output_id, earlier)
    found: bytes | None = connection.execute(question.order_by(at.desc(), _RUN.c.uuid.desc()).limit(1)).scalar()
    return found


def _change(connection: Connection, row: Any, *, marked: bool) -> tuple[bool, _Counts] | None:
    """Whether the lineage of a run is the first, and its edges; None where they are those of before.

    Where not all edges may be seen, those that may decide: whether two names mean one column is not for everybody.
    """
    before, unseen = _before(connection, row), _unseen_inputs(connection, row) if marked else set()
    if before == row.digest and not unseen:
        return None
    counts = [_counts_in(connection, tables, row, unseen) for tables in (FIELD_EDGES, DATASET_EDGES)]
    edges, added, removed = (sum(column) for column in zip(*counts, strict=True))
    changed = before is None or not unseen or added or removed
    return (before is None, (edges, added, removed)) if changed else None


def _unseen_inputs(connection: Connection, row: Any) -> set[int]:
    """The columns that references lead from to the output of a run's job, and that may not be seen."""
    owners: dict[int, int] = {}
    for table in (*FIELD_EDGES, *DATASET_EDGES):
        question = select(_FIELD.c.id, _FIELD.c.dataset_id).join(table, table.c.input_field == _FIELD.c.id)
        mine = (*_into(table, row), table.c.transformation_id.in_(REFERENCES))
        owners |= {one.id: one.dataset_id for one in connection.execute(question.where(*mine))}
    hidden = unseen_datasets(connection, set(owners.values()))
    return {field for field, dataset in owners.items() if dataset in hidden}


def _counts_in(connection: Connection, tables: Tables, row: Any, unseen: Collection[int]) -> _Counts:
    """How many edges that may be seen hold at the moment, begin with it, and end with it."""
    current, history = tables

    def count(table: Any, *conditions: ColumnElement[bool]) -> int:
        hidden = and_(table.c.transformation_id.in_(REFERENCES), table.c.input_field.in_(unseen))
        shown = (~hidden,) if unseen else ()
        mine = select(func.count()).select_from(table).where(*_into(table, row), *shown, *conditions)
        return connection.execute(mine).scalar_one()

    still = history.c.valid_to > row.at
    return (
        count(current, current.c.valid_from <= row.at) + count(history, history.c.valid_from <= row.at, still),
        count(current, current.c.valid_from == row.at) + count(history, history.c.valid_from == row.at),
        count(history, history.c.valid_to == row.at),
    )


def _into(table: Any, row: Any) -> tuple[ColumnElement[bool], ...]:
    """The condition that an edge is of a run's job and output."""
    if "output_field" in table.c:
        into = table.c.output_field.in_(select(_FIELD.c.id).where(_FIELD.c.dataset_id == row.output_id))
    else:
        into = table.c.output_dataset == row.output_id
    return into, table.c.job_id == row.job_id
