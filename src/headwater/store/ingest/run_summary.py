"""What is kept with a run so that lists of versions need not look at every run: told anew whenever the run is."""

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import BigInteger, LargeBinary, Row, Update, and_, func, select, update

from headwater.model.name_keys import touched_digest
from headwater.store import schema
from headwater.store.ingest.ids import Writer
from headwater.store.sql.bulk import BoundValues, Change
from headwater.store.sql.rows import rows_for

_RUN = schema.run
_TOUCH = schema.run_dataset
_TOLD = schema.lineage
_OF_RUN = and_(_TOLD.c.run_id == _RUN.c.id, _TOLD.c.output_id == _TOUCH.c.dataset_id, _TOLD.c.job_id == _RUN.c.job_id)
_NOW = select(
    _RUN.c.id,
    _RUN.c.touched,
    _TOUCH.c.dataset_id,
    _TOUCH.c.written,
    _TOUCH.c.at,
    func.coalesce(_TOLD.c.at, _RUN.c.state_at).label("now"),
)
_NOW = _NOW.select_from(_RUN).outerjoin(_TOUCH, _TOUCH.c.run_id == _RUN.c.id).outerjoin(_TOLD, _OF_RUN)
_NOW = _NOW.order_by(_RUN.c.id)


def _set_digest(given: BoundValues) -> Update:
    return update(_RUN).where(_RUN.c.id == given["row"]).values(touched=given["digest"])


def _set_moment(given: BoundValues) -> Update:
    mine = (_TOUCH.c.run_id == given["run"], _TOUCH.c.dataset_id == given["dataset"], _TOUCH.c.written)
    return update(_TOUCH).where(*mine).values(at=given["moment"])


_SET_DIGEST = Change({"row": BigInteger(), "digest": LargeBinary()}, _set_digest)
_SET_MOMENT = Change({"run": BigInteger(), "dataset": BigInteger(), "moment": BigInteger()}, _set_moment)


def update_run_summary(writer: Writer) -> None:
    """Notes of the runs that runs_to_summarize which datasets they touched, and since when there is what they wrote."""
    writer.flush()
    rows = list(rows_for(writer.connection, writer.runs_to_summarize, lambda some: _NOW.where(_RUN.c.id.in_(some))))
    moments = [(row.id, row.dataset_id, row.now) for row in rows if row.written and row.at != row.now]
    _SET_MOMENT(writer.connection, moments)
    digests = [(some[0], touched(some)) for _, group in groupby(rows, key=attrgetter("id")) if (some := list(group))]
    _SET_DIGEST(writer.connection, [(row.id, digest) for row, digest in digests if digest != row.touched])
    writer.runs_to_summarize.clear()


def touched(rows: Iterable[Row[Any]]) -> bytes | None:
    """A digest of the datasets that a run read, and of those that it wrote; None when there are none."""
    read, written = ([row.dataset_id for row in rows if row.written is side] for side in (False, True))
    return touched_digest(read, written)
