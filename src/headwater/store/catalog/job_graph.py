"""Jobs and the datasets between them: around a job or a dataset, as far as so many jobs away."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from headwater.openlineage.reading.events import NO_JOB
from headwater.store import schema
from headwater.store.catalog import job_versions
from headwater.store.catalog.run_datasets import RunDatasets
from headwater.store.read_model.presence import presence
from headwater.store.sql.databases import rows_for

_RUN = schema.run
_JOB = schema.job
_DATASET = schema.dataset
_TOUCH = schema.run_dataset


@dataclass(slots=True)
class JobGraph:
    """The datasets that each job reads and writes now, by ids; ``datasets`` are all of theirs that are not hidden.

    ``truncated`` is true when there is more than was allowed for.
    """

    jobs: dict[int, RunDatasets] = field(default_factory=dict)
    datasets: set[int] = field(default_factory=set)
    truncated: bool = False


def around_job(connection: Connection, job_id: int, depth: int, most: int) -> JobGraph:
    """The graph around a job; it is alone where it reads and writes nothing."""
    graph = JobGraph()
    _spread(connection, graph, ({job_id}, set()), depth, most)
    graph.jobs.setdefault(job_id, RunDatasets())
    return graph


def around_dataset(connection: Connection, dataset_id: int, depth: int, most: int) -> JobGraph:
    """The graph around a dataset; it is alone where no job reads or writes it now."""
    graph = JobGraph(datasets={dataset_id})
    _spread(connection, graph, (_jobs_of(connection, {dataset_id}), {dataset_id}), depth, most)
    return graph


def _spread(connection: Connection, graph: JobGraph, start: tuple[set[int], set[int]], depth: int, most: int) -> None:
    """Adds jobs and those that share datasets with them, level by level (Marquez, LineageDao.getLineage).

    A job belongs to a level only when it reads or writes one of the datasets before it now, and did not only once.
    """
    frontier, near = start
    for _ in range(depth + 1):
        found = _now(connection, frontier - graph.jobs.keys())
        if near:
            found = {job: touch for job, touch in found.items() if not near.isdisjoint(touch.read | touch.written)}
        graph.jobs |= found
        near = _shown(connection, {one for touch in found.values() for one in touch.read | touch.written})
        near -= graph.datasets
        graph.datasets |= near
        graph.truncated = len(graph.jobs) + len(graph.datasets) > most
        if not near or graph.truncated:
            return
        frontier = _jobs_of(connection, near)


def _now(connection: Connection, jobs: Collection[int]) -> dict[int, RunDatasets]:
    question = select(_JOB.c.id).where(_JOB.c.name != NO_JOB.name, _JOB.c.hidden_at.is_(None))
    shown = [row.id for row in rows_for(connection, jobs, lambda some: question.where(_JOB.c.id.in_(some)))]
    return job_versions.datasets_of_newest_runs(connection, shown)


def _jobs_of(connection: Connection, datasets: Collection[int]) -> set[int]:
    question = select(_RUN.c.job_id).distinct().join(_TOUCH, _TOUCH.c.run_id == _RUN.c.id)
    rows = rows_for(connection, datasets, lambda some: question.where(_TOUCH.c.dataset_id.in_(some)))
    return {row.job_id for row in rows}


def _shown(connection: Connection, datasets: Iterable[int]) -> set[int]:
    if not presence(connection).hidden_datasets:
        return set(datasets)
    question = select(_DATASET.c.id).where(_DATASET.c.hidden_at.is_(None))
    return {row.id for row in rows_for(connection, set(datasets), lambda some: question.where(_DATASET.c.id.in_(some)))}
