"""Mark edges that only name their input, and runs whose ids are unique within a namespace alone."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Adds the columns; nothing that is there is a reference."""
    op.add_column("transformation", sa.Column("reference", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("run", sa.Column("shown", sa.Text()))
    there = sa.text("shown IS NOT NULL")
    op.create_index("run_shown", "run", ["shown"], sqlite_where=there, postgresql_where=there)
