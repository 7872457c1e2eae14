"""Versions of datasets: one for each run that wrote it, known by the run; kept is only since when each was."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, FromClause, Select, and_, exists, or_, select

from headwater.model import Dataset
from headwater.store import schema
from headwater.store.catalog.identities import dataset_version
from headwater.store.catalog.pages import Listing, Page, paged
from headwater.store.events import DECLARED, SUCCESSFUL
from headwater.store.rows import pairs_for
from headwater.store.schema import FOREVER

_RUN = schema.run
_WRITTEN = schema.run_dataset
_TOLD = schema.lineage

Place = tuple[int, int]
"""A dataset and a moment."""


@dataclass(frozen=True, slots=True)
class Version:
    """What a run wrote; ``run`` is empty where no run did: an event about a job or dataset alone."""

    dataset_id: int
    uuid: UUID
    at: int
    run_id: int
    run: str = ""


def of_dataset(connection: Connection, dataset_id: int, named: Dataset, page: Page) -> Listing[Version]:
    """The versions of a dataset, the newest first."""
    written = select(_WRITTEN.c.run_id).where(_WRITTEN.c.dataset_id == dataset_id, _WRITTEN.c.written)
    found = paged(connection, _of_dataset(dataset_id), page, written)
    return Listing(tuple(_version(row, named) for row in found.items), found.total)


def named(connection: Connection, dataset_id: int) -> Dataset:
    """The name of a dataset that its versions are made of."""
    table = schema.dataset
    row = connection.execute(select(table.c.namespace, table.c.name).where(table.c.id == dataset_id)).one()
    return Dataset(row.namespace, row.name)


def find(connection: Connection, dataset_id: int, named: Dataset, version: UUID) -> Version | None:
    """The version of a dataset with a UUID; the newest are looked at first."""
    mine = _of_dataset(dataset_id)
    with connection.execute(mine.execution_options(yield_per=1_000)) as rows:
        return next((_version(row, named) for row in rows if dataset_version(named, row.uuid) == version), None)


def latest(connection: Connection, named: Mapping[int, Dataset], until: int | None = None) -> dict[int, Version]:
    """The current version of each dataset, or that of a moment: what the last run wrote that did not fail."""
    moment = FOREVER if until is None else until
    found = at_moments(connection, named, [(one, moment) for one in named])
    return {dataset: version for (dataset, _), version in found.items()}


def at_moments(connection: Connection, named: Mapping[int, Dataset], wanted: Collection[Place]) -> dict[Place, Version]:
    """The version of each dataset at each moment; nothing where there was none yet."""
    rows = pairs_for(connection, wanted, _newest)
    return {(row.dataset_id, row.moment): _version(row, named[row.dataset_id]) for row in rows}


def _of_dataset(dataset_id: int) -> Select[Any]:
    columns = (_WRITTEN.c.dataset_id, _RUN.c.id.label("run_id"), _RUN.c.uuid, _RUN.c.state, _WRITTEN.c.at)
    question = select(*columns).join_from(_WRITTEN, _RUN, _RUN.c.id == _WRITTEN.c.run_id)
    mine = question.where(_WRITTEN.c.dataset_id == dataset_id, _WRITTEN.c.written)
    return mine.order_by(_WRITTEN.c.at.desc(), _RUN.c.uuid)


def _newest(wanted: FromClause) -> Select[Any]:
    """For each dataset and moment the run that wrote the newest version until then: a look-up in an index for each."""
    dataset, moment = wanted.c
    last = select(_WRITTEN.c.run_id).join_from(_WRITTEN, _RUN, _RUN.c.id == _WRITTEN.c.run_id)
    last = last.where(_WRITTEN.c.dataset_id == dataset, _WRITTEN.c.written, moment >= _WRITTEN.c.at, _lasting())
    last = last.order_by(_WRITTEN.c.at.desc(), _RUN.c.uuid.desc()).limit(1).correlate(wanted)
    found = select(
        dataset.label("dataset_id"), moment.label("moment"), last.scalar_subquery().label("run_id")
    ).subquery()
    written = and_(_WRITTEN.c.run_id == found.c.run_id, _WRITTEN.c.dataset_id == found.c.dataset_id, _WRITTEN.c.written)
    question = select(found, _RUN.c.uuid, _RUN.c.state, _WRITTEN.c.at).select_from(found)
    return question.join(_RUN, _RUN.c.id == found.c.run_id).join(_WRITTEN, written)


def _lasting() -> Any:
    """Not what a run failed to write, or still writes; of a stream also that."""
    told = exists().where(
        _TOLD.c.run_id == _RUN.c.id, _TOLD.c.output_id == _WRITTEN.c.dataset_id, _TOLD.c.job_id == _RUN.c.job_id
    )
    return or_(_RUN.c.state.in_(SUCCESSFUL), told)


def _version(row: Any, named: Dataset) -> Version:
    run = "" if row.state == DECLARED else row.uuid
    return Version(row.dataset_id, dataset_version(named, row.uuid), row.at, row.run_id, run)
