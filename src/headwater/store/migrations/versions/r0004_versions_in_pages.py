"""Kept with each run which datasets it touched, and with each output since when: versions come in pages."""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import groupby
from operator import attrgetter
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

AT_ONCE = 5_000
RUN = sa.table("run", sa.column("id"), sa.column("touched", sa.LargeBinary()))
TOUCH = sa.table("run_dataset", *(sa.column(name) for name in ("run_id", "dataset_id", "written")))
STAMP = sa.update(RUN).where(RUN.c.id == sa.bindparam("row")).values(touched=sa.bindparam("digest"))


def upgrade() -> None:
    """Adds the columns, fills them, and then makes the indexes."""
    op.add_column("run", sa.Column("touched", sa.LargeBinary(), nullable=True))
    op.add_column("run_dataset", sa.Column("at", sa.BigInteger(), nullable=True))
    told = (
        "SELECT l.at FROM lineage l JOIN run r ON r.id = l.run_id AND r.job_id = l.job_id "
        "WHERE l.run_id = run_dataset.run_id AND l.output_id = run_dataset.dataset_id"
    )
    state = "SELECT r.state_at FROM run r WHERE r.id = run_dataset.run_id"
    op.execute(f"UPDATE run_dataset SET at = coalesce(({told}), ({state})) WHERE written")
    _digests(op.get_bind())
    op.drop_index("run_dataset_dataset", "run_dataset")
    op.create_index("run_dataset_dataset", "run_dataset", ["dataset_id", "written", "at", "run_id"])
    op.create_index("run_touched", "run", ["job_id", "touched", "state_at"])
    op.create_index("run_begun", "run", ["job_id", sa.text("coalesce(started_at, state_at)"), "state"])
    op.create_index("run_newest", "run", ["job_id", "id"])


def _digests(connection: sa.Connection) -> None:
    for rows in _batches(connection):
        runs = groupby(rows, key=attrgetter("run_id"))
        connection.execute(STAMP, [{"row": run, "digest": _digest(list(touches))} for run, touches in runs])


def _batches(connection: sa.Connection) -> Iterator[list[Any]]:
    """The rows of so many runs at once."""
    last = connection.execute(sa.select(sa.func.max(RUN.c.id))).scalar() or 0
    question = sa.select(TOUCH).order_by(TOUCH.c.run_id)
    for begin in range(0, last + 1, AT_ONCE):
        rows = connection.execute(question.where(TOUCH.c.run_id >= begin, TOUCH.c.run_id < begin + AT_ONCE)).all()
        if rows:
            yield list(rows)


def _digest(touches: list[Any]) -> bytes:
    read, written = (sorted(one.dataset_id for one in touches if bool(one.written) is side) for side in (False, True))
    parts = [",".join(map(str, ids)).encode() for ids in (read, written)]
    return blake2b(b"".join(b"%d:%s" % (len(part), part) for part in parts), digest_size=16).digest()
