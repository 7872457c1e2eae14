"""Which runs nothing needs any more: not current lineage, not current facets, not what is listed, not the time after.

A run goes whole or stays whole. It stays, however old, when

- it has not ended, or is the latest of its job;
- it is the latest of its job that read or wrote a dataset, or the latest successful one before the cut: who reads what,
  coverage, and what may be guessed from the cut on;
- it has the lineage that held at the cut, or later, or the schema that a dataset had at the cut;
- it replaced the rows of a dataset, and none did so again before the cut;
- it gave datasets or fields other names, without which older names mean nothing;
- one of its events is the last with a facet of a dataset or job, or is not old enough;
- a run that stays was started by it.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, exists, or_, select, tuple_

from headwater.openlineage.reading.events import FINAL, SUCCESSFUL
from headwater.store import schema
from headwater.store.sql.rows import rows_for

_RUN = schema.run
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
        ~_last_to_touch(),
        or_(_RUN.c.state.not_in(SUCCESSFUL), ~_last_to_touch(cut)),
    )


def doomed(connection: Connection, cut: int) -> list[int]:
    """The ids of all runs that may go, each after those that it started."""
    question = select(_RUN.c.id, _RUN.c.parent_id).where(prunable(cut))
    parents = {row.id: row.parent_id for row in connection.execute(question)}
    going = _without_parents_of_kept(connection, parents)
    return sorted(going, key=lambda run: _depth(run, parents), reverse=True)


def has_child_outside(batch: Collection[int]) -> ColumnElement[bool]:
    """Whether a run that is not in the batch was started by a run."""
    child = _RUN.alias("child")
    return exists().where(child.c.parent_id == _RUN.c.id, child.c.id.not_in(batch))


def _without_parents_of_kept(connection: Connection, parents: Mapping[int, int | None]) -> set[int]:
    going = set(parents)
    children = select(_RUN.c.id, _RUN.c.parent_id)
    rows = rows_for(connection, list(going), lambda some: children.where(_RUN.c.parent_id.in_(some)))
    remaining = [row.parent_id for row in rows if row.id not in going]
    while remaining:
        run = remaining.pop()
        if run in going:
            going.discard(run)
            remaining += _parent(run, parents)
    return going


def _parent(run: int, parents: Mapping[int, int | None]) -> Iterator[int]:
    parent = parents.get(run)
    if parent is not None:
        yield parent


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


def _last_to_touch(succeeded_until: int | None = None) -> ColumnElement[bool]:
    """No later run of the job reads or writes one of its datasets, as it does; or none that had succeeded by then."""
    name = "touched" if succeeded_until is None else "succeeded"
    later, run = _TOUCH.alias(f"later_{name}"), _RUN.alias(f"run_{name}")
    same = and_(later.c.dataset_id == _TOUCH.c.dataset_id, later.c.written == _TOUCH.c.written)
    of_job = and_(run.c.id == later.c.run_id, run.c.job_id == _RUN.c.job_id, _after(run))
    if succeeded_until is not None:
        of_job = and_(of_job, run.c.state.in_(SUCCESSFUL), run.c.state_at <= succeeded_until)
    return exists().where(_TOUCH.c.run_id == _RUN.c.id, ~exists().where(same, of_job).correlate(_TOUCH, _RUN))
