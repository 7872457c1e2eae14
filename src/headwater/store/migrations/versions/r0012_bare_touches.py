"""Leave foreign keys out of what a run touches and states: they take PostgreSQL twice as long as the rows."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Drops them, for which SQLite copies the rows."""
    connection = op.get_bind()
    for table in (_lineage(), _touches()):
        if connection.dialect.name == "sqlite":
            with op.batch_alter_table(table.name, copy_from=table, recreate="always"):
                pass
        else:
            for key in sa.inspect(connection).get_foreign_keys(table.name):
                op.drop_constraint(str(key["name"]), table.name, type_="foreignkey")


def _lineage() -> sa.Table:
    return sa.Table(
        "lineage",
        sa.MetaData(),
        *(sa.Column(name, _ID, nullable=False) for name in ("job_id", "output_id", "run_id")),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("job_id", "output_id", "run_id"),
        sa.Index("lineage_at", "job_id", "output_id", "at"),
        sa.Index("lineage_output", "output_id"),
        sa.Index("lineage_run", "run_id"),
    )


def _touches() -> sa.Table:
    return sa.Table(
        "run_dataset",
        sa.MetaData(),
        *(sa.Column(name, _ID, nullable=False) for name in ("run_id", "dataset_id")),
        *(sa.Column(name, sa.Boolean, nullable=False) for name in ("written", "has_lineage")),
        sa.Column("at", sa.BigInteger),
        sa.PrimaryKeyConstraint("run_id", "dataset_id", "written"),
        sa.Index("run_dataset_dataset", "dataset_id", "written", "at", "run_id"),
    )
