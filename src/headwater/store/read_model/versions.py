"""Versions of datasets, known by the run: one for each that wrote it, or altered it and left a schema."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

from sqlalchemy import ColumnElement, Connection, FromClause, Select, Table, and_, exists, or_, select

from headwater.model import Dataset
from headwater.model.names import key_of
from headwater.model.time import FOREVER
from headwater.openlineage.reading.events import DECLARED, SUCCESSFUL
from headwater.openlineage.reading.facets import VersionField
from headwater.openlineage.reading.facets import fields_of as schema_fields
from headwater.store import schema
from headwater.store.read_model.pages import Listing, Page, paged
from headwater.store.read_model.presence import presence
from headwater.store.sql.databases import pairs_for, rows_for

_RUN = schema.run
_WRITTEN = schema.run_dataset
_CHANGED = schema.dataset_change
_LINEAGE = schema.lineage

Fields = tuple[VersionField, ...]
Place = tuple[int, int]
"""A dataset and a moment."""

_OfPlaces = Callable[[FromClause], Select[Any]]


@dataclass(frozen=True, slots=True)
class Version:
    """A version that a run wrote; ``run`` is empty where no run did: an event about a job or dataset alone.

    ``schema`` is the digest of its schema, None where the run's events had none.
    """

    dataset_id: int
    uuid: UUID
    at: int
    run_id: int
    run: str = ""
    schema: bytes | None = None


def dataset_version(dataset: Dataset, run: str) -> UUID:
    """The version of a dataset that a run wrote; of no run that of a dataset which nothing known has written."""
    return uuid_of("dataset version", dataset.namespace, dataset.name, run)


def uuid_of(*parts: str) -> UUID:
    """The UUID of what has none of its own: the same for the same names, in every store."""
    return uuid5(NAMESPACE_OID, key_of(*parts).hex())


def of_dataset(connection: Connection, dataset_id: int, dataset: Dataset, page: Page) -> Listing[Version]:
    """The versions of a dataset, the newest first."""
    found = paged(connection, listed(connection, dataset_id), page, _made(connection, dataset_id))
    return Listing(tuple(version_of(row, dataset) for row in found.items), found.total)


def named(connection: Connection, dataset_id: int) -> Dataset:
    """The name of a dataset that its versions are made of."""
    table = schema.dataset
    row = connection.execute(select(table.c.namespace, table.c.name).where(table.c.id == dataset_id)).one()
    return Dataset(row.namespace, row.name)


def find(connection: Connection, dataset_id: int, dataset: Dataset, version: UUID) -> Version | None:
    """The version of a dataset with a UUID; the newest are looked at first."""
    mine = listed(connection, dataset_id)
    with connection.execute(mine.execution_options(yield_per=1_000)) as rows:
        return next((version_of(row, dataset) for row in rows if dataset_version(dataset, row.uuid) == version), None)


def latest(connection: Connection, datasets: Mapping[int, Dataset], until: int | None = None) -> dict[int, Version]:
    """The current version of each dataset, or that of a moment: what the last run wrote that did not fail."""
    moment = FOREVER if until is None else until
    found = at_moments(connection, datasets, [(one, moment) for one in datasets])
    return {dataset: version for (dataset, _), version in found.items()}


def at_moments(
    connection: Connection, datasets: Mapping[int, Dataset], places: Collection[Place]
) -> dict[Place, Version]:
    """The version of each dataset at each moment; nothing where there was none yet."""
    found = _newest_rows(connection, places, _newest, attrgetter("at", "uuid"))
    return {place: version_of(row, datasets[row.dataset_id]) for place, row in found.items()}


def _newest_rows(
    connection: Connection, places: Collection[Place], written: _OfPlaces, order: Callable[[Any], Any]
) -> dict[Place, Any]:
    """The last row for each place, of what was written and of what was altered."""
    found: dict[Place, Any] = {}
    for question in (written, _newest_altered) if presence(connection).dataset_changes else (written,):
        for row in pairs_for(connection, places, question):
            place = (row.dataset_id, row.moment)
            found[place] = max(found.get(place, row), row, key=order)
    return found


def altered_by(connection: Connection, runs: Collection[int]) -> dict[int, set[int]]:
    """The datasets of which each run made a version without writing rows: it altered them."""
    if not presence(connection).dataset_changes:
        return {}
    question = select(_CHANGED.c.run_id, _CHANGED.c.dataset_id).where(_CHANGED.c.schema_digest.is_not(None))
    found: dict[int, set[int]] = {}
    for row in rows_for(connection, runs, lambda some: question.where(_CHANGED.c.run_id.in_(some))):
        found.setdefault(row.run_id, set()).add(row.dataset_id)
    return found


def fields_of(connection: Connection, versions: Collection[Version]) -> dict[Version, Fields]:
    """The fields of each version: of one whose run had no schema those that the dataset had then.

    A version is left out when no schema was known yet.
    """
    own = _schemas(connection, [one.schema for one in versions if one.schema is not None])
    then = fields_at(connection, [(one.dataset_id, one.at) for one in versions if one.schema is None])
    found = {one: own[one.schema] for one in versions if one.schema is not None}
    return found | {
        one: then[place] for one in versions if (place := (one.dataset_id, one.at)) in then and one not in found
    }


def fields_at(connection: Connection, places: Collection[Place]) -> dict[Place, Fields]:
    """The fields that datasets had at moments by their latest schema until then, of who wrote or altered them.

    Nothing where there was none: the dataset was not there yet, or nothing that is kept has its schema of then.
    """
    latest = _newest_rows(connection, places, _newest_with_schema, attrgetter("at", "schema_digest"))
    schemas = _schemas(connection, [row.schema_digest for row in latest.values()])
    return {place: schemas[row.schema_digest] for place, row in latest.items()}


def listed(connection: Connection, dataset_id: int, after: tuple[int, str] | None = None) -> Select[Any]:
    """The rows of the versions of a dataset, the newest first; those of one moment by the run.

    ``after`` is the moment and run of the one that comes before them.
    """
    made = _made(connection, dataset_id).subquery()
    of_run = (_RUN.c.id.label("run_id"), _RUN.c.uuid, _RUN.c.shown, _RUN.c.state, _RUN.c.job_id)
    question = select(made.c.dataset_id, *of_run, made.c.at, made.c.schema_digest)
    question = question.join_from(made, _RUN, _RUN.c.id == made.c.run_id)
    if after is not None:
        at, uuid = after
        question = question.where(or_(made.c.at < at, and_(made.c.at == at, uuid < _RUN.c.uuid)))
    return question.order_by(made.c.at.desc(), _RUN.c.uuid)


def _made(connection: Connection, dataset_id: int) -> Select[Any]:
    """Which runs made versions of a dataset; of most nobody altered any, and an index has the others in order."""
    columns = (_WRITTEN.c.dataset_id, _WRITTEN.c.run_id, _WRITTEN.c.at, _WRITTEN.c.schema_digest)
    written = select(*columns).where(_WRITTEN.c.dataset_id == dataset_id, _WRITTEN.c.written)
    altered = select(
        _CHANGED.c.dataset_id, _CHANGED.c.run_id, _CHANGED.c.schema_at.label("at"), _CHANGED.c.schema_digest
    )
    altered = altered.where(_CHANGED.c.dataset_id == dataset_id, _CHANGED.c.schema_digest.is_not(None))
    altered = altered.where(_CHANGED.c.run_id.not_in(written.with_only_columns(_WRITTEN.c.run_id)))
    if not presence(connection).dataset_changes or connection.execute(altered.limit(1)).first() is None:
        return written
    return select(written.union_all(altered).subquery())


def _newest(places: FromClause, *conditions: ColumnElement[bool]) -> Select[Any]:
    """For each dataset and moment the run that wrote the newest version until then: a look-up in an index for each."""
    dataset, moment = places.c
    last = select(_WRITTEN.c.run_id).join_from(_WRITTEN, _RUN, _RUN.c.id == _WRITTEN.c.run_id)
    last = last.where(_WRITTEN.c.dataset_id == dataset, _WRITTEN.c.written, moment >= _WRITTEN.c.at, _lasting())
    last = last.where(*conditions).order_by(_WRITTEN.c.at.desc(), _RUN.c.uuid.desc())
    return _version_of_run(places, last, _WRITTEN, _WRITTEN.c.at, _WRITTEN.c.written)


def _newest_with_schema(places: FromClause) -> Select[Any]:
    return _newest(places, _WRITTEN.c.schema_digest.is_not(None))


def _newest_altered(places: FromClause) -> Select[Any]:
    """The same of runs that altered a dataset and left a schema."""
    dataset, moment = places.c
    last = select(_CHANGED.c.run_id).join_from(_CHANGED, _RUN, _RUN.c.id == _CHANGED.c.run_id)
    last = last.where(_CHANGED.c.dataset_id == dataset, moment >= _CHANGED.c.schema_at, _RUN.c.state.in_(SUCCESSFUL))
    last = last.order_by(_CHANGED.c.schema_at.desc(), _RUN.c.uuid.desc())
    return _version_of_run(places, last, _CHANGED, _CHANGED.c.schema_at)


def _version_of_run(
    places: FromClause, runs: Select[Any], table: Table, at: ColumnElement[int], *conditions: ColumnElement[bool]
) -> Select[Any]:
    """The rows of a table that the first of some runs has for each dataset and moment."""
    dataset, moment = places.c
    run = runs.limit(1).correlate(places).scalar_subquery()
    found = select(dataset.label("dataset_id"), moment.label("moment"), run.label("run_id")).subquery()
    same = and_(table.c.run_id == found.c.run_id, table.c.dataset_id == found.c.dataset_id, *conditions)
    question = select(found, _RUN.c.uuid, _RUN.c.shown, _RUN.c.state, at.label("at"), table.c.schema_digest)
    return question.select_from(found).join(_RUN, _RUN.c.id == found.c.run_id).join(table, same)


def _lasting() -> Any:
    """Not what a run failed to write, or still writes; of a stream also that."""
    has_lineage = exists().where(
        _LINEAGE.c.run_id == _RUN.c.id,
        _LINEAGE.c.output_id == _WRITTEN.c.dataset_id,
        _LINEAGE.c.job_id == _RUN.c.job_id,
    )
    return or_(_RUN.c.state.in_(SUCCESSFUL), has_lineage)


def version_of(row: Any, dataset: Dataset) -> Version:
    """The version of a row."""
    run = "" if row.state == DECLARED else row.shown or row.uuid
    return Version(row.dataset_id, dataset_version(dataset, row.uuid), row.at, row.run_id, run, row.schema_digest)


def _schemas(connection: Connection, digests: Iterable[bytes]) -> dict[bytes, tuple[VersionField, ...]]:
    """The schemas that versions have, by their digests."""
    table = schema.dataset_schema
    rows = rows_for(connection, set(digests), lambda some: select(table).where(table.c.digest.in_(some)))
    return {row.digest: schema_fields(row.fields) for row in rows}
