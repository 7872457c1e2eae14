"""Keep the schema of each version of a dataset, each schema once; what older events say is read again later."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Adds the table and the columns, and notes all events that there are."""
    op.create_table(
        "dataset_schema",
        sa.Column("digest", sa.LargeBinary(), primary_key=True),
        sa.Column("fields", sa.Text(), nullable=False),
    )
    for table in ("run_dataset", "dataset_change"):
        op.add_column(table, sa.Column("schema_digest", sa.LargeBinary()))
        op.add_column(table, sa.Column("schema_at", sa.BigInteger()))
    op.execute("DELETE FROM catch_up")
    op.execute("INSERT INTO catch_up (until, after) SELECT max(id), -1 FROM event HAVING max(id) IS NOT NULL")
