"""The first schema: every table of `headwater.store.schema`, and the indexes of words in texts.

No release has it yet. The first change of the schema after one writes these tables down here as they were.
"""

from alembic import op

from headwater.store.schema import metadata
from headwater.store.schema.text_index import index_statements

revision = "r0001"
down_revision = None


def upgrade() -> None:
    """Create every table and index."""
    connection = op.get_bind()
    metadata.create_all(connection)
    for statement in index_statements(connection):
        connection.exec_driver_sql(statement)
