"""Takes out of a store what is old and what nothing needs any more; answers about now stay as they are.

A run goes whole or stays whole. It stays, however old, when

- it has not ended, or is the latest of its job;
- it is the latest of its job that read or wrote a dataset, or the latest successful one before the cut: who reads what,
  coverage, and what may be guessed from the cut on;
- it has the lineage that held at the cut, or later, or the schema that a dataset had at the cut;
- it replaced the rows of a dataset, and none did so again before the cut;
- it is one of the last of its job to replace the rows of a dataset, or the one before: their readings are kept apart;
- it gave datasets or fields other names, without which older names mean nothing;
- one of its events is the last with a facet of a dataset or job, or is not old enough;
- a run that stays was started by it.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Table,
    and_,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    tuple_,
    union,
    update,
)

from headwater.model.time import BEGINNING
from headwater.openlineage.reading.events import FINAL, SUCCESSFUL
from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, trim
from headwater.store.questions.walk.readings import READINGS_APART
from headwater.store.sql.databases import rows_for
from headwater.store.store import Store

_EVENT = schema.event
_LINEAGE = schema.lineage
_TOUCH = schema.run_dataset
_ENDED = (*FINAL, *SUCCESSFUL, "")
"""The empty state is that of a run of which nothing is known but that it started others."""


def prunable(cut: int) -> ColumnElement[bool]:
    """The condition on a run's row; that its children go too is not in it."""
    has_facet = _EVENT.c.digest.in_(select(schema.facet.c.event_digest))
    return and_(
        _RUN.c.state.in_(_ENDED),
        _RUN.c.state_at < cut,
        _followed(),
        ~exists().where(schema.dataset_change.c.run_id == _RUN.c.id),
        ~exists().where(_EVENT.c.run_id == _RUN.c.id, or_(_EVENT.c.at >= cut, has_facet)),
        ~_states_lineage(cut),
        ~_states_schema(cut),
        ~_replaces(cut),
        ~_renews(),
        ~_last_to_touch(),
        or_(_RUN.c.state.not_in(SUCCESSFUL), ~_last_to_touch(cut)),
    )


def doomed(connection: Connection, cut: int) -> list[int]:
    """The ids of all runs that may go, each after those that it started."""
    question = select(_RUN.c.id, _RUN.c.parent_id).where(prunable(cut))
    parents = {row.id: row.parent_id for row in connection.execute(question)}
    going = _without_parents_of_remaining(connection, parents)
    return sorted(going, key=lambda run: _depth(run, parents), reverse=True)


def has_child_outside(batch: Collection[int]) -> ColumnElement[bool]:
    """Whether a run that is not in the batch was started by a run."""
    child = _RUN.alias("child")
    return exists().where(child.c.parent_id == _RUN.c.id, child.c.id.not_in(batch))


def _without_parents_of_remaining(connection: Connection, parents: Mapping[int, int | None]) -> set[int]:
    """The runs that may go, by the parent of each, without those that started a run which stays."""
    going = set(parents)
    children = select(_RUN.c.id, _RUN.c.parent_id)
    rows = rows_for(connection, list(going), lambda some: children.where(_RUN.c.parent_id.in_(some)))
    remaining = [row.parent_id for row in rows if row.id not in going]
    while remaining:
        run = remaining.pop()
        if run in going:
            going.discard(run)
            remaining += filter(None, [parents.get(run)])
    return going


def _depth(run: int, parents: Mapping[int, int | None]) -> int:
    depth, seen = 0, {run}
    while (parent := parents.get(run)) is not None and parent not in seen:
        seen.add(parent)
        depth, run = depth + 1, parent
    return depth


def _followed() -> ColumnElement[bool]:
    """A later run of the job is known, by its time and by its arrival: questions ask for either."""
    later, newer = _RUN.alias("later"), _RUN.alias("newer")
    return and_(
        exists().where(later.c.job_id == _RUN.c.job_id, _after(later)),
        exists().where(newer.c.job_id == _RUN.c.job_id, newer.c.id > _RUN.c.id),
    )


