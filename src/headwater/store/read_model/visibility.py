"""The namespaces of a store that one caller may see: a limit of the connection, which every list obeys.

Names are hidden later, in answers. Left out here is what keys with limits only mentioned of what others own, where the
caller may not see both sides: the edges of references, the inputs of such runs, and the fields and datasets that nobody
else described (`headwater.openlineage.reading.grants`).
"""

from collections.abc import Callable, Collection, Iterable

from sqlalchemy import ColumnElement, Connection, exists, or_, select, true

from headwater.store import schema
from headwater.store.ingest.field_spelling import READ
from headwater.store.sql.databases import Lookup, rows_for

OPTION = "headwater_sight"
"""The execution option of a connection that has the caller's sight."""

Sees = Callable[[str], bool] | None
"""Whether somebody may see a namespace; None for somebody who sees all."""

_NAME = schema.dataset_name
_FIELD = schema.field
_DATASET = schema.dataset
_RUN = schema.run
_JOB = schema.job
_TRANSFORMATION = schema.transformation
_NAMES_OF = Lookup(select(_NAME.c.dataset_id, _NAME.c.namespace), _NAME.c.dataset_id)
REFERENCES = select(_TRANSFORMATION.c.id).where(_TRANSFORMATION.c.reference)
"""The transformations of edges that are references."""


def sight_of(connection: Connection) -> Sees:
    """The sight of whoever asks over a connection."""
    sees: Sees = connection.get_execution_options().get(OPTION)
    return sees


def references(connection: Connection) -> frozenset[int]:
    """The transformations of edges that are references; none for whoever sees all."""
    return frozenset() if sight_of(connection) is None else frozenset(connection.execute(REFERENCES).scalars())


def unseen_datasets(connection: Connection, datasets: Collection[int]) -> set[int]:
    """The datasets none of whose names may be seen."""
    sees = sight_of(connection)
    if sees is None:
        return set()
    seen = {dataset for dataset, namespace in _NAMES_OF.bare(connection, datasets) if sees(namespace)}
    return set(datasets) - seen


def referred_reads(connection: Connection, reads: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Of the datasets (second) that runs (first) read, the references of which not both sides may be seen."""
    sees = sight_of(connection)
    known = set(reads)
    if sees is None or not known:
        return set()
    question = select(_RUN.c.id, _JOB.c.namespace).join(_JOB, _JOB.c.id == _RUN.c.job_id)
    question = question.where(_RUN.c.shown.is_not(None))
    rows = rows_for(connection, {run for run, _ in known}, lambda some: question.where(_RUN.c.id.in_(some)))
    limited = {row.id: sees(row.namespace) for row in rows}
    unseen = unseen_datasets(connection, {dataset for run, dataset in known if run in limited})
    return {(run, one) for run, one in known if run in limited and (not limited[run] or one in unseen)}


def described_datasets(connection: Connection, dataset: ColumnElement[int]) -> ColumnElement[bool]:
    """The condition that a dataset was described, and not only mentioned; all are for whoever sees all."""
    if sight_of(connection) is None:
        return true()
    own, field = _DATASET.alias("described_dataset"), _FIELD.alias("described_field")
    fields = select(field.c.id).where(field.c.dataset_id == own.c.id, field.c.spelled_by >= READ).correlate(own)
    described = select(own.c.id).where(own.c.id == dataset, or_(own.c.first_at.is_not(None), exists(fields)))
    return exists(described.correlate_except(own))


def described_fields(connection: Connection) -> ColumnElement[bool]:
    """The condition that a field was described, and not only mentioned; all are for whoever sees all."""
    return true() if sight_of(connection) is None else _FIELD.c.spelled_by >= READ


def runs_seen(connection: Connection) -> ColumnElement[bool]:
    """The condition that a run is of a job that may be seen."""
    sees = sight_of(connection)
    if sees is None:
        return true()
    known = connection.execute(select(_JOB.c.namespace).distinct()).scalars()
    return _RUN.c.job_id.in_(select(_JOB.c.id).where(_JOB.c.namespace.in_([one for one in known if sees(one)])))
