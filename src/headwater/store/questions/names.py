"""From ids back to names, for what is shown."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, func, select

from headwater.model import Dataset, Job, Subtype, Transformation
from headwater.store import schema
from headwater.store.questions.answers import Column, KnownDataset

Key = TypeVar("Key", int, bytes)
_AT_ONCE = 5_000  # well under the limits for parameters: 32,766 in SQLite, 65,535 in PostgreSQL


def rows_for(
    connection: Connection, ids: Collection[Key], question: Callable[[list[Key]], Select[Any]]
) -> Iterator[Any]:
    """The rows of a question about ids, asked for so many ids at once as the database takes."""
    ordered = list(ids)
    for begin in range(0, len(ordered), _AT_ONCE):
        yield from connection.execute(question(ordered[begin : begin + _AT_ONCE]))


def datasets(connection: Connection, ids: Collection[int]) -> dict[int, KnownDataset]:
    """Datasets by id, with their other names."""
    name = schema.dataset_name
    aliases: dict[int, list[Dataset]] = {}
    for row in rows_for(connection, ids, lambda some: select(name).where(name.c.dataset_id.in_(some))):
        aliases.setdefault(row.dataset_id, []).append(Dataset(row.namespace, row.name))
    table = schema.dataset
    return {
        row.id: _known(row.id, Dataset(row.namespace, row.name), aliases.get(row.id, ()))
        for row in rows_for(connection, ids, lambda some: select(table).where(table.c.id.in_(some)))
    }


def columns(connection: Connection, ids: Collection[int]) -> dict[int, Column]:
    """Columns by id."""
    field = schema.field
    rows = list(rows_for(connection, ids, lambda some: select(field).where(field.c.id.in_(some))))
    owners = datasets(connection, {row.dataset_id for row in rows})
    return {row.id: Column(owners[row.dataset_id], row.name, row.type, row.id) for row in rows}


def columns_of(connection: Connection, dataset: KnownDataset) -> list[Column]:
    """The columns of a dataset: in the order of its schema, then those only lineage knows of."""
    field = schema.field
    rows = connection.execute(select(field).where(field.c.dataset_id == dataset.id)).all()
    ordered = sorted(rows, key=lambda row: (row.ordinal is None, row.ordinal or 0, row.name))
    return [Column(dataset, row.name, row.type, row.id) for row in ordered]


def jobs(connection: Connection, ids: Collection[int]) -> dict[int, Job]:
    """Jobs by id."""
    job = schema.job
    rows = rows_for(connection, ids, lambda some: select(job).where(job.c.id.in_(some)))
    return {row.id: Job(row.namespace, row.name) for row in rows}


def applications(connection: Connection, jobs_named: Mapping[int, Job]) -> dict[int, Job]:
    """The job each job is a part of, where the name says so too (``app.command.table``), else itself.

    Source: the ParentRunFacet of the newest run, and the job names of the OpenLineage Spark integration.
    """
    mine, parent, job = schema.run, schema.run.alias("parent"), schema.job

    def parents(some: list[int]) -> Select[Any]:
        newest = select(func.max(mine.c.id)).where(mine.c.job_id.in_(some)).group_by(mine.c.job_id)
        question = select(mine.c.job_id, job.c.namespace, job.c.name).where(mine.c.id.in_(newest))
        return question.join(parent, parent.c.id == mine.c.parent_id).join(job, job.c.id == parent.c.job_id)

    found = {row.job_id: Job(row.namespace, row.name) for row in rows_for(connection, jobs_named, parents)}
    return {
        key: found[key] if key in found and named.name.startswith(f"{found[key].name}.") else named
        for key, named in jobs_named.items()
    }


def transformations(connection: Connection, ids: Collection[int]) -> dict[int, Transformation]:
    """Transformations by id."""
    table = schema.transformation
    rows = rows_for(connection, ids, lambda some: select(table).where(table.c.id.in_(some)))
    return {row.id: Transformation(Subtype(row.subtype), row.masking, row.opaque, row.description) for row in rows}


def _known(dataset_id: int, dataset: Dataset, names: Iterable[Dataset]) -> KnownDataset:
    return KnownDataset(dataset, tuple(sorted(name for name in names if name != dataset)), dataset_id)
