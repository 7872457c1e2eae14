"""Lists of what the store knows: datasets, jobs, runs, and everything that contains a text."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, or_, select

from headwater.errors import AmbiguousName, UnknownName
from headwater.model import Job
from headwater.openlineage.reading.events import DECLARED, FINAL, NO_JOB
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import KnownDataset
from headwater.store.read_model.fields import ended_fields, replaced_datasets
from headwater.store.read_model.visibility import runs_seen
from headwater.store.store import Store

_RUN = schema.run
_JOB = schema.job
_ID = func.coalesce(_RUN.c.shown, _RUN.c.uuid)
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class ListedDataset:
    """A dataset, how many columns it has, and how many jobs write and read it."""

    dataset: KnownDataset
    columns: int
    written_by: int
    read_by: int
    lifecycle: str = ""


@dataclass(frozen=True, slots=True)
class ListedJob:
    """A job, how many runs of it are known, and the latest one's state and time (microseconds since 1970)."""

    job: Job
    type: str
    runs: int
    state: str
    at: int


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run; times are microseconds since 1970, None where no event has them."""

    id: str
    job: Job
    state: str
    started_at: int | None
    ended_at: int | None
    error: str = ""
    engine: str = ""
    parent: str = ""
    row_id: int = 0


def datasets(store: Store) -> tuple[ListedDataset, ...]:
    """Every dataset, by name; not those that were dropped and whose names are others' now."""
    with store.read() as connection:
        owner = schema.field.c.dataset_id
        written, read = (_jobs_per_dataset(connection, written=written) for written in (True, False))
        columns = _counts(connection, select(owner, func.count()).group_by(owner))
        for row in _ended(connection):
            columns[row.dataset_id] -= 1
        gone = replaced_datasets(connection)
        every = connection.execute(select(schema.dataset.c.id, schema.dataset.c.lifecycle)).all()
        lifecycles = [row for row in every if row.id not in gone]
        known = names.datasets(connection, [row.id for row in lifecycles])
    listed = [
        ListedDataset(
            known[row.id], columns.get(row.id, 0), written.get(row.id, 0), read.get(row.id, 0), row.lifecycle or ""
        )
        for row in lifecycles
    ]
    return tuple(sorted(listed, key=lambda one: one.dataset))


def jobs(store: Store) -> tuple[ListedJob, ...]:
    """Every job, the one with the latest run first; not those that were forgotten."""
    totals = select(_RUN.c.job_id, func.count().label("runs"), func.max(_RUN.c.state_at).label("at"))
    of_job = totals.group_by(_RUN.c.job_id).subquery()
    latest = and_(_RUN.c.job_id == _JOB.c.id, _RUN.c.state_at == of_job.c.at)
    question = select(*_JOB.c, of_job.c.runs, of_job.c.at, _RUN.c.state)
    question = question.join(of_job, of_job.c.job_id == _JOB.c.id).join(_RUN, latest).order_by(_RUN.c.uuid)
    question = question.where(_JOB.c.name != NO_JOB.name, _JOB.c.hidden_at.is_(None))
    with store.read() as connection:
        rows = {row.id: row for row in connection.execute(question)}
    listed = [
        ListedJob(Job(row.namespace, row.name), row.type or "", row.runs, row.state, row.at) for row in rows.values()
    ]
    return tuple(sorted(listed, key=lambda one: (-one.at, one.job.namespace, one.job.name)))


def runs(store: Store, *, job: str = "", most: int = 100) -> tuple[ListedRun, ...]:
    """The latest runs, those of every job whose name contains ``job``."""
    question = _runs().where(_RUN.c.state.not_in(("", DECLARED))).order_by(_RUN.c.state_at.desc(), _RUN.c.uuid)
    if job:
        question = question.where(_contains(_JOB.c.name, job))
    with store.read() as connection:
        return tuple(_listed_run(row) for row in connection.execute(question.limit(most)))


def find_run(connection: Connection, name: str) -> ListedRun:
    """The run whose id begins or ends with ``name``.

    Raises:
        UnknownName: there is none.
        AmbiguousName: there are several.
    """
    if not name:
        raise UnknownName("No run has an empty id. `headwater runs` lists what the store knows.")
    fits = or_(func.substr(_RUN.c.uuid, 1, len(name)) == name, func.substr(_ID, _from_end(name)) == name)
    found = [_listed_run(row) for row in connection.execute(_runs().where(fits, runs_seen(connection)).limit(_SHOWN))]
    if len(found) > 1:
        ids = ", ".join(run.id for run in found)
        raise AmbiguousName(f"Several runs begin or end with {name[:100]!r}: {ids}. Type more of the one you mean.")
    if not found:
        raise UnknownName(f"No run begins or ends with {name[:100]!r}. `headwater runs` lists what the store knows.")
    return found[0]


def _from_end(name: str) -> ColumnElement[int]:
    # Not below 1: SQLite and PostgreSQL differ on what a place before the first character means.
    place = func.length(_ID) - len(name) + 1
    return case((place > 1, place), else_=1)


def _runs() -> Select[Any]:
    parent = _RUN.alias("parent")
    question = select(_RUN, _JOB.c.namespace, _JOB.c.name, parent.c.uuid.label("parent_uuid"))
    question = question.add_columns(parent.c.shown.label("parent_shown"))
    return question.join(_JOB, _JOB.c.id == _RUN.c.job_id).outerjoin(parent, parent.c.id == _RUN.c.parent_id)


def _listed_run(row: Any) -> ListedRun:
    return ListedRun(
        row.shown or row.uuid,
        Job(row.namespace, row.name),
        row.state,
        row.started_at,
        row.state_at if row.state in FINAL else None,
        row.error or "",
        row.engine,
        row.parent_shown or row.parent_uuid or "",
        row.id,
    )


def _ended(connection: Connection) -> list[Any]:
    """The fields that ended with a replacement of their dataset."""
    field, replaced = schema.field.c, schema.replacement.c
    datasets = select(replaced.dataset_id).where(replaced.certain, replaced.has_schema)
    unplaced = select(field.id, field.dataset_id, field.ordinal).where(field.ordinal.is_(None))
    rows = connection.execute(unplaced.where(field.dataset_id.in_(datasets))).all()
    ended = ended_fields(connection, rows)
    return [row for row in rows if row.id in ended]


def _jobs_per_dataset(connection: Connection, *, written: bool) -> dict[int, int]:
    table = schema.run_dataset
    jobs_of = select(table.c.dataset_id, func.count(_RUN.c.job_id.distinct())).join(_RUN, _RUN.c.id == table.c.run_id)
    return _counts(connection, jobs_of.where(table.c.written == written).group_by(table.c.dataset_id))


def _counts(connection: Connection, question: Select[Any]) -> dict[int, int]:
    return {row[0]: row[1] for row in connection.execute(question)}


def _contains(column: ColumnElement[str], text: str) -> ColumnElement[bool]:
    return func.lower(column).contains(text.lower(), autoescape=True)
