"""From the names of datasets, fields and jobs to their ids: exactly these names, unlike what people type."""

from collections.abc import Iterable

from sqlalchemy import Connection, or_, select

from headwater.model import Dataset, Job
from headwater.model.names import key_of, place_of
from headwater.store import schema
from headwater.store.read_model.visibility import described_datasets, described_fields
from headwater.store.sql.databases import rows_for

_NAME = schema.dataset_name
_DATASET = schema.dataset
_JOB = schema.job
_FIELD = schema.field


def dataset_ids(connection: Connection, datasets: Iterable[Dataset]) -> dict[Dataset, int]:
    """The ids of the datasets that names mean now, or meant last; unknown and hidden ones are left out."""
    keys = {key_of(one.namespace, one.name): one for one in datasets}
    question = select(_NAME.c.namespace, _NAME.c.name, _NAME.c.dataset_id).order_by(_NAME.c.since)
    question = question.join(_DATASET, _DATASET.c.id == _NAME.c.dataset_id).where(_DATASET.c.hidden_at.is_(None))
    question = question.where(described_datasets(connection, _DATASET.c.id))
    rows = rows_for(
        connection, keys, lambda some: question.where(or_(_NAME.c.key.in_(some), _NAME.c.first_key.in_(some)))
    )
    return {Dataset(row.namespace, row.name): row.dataset_id for row in rows}


def dataset_id(connection: Connection, dataset: Dataset) -> int | None:
    """The id of one dataset, None when no event named it, or it is hidden."""
    return dataset_ids(connection, [dataset]).get(dataset)


def job_ids(connection: Connection, jobs: Iterable[Job]) -> dict[Job, int]:
    """The ids of jobs by name; unknown and hidden ones are left out."""
    keys = {key_of(one.namespace, one.name): one for one in jobs}
    question = select(_JOB.c.namespace, _JOB.c.name, _JOB.c.id).where(_JOB.c.hidden_at.is_(None))
    rows = rows_for(connection, keys, lambda some: question.where(_JOB.c.key.in_(some)))
    return {Job(row.namespace, row.name): row.id for row in rows}


def job_id(connection: Connection, job: Job) -> int | None:
    """The id of one job, None when no event named it, or it is hidden."""
    return job_ids(connection, [job]).get(job)


def field_ids(connection: Connection, dataset: int, name: str | None = None) -> list[int]:
    """The ids of a dataset's fields, or of the one that has a name."""
    mine = (
        select(_FIELD.c.id, _FIELD.c.name)
        .where(_FIELD.c.dataset_id == dataset, described_fields(connection))
        .order_by(_FIELD.c.id)
    )
    rows = connection.execute(mine).all()
    if name is None:
        return [row.id for row in rows]
    place = place_of([row.name for row in rows], name)
    return [] if place is None else [rows[place].id]
