"""Which events have to be read again, because an older headwater kept neither facets nor tags nor descriptions of them.

They are read later, while servers run. Where none was taken since revision 0003, which only estimated when datasets and
jobs were first and last told of, that is told anew too.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Notes all events that there are."""
    op.create_table(
        "catch_up",
        sa.Column("until", sa.BigInteger(), primary_key=True, autoincrement=False),
        sa.Column("after", sa.BigInteger(), nullable=False),
    )
    op.execute("INSERT INTO catch_up (until, after) SELECT max(id), -1 FROM event HAVING max(id) IS NOT NULL")
    for table in ("dataset", "job"):
        op.execute(f"UPDATE {table} SET first_at = NULL, last_at = NULL WHERE NOT EXISTS (SELECT 1 FROM facet)")
