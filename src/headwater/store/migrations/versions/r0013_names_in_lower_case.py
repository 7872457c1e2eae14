"""One field for each name in lower case, shown as the latest writer spells it.

Datasets with fields that differ in case only, or were renamed, are read again from their events after the migrations:
`headwater.store.maintenance.respelling`.
"""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

AT_ONCE = 10_000
_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
FIELD = sa.table("field", *map(sa.column, ("id", "dataset_id", "name")), sa.column("key", sa.LargeBinary()))
RENAME = sa.table("field_rename", sa.column("dataset_id"))


def upgrade() -> None:
    """Adds the columns, and makes the keys of fields those of their names in lower case."""
    op.add_column("dataset", sa.Column("written_digest", sa.LargeBinary()))
    op.add_column("dataset", sa.Column("written_at", sa.BigInteger()))
    op.add_column("field", sa.Column("spelling", sa.Text(), nullable=False, server_default=""))
    op.add_column("field", sa.Column("spelled_by", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "field_twin",
        sa.Column("dataset_id", _ID, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_id", "key"),
    )
    op.execute("UPDATE field SET spelling = name")
    # Whether a writer spelled it so the table of touches knows of the dataset.
    op.execute("UPDATE field SET spelled_by = 1 WHERE dataset_id IN (SELECT dataset_id FROM run_dataset WHERE written)")
    _rekey(op.get_bind())


def _rekey(connection: sa.Connection) -> None:
    question = sa.select(FIELD.c.id, FIELD.c.dataset_id, FIELD.c.name)
    rows = connection.execute(question.where(FIELD.c.dataset_id.not_in(sa.select(RENAME.c.dataset_id)))).all()
    seen: set[tuple[int, str]] = set()
    joined: set[int] = set()
    for row in rows:
        place = row.dataset_id, row.name.lower()
        joined |= {row.dataset_id} if place in seen else set()
        seen.add(place)
    change = sa.update(FIELD).where(FIELD.c.id == sa.bindparam("row")).values(key=sa.bindparam("own"))
    changed = (row for row in rows if row.name != row.name.lower() and row.dataset_id not in joined)
    for some in _batches(changed):
        connection.execute(change, [{"row": row.id, "own": _key(row.name.lower())} for row in some])


def _batches(rows: Iterator[Any]) -> Iterator[list[Any]]:
    while some := list(islice(rows, AT_ONCE)):
        yield some


def _key(name: str) -> bytes:
    written = name.encode()
    return blake2b(b"%d:%s" % (len(written), written), digest_size=16).digest()
