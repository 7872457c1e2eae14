"""Say which replacements of rows restored those of an earlier version."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Add the column; no event that is there has said so."""
    op.add_column("replacement", sa.Column("restores", sa.Boolean(), nullable=False, server_default=sa.false()))
    few = sa.text("restores")
    op.create_index("replacement_restores", "replacement", ["dataset_id"], sqlite_where=few, postgresql_where=few)
