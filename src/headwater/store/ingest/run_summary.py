"""A summary in each run's row, so that lists of versions need not look at every run: its datasets."""

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import BigInteger, Connection, LargeBinary, Row, Update, and_, func, select, update

from headwater.model.name_keys import touched_digest
from headwater.store import schema
from headwater.store.ingest.rows import Rows
from headwater.store.ingest.write import write
from headwater.store.sql.bulk import BoundValues, Change
from headwater.store.sql.rows import rows_for

_RUN = schema.run
_RUN_DATASET = schema.run_dataset
_LINEAGE = schema.lineage
_OF_RUN = and_(
    _LINEAGE.c.run_id == _RUN.c.id,
    _LINEAGE.c.output_id == _RUN_DATASET.c.dataset_id,
    _LINEAGE.c.job_id == _RUN.c.job_id,
)
_NOW = select(
    _RUN.c.id,
    _RUN.c.touched,
    _RUN_DATASET.c.dataset_id,
    _RUN_DATASET.c.written,
    _RUN_DATASET.c.at,
    func.coalesce(_LINEAGE.c.at, _RUN.c.state_at).label("now"),
)
_NOW = _NOW.select_from(_RUN).outerjoin(_RUN_DATASET, _RUN_DATASET.c.run_id == _RUN.c.id).outerjoin(_LINEAGE, _OF_RUN)
_NOW = _NOW.order_by(_RUN.c.id)


def _set_digest(bound: BoundValues) -> Update:
    return update(_RUN).where(_RUN.c.id == bound["row"]).values(touched=bound["digest"])


def _set_moment(bound: BoundValues) -> Update:
    mine = (
        _RUN_DATASET.c.run_id == bound["run"],
        _RUN_DATASET.c.dataset_id == bound["dataset"],
        _RUN_DATASET.c.written,
    )
    return update(_RUN_DATASET).where(*mine).values(at=bound["moment"])


_SET_DIGEST = Change({"row": BigInteger(), "digest": LargeBinary()}, _set_digest)
_SET_MOMENT = Change({"run": BigInteger(), "dataset": BigInteger(), "moment": BigInteger()}, _set_moment)


def update_run_summaries(connection: Connection, rows: Rows) -> None:
    """Write which datasets the runs to summarize read and wrote, and since when there is what they wrote."""
    write(connection, rows)
    found = list(rows_for(connection, rows.take_runs_to_summarize(), lambda some: _NOW.where(_RUN.c.id.in_(some))))
    moments = [(row.id, row.dataset_id, row.now) for row in found if row.written and row.at != row.now]
    _SET_MOMENT(connection, moments)
    digests = [
        (some[0], datasets_of_run(some)) for _, group in groupby(found, key=attrgetter("id")) if (some := list(group))
    ]
    _SET_DIGEST(connection, [(row.id, digest) for row, digest in digests if digest != row.touched])


def datasets_of_run(rows: Iterable[Row[Any]]) -> bytes | None:
    """Return a digest of the datasets that a run read, and of those that it wrote; None when there are none."""
    read, written = ([row.dataset_id for row in rows if row.written is side] for side in (False, True))
    return touched_digest(read, written)
