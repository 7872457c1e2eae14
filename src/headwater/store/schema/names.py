"""The tables of names: datasets, what they are called and when, and their fields."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from headwater.model.time import BEGINNING, FOREVER
from headwater.store.schema.base import ID, metadata, of_the_few
from headwater.store.sql.databases import where

dataset = Table(
    "dataset",
    metadata,
    Column("id", ID, primary_key=True),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("source", Text),
    Column("source_at", BigInteger),
    Column("lifecycle", Text),
    Column("lifecycle_at", BigInteger),
    Column("version", Text),
    Column("version_at", BigInteger),
    Column("schema_digest", LargeBinary),
    Column("schema_at", BigInteger),
    Column("written_digest", LargeBinary),
    Column("written_at", BigInteger),
    Column("description", Text),
    Column("description_at", BigInteger),
    Column("first_at", BigInteger),
    Column("last_at", BigInteger),
    Column("hidden_at", BigInteger),
    of_the_few("dataset_hidden", "hidden_at"),
)
"""``schema`` is the latest of all events, ``written`` the latest of those that wrote it.
``first_at`` and ``last_at`` are when events first and last named it. Who deletes it hides it until it is named
again, by an event later than ``hidden_at``."""

dataset_name = Table(
    "dataset_name",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("folded", Text, nullable=False),
    Column("dataset_id", ID, ForeignKey("dataset.id"), nullable=False),
    Column("first_key", LargeBinary),
    Column("since", BigInteger, nullable=False, server_default=text(str(BEGINNING))),
    Column("until", BigInteger, nullable=False, server_default=text(str(FOREVER))),
    UniqueConstraint("key", name="dataset_name_key"),
    Index("dataset_name_dataset", "dataset_id"),
    of_the_few("dataset_name_first", "first_key"),
)
"""A name and the dataset that it means from a moment on, up to but not including another.

The first meaning of a name has the key of the name; that of a later one has the moment in it too, and the key of the
name is its ``first_key``.
"""

symlink = Table(
    "symlink",
    metadata,
    Column("name_id", ID, ForeignKey("dataset_name.id"), nullable=False),
    Column("other_id", ID, ForeignKey("dataset_name.id"), nullable=False),
    Column("type", Text, nullable=False),
    PrimaryKeyConstraint("name_id", "other_id"),
    Index("symlink_other", "other_id"),
)

HAS_FIELDS_WITHIN = text("replace(type, '<', '') <> type")
"""The condition of fields that may have others within, in the words of the index, which SQLite uses for no others."""

# Without a foreign key, for the same reason as edges.
field = Table(
    "field",
    metadata,
    Column("id", ID, primary_key=True),
    Column("dataset_id", ID, nullable=False),
    Column("name", Text, nullable=False),
    Column("key", LargeBinary, nullable=False),
    Column("folded_key", LargeBinary, nullable=False),
    Column("type", Text, nullable=False),
    Column("ordinal", Integer),
    Column("spelling", Text, nullable=False, server_default=""),
    Column("spelled_by", Integer, nullable=False, server_default="0"),
    UniqueConstraint("dataset_id", "key", name="field_key"),
    Index("field_folded", "folded_key"),
    Index("field_nested", "id", **where(HAS_FIELDS_WITHIN.text)),
)
"""``key`` is of the field's own name (`headwater.model.names.own_name`), ``name`` is shown; ``spelling`` and
``spelled_by`` decide how: `headwater.store.ingest.field_spelling`."""

field_description = Table(
    "field_description",
    metadata,
    Column("id", ID, primary_key=True, autoincrement=False),
    Column("dataset_id", ID, nullable=False),
    Column("description", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index("field_description_dataset", "dataset_id"),
)
"""The latest description of a field, by the field's id, with its moment; most fields have none."""

field_twin = Table(
    "field_twin",
    metadata,
    Column("dataset_id", ID, nullable=False),
    Column("key", LargeBinary, nullable=False),
    Column("name", Text, nullable=False),
    PrimaryKeyConstraint("dataset_id", "key"),
)
"""Names in lower case that several fields of a dataset have, each in a spelling of its own."""

field_name = Table(
    "field_name",
    metadata,
    Column("key", LargeBinary, primary_key=True),
    Column("folded_key", LargeBinary, nullable=False),
    Column("name", Text, nullable=False),
)
"""Every name that fields have or had, once: there are far fewer than fields, and a search looks at these."""

field_rename = Table(
    "field_rename",
    metadata,
    Column("dataset_id", ID, ForeignKey("dataset.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("former_key", LargeBinary, nullable=False),
    Column("present_key", LargeBinary, nullable=False),
    Column("former", Text, nullable=False),
    Column("present", Text, nullable=False),
    PrimaryKeyConstraint("dataset_id", "at", "former_key", "present_key"),
)
"""When a field of a dataset got another name. A field's own row has its present name, and the key of its first one."""

dataset_change = Table(
    "dataset_change",
    metadata,
    Column("run_id", ID, ForeignKey("run.id"), nullable=False),
    Column("dataset_id", ID, ForeignKey("dataset.id"), nullable=False),
    Column("schema_digest", LargeBinary),
    Column("schema_at", BigInteger),
    PrimaryKeyConstraint("run_id", "dataset_id"),
    Index("dataset_change_dataset", "dataset_id"),
)
"""Which run altered, renamed, emptied or dropped a dataset, without writing rows; and the schema that it left."""
