"""Runs the migrations on the connection that `headwater.store.migrations.upgrade` hands over."""

from alembic import context

from headwater.store.schema import VERSION_TABLE, metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, version_table=VERSION_TABLE)
context.run_migrations()
