"""Alembic's scripts for the schema of the store, shipped with the package."""
