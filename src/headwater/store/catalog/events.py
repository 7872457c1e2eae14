"""Events as the JSON that they came as, by time or by digest; and the facets of datasets and jobs, from the latest."""

import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from headwater.openlineage.reading.events import DECLARED
from headwater.openlineage.reading.json_values import Record, read_json, record
from headwater.openlineage.reading.merged_facets import Facets, facets_of_datasets, facets_of_job, set_latest
from headwater.store import schema
from headwater.store.read_model.pages import Listing, Page, paged, seen
from headwater.store.read_model.visibility import Sees
from headwater.store.sql.databases import rows_for

_EVENT = schema.event
_RUN = schema.run
_JOB = schema.job


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events to list: from a moment on, before another, of jobs of one namespace; None is no bound."""

    after: int | None = None
    before: int | None = None
    namespace: str | None = None
    sees: Sees = None
    newest_first: bool = True


def listing(connection: Connection, during: EventFilter, page: Page) -> Listing[dict[str, Any]]:
    """Run events in the order of their times."""
    order = (_EVENT.c.at.desc(), _EVENT.c.id.desc()) if during.newest_first else (_EVENT.c.at, _EVENT.c.id)
    question = select(_EVENT.c.id).where(_EVENT.c.type != DECLARED).order_by(*order)
    if during.after is not None:
        question = question.where(_EVENT.c.at >= during.after)
    if during.before is not None:
        question = question.where(_EVENT.c.at < during.before)
    if during.namespace is not None or during.sees is not None:
        question = question.join(_RUN, _RUN.c.id == _EVENT.c.run_id).join(_JOB, _JOB.c.id == _RUN.c.job_id)
        question = question.where(seen(connection, _JOB.c.namespace, during.sees))
    if during.namespace is not None:
        question = question.where(_JOB.c.namespace == during.namespace)
    found = paged(connection, question, page)
    ids = [row.id for row in found.items]
    payload = select(_EVENT.c.id, _EVENT.c.payload)
    events = {
        row.id: unpacked(row.payload)
        for row in rows_for(connection, ids, lambda some: payload.where(_EVENT.c.id.in_(some)))
    }
    return Listing(tuple(events[one] for one in ids), found.total)


def unpacked(payload: bytes) -> Record:
    """The event in a row's payload."""
    return record(read_json(zlib.decompress(payload)))


def by_digest(connection: Connection, digests: Collection[bytes]) -> Iterator[tuple[bytes, Record]]:
    """Events by their digests, one after the other: together they may be large."""
    question = select(_EVENT.c.digest, _EVENT.c.payload)
    for row in rows_for(connection, digests, lambda some: question.where(_EVENT.c.digest.in_(some))):
        yield row.digest, unpacked(row.payload)


_FACET = schema.facet
_NAME = schema.dataset_name


def of_datasets(connection: Connection, ids: Collection[int]) -> dict[int, Facets]:
    """The facets of datasets by id; of those that have none an empty object.

    A facet whose latest word is ``_deleted`` is left out (OpenLineage, "Facets", "deleting a facet").
    """
    names = _names(connection, ids)

    def described(event: Record) -> Callable[[int], list[Facets]]:
        of_names = facets_of_datasets(event)
        return lambda dataset: [facets for named, facets in of_names if named in names[dataset]]

    return _latest(connection, ids, _FACET.c.dataset_id, described)


def of_jobs(connection: Connection, ids: Collection[int]) -> dict[int, Facets]:
    """The facets of jobs by id; of those that have none an empty object."""
    return _latest(connection, ids, _FACET.c.job_id, lambda event: lambda _: [facets_of_job(event)])


def _latest(
    connection: Connection,
    ids: Collection[int],
    owner: ColumnElement[int],
    described: Callable[[Record], Callable[[int], list[Facets]]],
) -> dict[int, Facets]:
    """The latest facets of datasets or jobs, by what an event has of each."""
    of_events: dict[bytes, list[tuple[int, str]]] = {}
    question = select(_FACET.c.event_digest, owner.label("owner"), _FACET.c.name)
    for row in rows_for(connection, ids, lambda some: question.where(owner.in_(some))):
        of_events.setdefault(row.event_digest, []).append((row.owner, row.name))
    found: dict[int, Facets] = {one: {} for one in ids}
    for digest, event in by_digest(connection, of_events):
        facets_of = described(event)
        for one, facet in of_events[digest]:
            set_latest(found[one], facet, facets_of(one))
    return {one: dict(sorted(facets.items())) for one, facets in found.items()}


def _names(connection: Connection, ids: Collection[int]) -> dict[int, set[tuple[str, str]]]:
    names: dict[int, set[tuple[str, str]]] = {one: set() for one in ids}
    question = select(_NAME.c.dataset_id, _NAME.c.namespace, _NAME.c.name)
    for dataset, *named in rows_for(connection, ids, lambda some: question.where(_NAME.c.dataset_id.in_(some))):
        names[dataset].add((named[0], named[1]))
    return names
