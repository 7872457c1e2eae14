"""What is kept with a run so that lists of versions need not look at every run: told anew whenever the run is."""

from collections.abc import Iterable
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Row, and_, bindparam, func, select, update

from headwater.store import schema
from headwater.store.ids import Writer
from headwater.store.keys import key_of
from headwater.store.rows import rows_for
from headwater.store.upserts import Values, write

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
_STAMP_RUN = update(_RUN).where(_RUN.c.id == bindparam("row")).values(touched=bindparam("digest"))
_STAMP_TOUCH = update(_TOUCH).where(
    _TOUCH.c.run_id == bindparam("run"), _TOUCH.c.dataset_id == bindparam("dataset"), _TOUCH.c.written
)
_STAMP_TOUCH = _STAMP_TOUCH.values(at=bindparam("moment"))


def stamp(writer: Writer) -> None:
    """Notes of the runs that moved which datasets they touched, and since when there is what they wrote."""
    writer.flush()
    rows = list(rows_for(writer.connection, writer.moved, lambda some: _NOW.where(_RUN.c.id.in_(some))))
    write(writer.connection, _STAMP_TOUCH, [_moment(row) for row in rows if row.written and row.at != row.now])
    runs = (list(some) for _, some in groupby(rows, key=attrgetter("id")))
    write(writer.connection, _STAMP_RUN, [_digest(some) for some in runs if touched(some) != some[0].touched])
    writer.moved.clear()


def touched(rows: Iterable[Row[Any]]) -> bytes | None:
    """A digest of the datasets that a run read, and of those that it wrote; None when there are none."""
    read, written = (sorted(row.dataset_id for row in rows if row.written is side) for side in (False, True))
    if not read and not written:
        return None
    return key_of(*(",".join(map(str, ids)) for ids in (read, written)))


def _moment(row: Row[Any]) -> Values:
    return {"run": row.id, "dataset": row.dataset_id, "moment": row.now}


def _digest(rows: list[Row[Any]]) -> Values:
    return {"row": rows[0].id, "digest": touched(rows)}
