"""Indexes that hold the few rows with a value: a planner that has counted does not believe in those of all NULLs."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Makes them."""
    op.drop_index("dataset_name_first", "dataset_name")
    _of_the_few("dataset_name_first", "dataset_name", "first_key")
    for table in ("dataset", "job"):
        _of_the_few(f"{table}_hidden", table, "hidden_at")


def _of_the_few(name: str, table: str, column: str) -> None:
    there = sa.text(f"{column} IS NOT NULL")
    op.create_index(name, table, [column], sqlite_where=there, postgresql_where=there)