def _after(later: Any) -> ColumnElement[bool]:
    return tuple_(later.c.state_at, later.c.uuid) > tuple_(_RUN.c.state_at, _RUN.c.uuid)


def _states_lineage(cut: int) -> ColumnElement[bool]:
    """It is the last before the cut with lineage of one of its outputs, or has some after the cut."""
    later, run = _LINEAGE.alias("later_lineage"), _RUN.alias("later_run")
    same = and_(
        later.c.job_id == _LINEAGE.c.job_id, later.c.output_id == _LINEAGE.c.output_id, run.c.id == later.c.run_id
    )
    after = tuple_(later.c.at, run.c.uuid) > tuple_(_LINEAGE.c.at, _RUN.c.uuid)
    superseded = exists().where(same, later.c.at <= cut, after).correlate(_LINEAGE, _RUN)
    return exists().where(_LINEAGE.c.run_id == _RUN.c.id, or_(_LINEAGE.c.at > cut, ~superseded))


def _states_schema(cut: int) -> ColumnElement[bool]:
    """It is the last that succeeded before the cut to have a schema of one of the datasets that it wrote."""
    later, run = _TOUCH.alias("later_schema"), _RUN.alias("run_of_schema")
    same = and_(later.c.dataset_id == _TOUCH.c.dataset_id, later.c.written, later.c.schema_digest.is_not(None))
    of_later = and_(run.c.id == later.c.run_id, run.c.state.in_(SUCCESSFUL), later.c.at <= cut)
    after = tuple_(later.c.at, run.c.uuid) > tuple_(_TOUCH.c.at, _RUN.c.uuid)
    followed = exists().where(same, of_later, after).correlate(_TOUCH, _RUN)
    mine = and_(_TOUCH.c.run_id == _RUN.c.id, _TOUCH.c.written, _TOUCH.c.schema_digest.is_not(None))
    return and_(_RUN.c.state.in_(SUCCESSFUL), exists().where(mine, ~followed))


def _replaces(cut: int) -> ColumnElement[bool]:
    """It is the last before the cut to replace the rows of a dataset, or does so after it."""
    mine, later = schema.replacement, schema.replacement.alias("later_replacement")
    again = exists().where(
        later.c.dataset_id == mine.c.dataset_id,
        later.c.at > mine.c.at,
        later.c.at <= cut,
        or_(later.c.certain, ~mine.c.certain),
    )
    return exists().where(mine.c.run_id == _RUN.c.id, or_(mine.c.at > cut, ~again.correlate(mine)))


def _renews() -> ColumnElement[bool]:
    """It parts the time in which an edge held, or is the run before (`headwater.store.questions.walk.readings`)."""
    renewal, between = _LINEAGE.alias("renewal"), _LINEAGE.alias("between")
    same = and_(renewal.c.job_id == _LINEAGE.c.job_id, renewal.c.output_id == _LINEAGE.c.output_id)
    in_between = and_(between.c.job_id == _LINEAGE.c.job_id, between.c.output_id == _LINEAGE.c.output_id)
    in_between = and_(in_between, between.c.at > _LINEAGE.c.at, between.c.at < renewal.c.at)
    own = and_(same, renewal.c.at >= _LINEAGE.c.at, ~exists().where(in_between).correlate(_LINEAGE, renewal))
    last = select(_RENEWED.c.at).where(
        _RENEWED.c.job_id == renewal.c.job_id, _RENEWED.c.output_id == renewal.c.output_id, _replaced_by(_RENEWED)
    )
    last = last.order_by(_RENEWED.c.at.desc()).offset(READINGS_APART - 1).limit(1).correlate(renewal)
    recent = renewal.c.at >= func.coalesce(last.scalar_subquery(), BEGINNING)
    found = exists().where(own, _replaced_by(renewal), recent).correlate(_LINEAGE)
    return exists().where(_LINEAGE.c.run_id == _RUN.c.id, found)


