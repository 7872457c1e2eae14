"""The tables of what a server keeps beside lineage: facets, what people say of things, and keys."""

from sqlalchemy import BigInteger, Column, Index, LargeBinary, PrimaryKeyConstraint, Table, Text, UniqueConstraint, text

from headwater.openlineage.identifiers import NESTED
from headwater.store.schema.base import ID, metadata
from headwater.store.sql.databases import CLUSTERED, where

facet = Table(
    "facet",
    metadata,
    Column("dataset_id", ID, nullable=False),
    Column("job_id", ID, nullable=False),
    Column("name", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("event_digest", LargeBinary, nullable=False),
    PrimaryKeyConstraint("dataset_id", "job_id", "name"),
    Index("facet_nested", "dataset_id", **where(f"name = '{NESTED}'")),
    **CLUSTERED,
)
"""The latest event with a facet of a dataset or of a job; the other of the two ids is 0."""

HAS_NESTED_LINEAGE = text(f"name = '{NESTED}'")
"""In the words of the index, which SQLite uses for no others."""

namespace = Table(
    "namespace",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("name", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("hidden_at", BigInteger),
)
"""Descriptions and owners of namespaces; one without a row is known by its datasets and jobs alone."""

source = Table(
    "source",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("name", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
)

tag = Table(
    "tag",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
)

tagging = Table(
    "tagging",
    metadata,
    Column("dataset_id", ID, nullable=False),
    Column("job_id", ID, nullable=False),
    Column("field_id", ID, nullable=False),
    Column("path", Text, nullable=False, server_default=""),
    Column("tag_key", LargeBinary, nullable=False),
    Column("tag", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    PrimaryKeyConstraint("dataset_id", "job_id", "field_id", "path", "tag_key"),
    Index("tagging_tag", "tag_key"),
)
"""A tag on a dataset, on one of its fields, or on a job; ids that do not apply are 0.

``path`` is that of a field within the field, as Spark writes it, and empty for the field itself."""

tag_text = Table(
    "tag_text",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False),
    Column("tag_key", LargeBinary, nullable=False),
    Column("tag", Text, nullable=False),
    Column("value", Text, nullable=False),
    UniqueConstraint("key", name="tag_text_key"),
)
"""Every tag with every value that it has or had, once: what a search looks at (`headwater.store.schema.text_index`)."""

api_key = Table(
    "api_key",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("scope", Text, nullable=False),
    Column("namespaces", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger),
    Column("revoked_at", BigInteger),
)
"""``digest`` is of the secret, ``namespaces`` a JSON list of patterns."""

schedule = Table(
    "schedule",
    metadata,
    Column("name", Text, primary_key=True),
    Column("last_at", BigInteger, nullable=False),
)
"""Work that one of several processes does for all, and when it was begun last."""

secret = Table(
    "secret",
    metadata,
    Column("id", ID, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)
"""One row: random bytes in the ids of hidden datasets, so that nobody can guess their names."""
