"""Versions of datasets: one for each run that wrote it, derived from the runs and not kept."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Select, and_, func, or_, select

from headwater.model import Dataset
from headwater.store import schema
from headwater.store.catalog.identities import dataset_version
from headwater.store.catalog.pages import Listing, Page, paged
from headwater.store.events import DECLARED, SUCCESSFUL
from headwater.store.rows import rows_for

_RUN = schema.run
_WRITTEN = schema.run_dataset
_TOLD = schema.lineage
_AT = func.coalesce(_TOLD.c.at, _RUN.c.state_at)


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
    mine = _versions().where(_WRITTEN.c.dataset_id == dataset_id).order_by(_AT.desc(), _RUN.c.uuid)
    found = paged(connection, mine, page)
    return Listing(tuple(_version(row, named) for row in found.items), found.total)


def named(connection: Connection, dataset_id: int) -> Dataset:
    """The name of a dataset that its versions are made of."""
    table = schema.dataset
    row = connection.execute(select(table.c.namespace, table.c.name).where(table.c.id == dataset_id)).one()
    return Dataset(row.namespace, row.name)


def find(connection: Connection, dataset_id: int, named: Dataset, version: UUID) -> Version | None:
    """The version of a dataset with a UUID; the newest are looked at first."""
    mine = _versions().where(_WRITTEN.c.dataset_id == dataset_id).order_by(_AT.desc(), _RUN.c.uuid)
    with connection.execute(mine.execution_options(yield_per=1_000)) as rows:
        return next((_version(row, named) for row in rows if dataset_version(named, row.uuid) == version), None)


def latest(connection: Connection, named: Mapping[int, Dataset], until: int | None = None) -> dict[int, Version]:
    """The current version of each dataset, or that of a moment: what the last run wrote that did not fail."""

    def newest(some: list[int]) -> Select[Any]:
        place = func.row_number().over(partition_by=_WRITTEN.c.dataset_id, order_by=(_AT.desc(), _RUN.c.uuid.desc()))
        ranked = _versions(place.label("place")).where(_WRITTEN.c.dataset_id.in_(some), _lasting())
        if until is not None:
            ranked = ranked.where(until >= _AT)
        every = ranked.subquery()
        return select(every).where(every.c.place == 1)

    rows = rows_for(connection, list(named), newest)
    return {row.dataset_id: _version(row, named[row.dataset_id]) for row in rows}


def between(connection: Connection, named: Mapping[int, Dataset], since: int, until: int) -> Iterator[Version]:
    """The versions of datasets that were written after a moment and until another, the oldest first."""

    def written(some: list[int]) -> Select[Any]:
        mine = _versions().where(_WRITTEN.c.dataset_id.in_(some), _lasting(), since < _AT, until >= _AT)
        return mine.order_by(_AT, _RUN.c.uuid)

    for row in rows_for(connection, list(named), written):
        yield _version(row, named[row.dataset_id])


def _versions(*more: Any) -> Select[Any]:
    columns = (_WRITTEN.c.dataset_id, _RUN.c.id.label("run_id"), _RUN.c.uuid, _RUN.c.state, _AT.label("at"))
    told = and_(
        _TOLD.c.run_id == _RUN.c.id, _TOLD.c.output_id == _WRITTEN.c.dataset_id, _TOLD.c.job_id == _RUN.c.job_id
    )
    question = select(*columns, *more).select_from(_WRITTEN).join(_RUN, _RUN.c.id == _WRITTEN.c.run_id)
    return question.outerjoin(_TOLD, told).where(_WRITTEN.c.written)


def _lasting() -> Any:
    """Not what a run failed to write, or still writes; of a stream also that."""
    return or_(_RUN.c.state.in_(SUCCESSFUL), _TOLD.c.run_id.is_not(None))


def _version(row: Any, named: Dataset) -> Version:
    run = "" if row.state == DECLARED else row.uuid
    return Version(row.dataset_id, dataset_version(named, row.uuid), row.at, row.run_id, run)
