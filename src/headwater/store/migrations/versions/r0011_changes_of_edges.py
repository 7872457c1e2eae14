"""The log of which edges were written."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Makes it, empty: who follows it reads all edges first."""
    op.create_table(
        "edge_change",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("mark", sa.BigInteger, nullable=False),
        sa.Column("job_id", _ID, nullable=False),
        sa.Column("output_id", _ID, nullable=False),
    )