def _replaced_by(run: FromClause) -> ColumnElement[bool]:
    by = schema.replacement.alias(f"{run.name}_by")  # type: ignore[attr-defined]
    mine = and_(by.c.dataset_id == run.c.output_id, by.c.at == run.c.at, by.c.run_id == run.c.run_id)
    return exists().where(mine, by.c.certain).correlate(run)


def _last_to_touch(succeeded_until: int | None = None) -> ColumnElement[bool]:
    """No later run of the job reads or writes one of its datasets, as it does; or none that had succeeded by then."""
    name = "touched" if succeeded_until is None else "succeeded"
    later, run = _TOUCH.alias(f"later_{name}"), _RUN.alias(f"run_{name}")
    same = and_(later.c.dataset_id == _TOUCH.c.dataset_id, later.c.written == _TOUCH.c.written)
    of_job = and_(run.c.id == later.c.run_id, run.c.job_id == _RUN.c.job_id, _after(run))
    if succeeded_until is not None:
        of_job = and_(of_job, run.c.state.in_(SUCCESSFUL), run.c.state_at <= succeeded_until)
    return exists().where(_TOUCH.c.run_id == _RUN.c.id, ~exists().where(same, of_job).correlate(_TOUCH, _RUN))


_RENEWED = _LINEAGE.alias("renewed")
_RUN = schema.run
_SCHEDULE = schema.schedule
_NAME = "retention"
_OF_RUN = (schema.event, schema.gap, schema.run_dataset, schema.lineage, schema.replacement)
_HISTORIES = (
    (schema.edge_history, schema.edge_history.c.output_field),
    (schema.dataset_edge_history, schema.dataset_edge_history.c.output_dataset),
)
_READERS = tuple(table for tables in (FIELD_EDGES, DATASET_EDGES) for table in tables)
_OF_VERSIONS = union(
    *(
        select(table.c.schema_digest).where(table.c.schema_digest.is_not(None))
        for table in (schema.run_dataset, schema.dataset_change)
    )
)
_WITHOUT_VERSION = schema.dataset_schema.c.digest.not_in(_OF_VERSIONS)
_RUNS_AT_ONCE = 200
_OUTPUTS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many rows of each kind went, or would go; of edges at least so many, since some go with their readers."""

    runs: int = 0
    events: int = 0
    edges: int = 0

    def __add__(self, other: "Pruned") -> "Pruned":
        return Pruned(*map(sum, zip(astuple(self), astuple(other), strict=True)))


def begin_scheduled(store: Store, now: int, every: int) -> bool:
    """Whether it is time to remove what is old again, and up to this process; others that ask then get False.

    ``now`` is the present moment, ``every`` the time from one begin to the next, in microseconds.

    Raises:
        StoreError: the store cannot be written.
    """
    mine = _SCHEDULE.c.name == _NAME
    with store.write() as connection:
        last = connection.execute(select(_SCHEDULE.c.last_at).where(mine)).scalar()
        if last is None:
            connection.execute(insert(_SCHEDULE), {"name": _NAME, "last_at": now})
        elif now - every >= last:
            connection.execute(update(_SCHEDULE).where(mine).values(last_at=now))
        else:
            return False
    return True


def prune(store: Store, cut: int, *, until: Callable[[], bool] = lambda: False) -> Pruned:
    """Removes runs with their events, and edges that ended, from before a moment (microseconds since 1970).

    Answers about now, and as of any time from the moment on, stay what they are; lists of runs and events become
    shorter. It goes on in small transactions, so that others can write in between; stopped half way, it has removed
    a part. ``until`` is asked before each transaction, and ends it early when it is true.

    Raises:
        StoreError: the store cannot be written.
    """
    with store.read() as connection:
        runs = doomed(connection, cut)
        outputs = _ended(connection, cut)
    parts = [_prune_runs(store, batch, cut) for batch in _parts(runs, _RUNS_AT_ONCE) if not until()]
    for table, ids in outputs.items():
        parts += [_prune_edges(store, table, batch, cut) for batch in _parts(ids, _OUTPUTS_AT_ONCE) if not until()]
    if until():
        return sum(parts, Pruned())
    with store.write() as connection:
        if runs:
            connection.execute(delete(schema.dataset_schema).where(_WITHOUT_VERSION))
        trim(connection)
    return sum(parts, Pruned())


def would_prune(store: Store, cut: int) -> Pruned:
    """Count what `prune` would remove now."""
    with store.read() as connection:
        runs = doomed(connection, cut)
        events = select(func.count()).select_from(schema.event)
        lineages = sum(
            connection.execute(events.where(schema.event.c.run_id.in_(batch))).scalar_one()
            for batch in _parts(runs, _RUNS_AT_ONCE)
        )
        ended = (select(func.count()).select_from(table).where(_removable(table, cut)) for table, _ in _HISTORIES)
        return Pruned(len(runs), lineages, sum(connection.execute(question).scalar_one() for question in ended))


def _removable(history: Table, cut: int) -> ColumnElement[bool]:
    """That an edge ended before the cut, and that no walk goes over it (`headwater.store.questions.walk.past`).

    A walk goes back to what a dataset whose rows were replaced had when another edge has read it: that edge, or one
    before it, held before this one ended.
    """
    own = schema.field.alias("own_field")
    if "output_field" in history.c:
        mine = own.c.id == history.c.output_field
    else:
        mine = own.c.dataset_id == history.c.output_dataset
    replaced = and_(schema.replacement.c.dataset_id == own.c.dataset_id, schema.replacement.c.certain)
    read = or_(*(_reads(table.alias(f"reader_{table.name}"), own, history) for table in _READERS))
    needed = exists().where(mine, exists().where(replaced).correlate(own), read).correlate(history)
    return and_(history.c.valid_to <= cut, ~needed)


def _reads(reader: FromClause, field: FromClause, history: Table) -> ColumnElement[bool]:
    mine = and_(reader.c.input_field == field.c.id, reader.c.valid_from <= history.c.valid_to)
    return exists().where(mine).correlate(field, history)


def _parts(ids: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    return (ids[begin : begin + size] for begin in range(0, len(ids), size))


def _ended(connection: Connection, cut: int) -> dict[Table, Sequence[int]]:
    questions = {table: select(output).where(_removable(table, cut)).distinct() for table, output in _HISTORIES}
    return {table: connection.execute(question).scalars().all() for table, question in questions.items()}


def _prune_runs(store: Store, batch: Sequence[int], cut: int) -> Pruned:
    with store.write() as connection:
        # What came in since they were chosen may need one of them.
        still = and_(_RUN.c.id.in_(batch), prunable(cut), ~has_child_outside(batch))
        going = _without_kept_children(connection, connection.execute(select(_RUN.c.id).where(still)).scalars().all())
        gone = {table: _delete(connection, table.c.run_id, going) for table in _OF_RUN}
        return Pruned(_delete(connection, _RUN.c.id, going), gone[schema.event])


def _without_kept_children(connection: Connection, runs: Sequence[int]) -> Sequence[int]:
    while True:
        alone = select(_RUN.c.id).where(_RUN.c.id.in_(runs), ~has_child_outside(runs))
        going = connection.execute(alone).scalars().all()
        if len(going) == len(runs):
            return going
        runs = going


def _delete(connection: Connection, of_run: Column[int], runs: Sequence[int]) -> int:
    return connection.execute(delete(of_run.table).where(of_run.in_(runs))).rowcount


def _prune_edges(store: Store, table: Table, outputs: Sequence[int], cut: int) -> Pruned:
    output = next(column for one, column in _HISTORIES if one is table)
    with store.write() as connection:
        ended = delete(table).where(output.in_(outputs), _removable(table, cut))
        return Pruned(edges=connection.execute(ended).rowcount)
