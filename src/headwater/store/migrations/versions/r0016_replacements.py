"""Which runs replaced all rows of a dataset; events that are there are read for that by `maintenance.catchup`."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Adds the table, and lets an index answer which jobs wrote a dataset since a moment."""
    op.create_table(
        "replacement",
        sa.Column("dataset_id", _ID, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("run_id", _ID, nullable=False),
        sa.Column("certain", sa.Boolean(), nullable=False),
        sa.Column("has_schema", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_id", "at", "run_id"),
        sqlite_with_rowid=False,
    )
    op.create_index("replacement_run", "replacement", ["run_id"])
    few = sa.text("NOT certain")
    op.create_index("replacement_possible", "replacement", ["dataset_id"], sqlite_where=few, postgresql_where=few)
    op.drop_index("lineage_output", "lineage")
    op.create_index("lineage_output", "lineage", ["output_id", "at", "job_id", "run_id"])
    op.execute("DELETE FROM catch_up")
    op.execute("INSERT INTO catch_up (until, after) SELECT max(id), -1 FROM event HAVING max(id) IS NOT NULL")
