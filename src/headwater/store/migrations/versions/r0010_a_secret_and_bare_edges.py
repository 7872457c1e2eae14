"""A secret of the store; and edges without foreign keys, which take PostgreSQL ten times as long as the edges."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Makes the one, empty, and drops the others, for which SQLite copies the edges."""
    secret = (sa.Column("id", _ID, primary_key=True), sa.Column("value", sa.LargeBinary, nullable=False))
    op.create_table("secret", *secret)
    for name, output in (("edge", "output_field"), ("dataset_edge", "output_dataset")):
        _without_keys(name, output, [])
        _without_keys(f"{name}_history", output, [sa.Column("valid_to", sa.BigInteger, nullable=False)])


def _without_keys(name: str, output: str, until: list[sa.Column[int]]) -> None:
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        for key in sa.inspect(connection).get_foreign_keys(name):
            op.drop_constraint(str(key["name"]), name, type_="foreignkey")
        return
    with op.batch_alter_table(name, copy_from=_table(name, output, until), recreate="always"):
        pass


def _table(name: str, output: str, until: list[sa.Column[int]]) -> sa.Table:
    key = [output, "input_field", "job_id", "transformation_id"]
    return sa.Table(
        name,
        sa.MetaData(),
        *(sa.Column(column, _ID, nullable=False) for column in key),
        sa.Column("valid_from", sa.BigInteger, nullable=False),
        *until,
        sa.PrimaryKeyConstraint(*key, *(["valid_from"] if until else [])),
        sa.Index(f"{name}_down", "input_field", output, "job_id", "transformation_id"),
        sqlite_with_rowid=False,
    )
