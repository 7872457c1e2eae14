"""Fields without a foreign key, which takes PostgreSQL as long as to write them."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Drops it, for which SQLite copies the fields."""
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        for key in sa.inspect(connection).get_foreign_keys("field"):
            op.drop_constraint(str(key["name"]), "field", type_="foreignkey")
        return
    with op.batch_alter_table("field", copy_from=_field(), recreate="always"):
        pass


def _field() -> sa.Table:
    return sa.Table(
        "field",
        sa.MetaData(),
        sa.Column("id", _ID, primary_key=True),
        sa.Column("dataset_id", _ID, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("key", sa.LargeBinary, nullable=False),
        sa.Column("folded_key", sa.LargeBinary, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("ordinal", sa.Integer),
        sa.UniqueConstraint("dataset_id", "key", name="field_key"),
        sa.Index("field_folded", "folded_key"),
    )
