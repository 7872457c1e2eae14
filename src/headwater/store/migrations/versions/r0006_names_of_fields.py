"""Every name of fields once: a search that finds nothing looks at the names and not at the fields."""

from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

AT_ONCE = 10_000
FIELD = sa.table("field", sa.column("folded_key", sa.LargeBinary()), sa.column("name", sa.Text()))


def upgrade() -> None:
    """Adds the table with the names that fields have now."""
    table = op.create_table(
        "field_name",
        sa.Column("key", sa.LargeBinary(), primary_key=True),
        sa.Column("folded_key", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
    )
    names = iter(op.get_bind().execute(sa.select(FIELD.c.folded_key, FIELD.c.name).distinct()).all())
    for rows in _batches({"key": _key(row.name), "folded_key": row.folded_key, "name": row.name} for row in names):
        op.bulk_insert(table, rows)


def _batches(rows: Iterator[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    while some := list(islice(rows, AT_ONCE)):
        yield some


def _key(name: str) -> bytes:
    written = name.encode()
    return blake2b(b"%d:%s" % (len(written), written), digest_size=16).digest()
