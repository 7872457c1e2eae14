"""When work that one process does for all, such as removing what is old, was begun last."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Adds the table."""
    op.create_table(
        "schedule",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
    )
