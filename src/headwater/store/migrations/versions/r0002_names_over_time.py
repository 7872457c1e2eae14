"""Names over time: what a name means from when until when, and renamed fields."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
FOREVER = 2**63 - 1


def upgrade() -> None:
    """Every name that is known means its dataset for all time."""
    op.add_column("dataset_name", sa.Column("first_key", sa.LargeBinary(), nullable=True))
    op.add_column("dataset_name", _moment("since", -FOREVER))
    op.add_column("dataset_name", _moment("until", FOREVER))
    op.create_index("dataset_name_first", "dataset_name", ["first_key"])
    _field_renames()
    op.create_table(
        "dataset_change",
        sa.Column("run_id", ID, sa.ForeignKey("run.id"), nullable=False),
        sa.Column("dataset_id", ID, sa.ForeignKey("dataset.id"), nullable=False),
        sa.PrimaryKeyConstraint("run_id", "dataset_id"),
    )
    op.create_index("dataset_change_dataset", "dataset_change", ["dataset_id"])


def _moment(name: str, default: int) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=False, server_default=sa.text(str(default)))


def _field_renames() -> None:
    op.create_table(
        "field_rename",
        sa.Column("dataset_id", ID, sa.ForeignKey("dataset.id"), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("former_key", sa.LargeBinary(), nullable=False),
        sa.Column("present_key", sa.LargeBinary(), nullable=False),
        sa.Column("former", sa.Text(), nullable=False),
        sa.Column("present", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_id", "at", "former_key", "present_key"),
    )
