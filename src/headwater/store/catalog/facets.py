"""The facets of datasets and jobs: each as the latest event has it."""

from collections.abc import Collection

from sqlalchemy import Connection, select

from headwater.openlineage.reading.merged_facets import Facets, facets_of_datasets, facets_of_job, set_latest
from headwater.store import schema
from headwater.store.catalog.events import by_digest
from headwater.store.sql.rows import rows_for

_FACET = schema.facet
_NAME = schema.dataset_name


def of_datasets(connection: Connection, ids: Collection[int]) -> dict[int, Facets]:
    """The facets of datasets by id; of those that have none an empty object.

    A facet whose latest word is ``_deleted`` is left out (OpenLineage, "Facets", "deleting a facet").
    """
    facets_of_events: dict[bytes, list[tuple[int, str]]] = {}
    question = select(_FACET).where(_FACET.c.job_id == 0)
    for row in rows_for(connection, ids, lambda some: question.where(_FACET.c.dataset_id.in_(some))):
        facets_of_events.setdefault(row.event_digest, []).append((row.dataset_id, row.name))
    names = _names(connection, ids)
    found: dict[int, Facets] = {one: {} for one in ids}
    for digest, event in by_digest(connection, facets_of_events):
        described = facets_of_datasets(event)
        for dataset, facet in facets_of_events[digest]:
            set_latest(found[dataset], facet, [facets for named, facets in described if named in names[dataset]])
    return {dataset: dict(sorted(facets.items())) for dataset, facets in found.items()}


def of_jobs(connection: Connection, ids: Collection[int]) -> dict[int, Facets]:
    """The facets of jobs by id; of those that have none an empty object."""
    facets_of_events: dict[bytes, list[tuple[int, str]]] = {}
    question = select(_FACET).where(_FACET.c.dataset_id == 0)
    for row in rows_for(connection, ids, lambda some: question.where(_FACET.c.job_id.in_(some))):
        facets_of_events.setdefault(row.event_digest, []).append((row.job_id, row.name))
    found: dict[int, Facets] = {one: {} for one in ids}
    for digest, event in by_digest(connection, facets_of_events):
        for job, facet in facets_of_events[digest]:
            set_latest(found[job], facet, [facets_of_job(event)])
    return {job: dict(sorted(facets.items())) for job, facets in found.items()}


def _names(connection: Connection, ids: Collection[int]) -> dict[int, set[tuple[str, str]]]:
    names: dict[int, set[tuple[str, str]]] = {one: set() for one in ids}
    question = select(_NAME.c.dataset_id, _NAME.c.namespace, _NAME.c.name)
    for dataset, *named in rows_for(connection, ids, lambda some: question.where(_NAME.c.dataset_id.in_(some))):
        names[dataset].add((named[0], named[1]))
    return names
