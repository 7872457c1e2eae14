"""The tables of the store, the same for SQLite and PostgreSQL.

Current edges stand in ``edge`` and ``dataset_edge``, one row each; what is no longer so moves to the
``_history`` tables and is read only by questions that ask for another time. Moments are microseconds
since 1970 UTC. Keys are digests, because a name may be longer than PostgreSQL can index.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)

REVISIONS = ("0001", "0002")
"""Every schema revision this version can read, oldest first."""

VERSION_TABLE = "headwater_version"
_ID = BigInteger().with_variant(Integer(), "sqlite")

FOREVER = 2**63 - 1
BEGINNING = -FOREVER

metadata = MetaData()

dataset = Table(
    "dataset",
    metadata,
    Column("id", _ID, primary_key=True),
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
)

dataset_name = Table(
    "dataset_name",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", LargeBinary, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("folded", Text, nullable=False),
    Column("dataset_id", _ID, ForeignKey("dataset.id"), nullable=False),
    Column("first_key", LargeBinary),
    Column("since", BigInteger, nullable=False, server_default=text(str(BEGINNING))),
    Column("until", BigInteger, nullable=False, server_default=text(str(FOREVER))),
    UniqueConstraint("key", name="dataset_name_key"),
    Index("dataset_name_dataset", "dataset_id"),
    Index("dataset_name_first", "first_key"),
)
"""A name and the dataset that it means from a moment on, up to but not including another.

The first meaning of a name has the key of the name; that of a later one has the moment in it too, and the key of the
name is its ``first_key``.
"""

symlink = Table(
    "symlink",
    metadata,
    Column("name_id", _ID, ForeignKey("dataset_name.id"), nullable=False),
    Column("other_id", _ID, ForeignKey("dataset_name.id"), nullable=False),
    Column("type", Text, nullable=False),
    PrimaryKeyConstraint("name_id", "other_id"),
    Index("symlink_other", "other_id"),
)

field = Table(
    "field",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("dataset_id", _ID, ForeignKey("dataset.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("key", LargeBinary, nullable=False),
    Column("folded_key", LargeBinary, nullable=False),
    Column("type", Text, nullable=False),
    Column("ordinal", Integer),
    UniqueConstraint("dataset_id", "key", name="field_key"),
    Index("field_folded", "folded_key"),
)

field_rename = Table(
    "field_rename",
    metadata,
    Column("dataset_id", _ID, ForeignKey("dataset.id"), nullable=False),
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
    Column("run_id", _ID, ForeignKey("run.id"), nullable=False),
    Column("dataset_id", _ID, ForeignKey("dataset.id"), nullable=False),
    PrimaryKeyConstraint("run_id", "dataset_id"),
    Index("dataset_change_dataset", "dataset_id"),
)
"""Which run altered, renamed, emptied or dropped a dataset, without writing rows."""

job = Table(
    "job",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", LargeBinary, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("type", Text),
    Column("type_at", BigInteger),
    Column("sql", Text),
    Column("sql_at", BigInteger),
    UniqueConstraint("key", name="job_key"),
)

run = Table(
    "run",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("uuid", Text, nullable=False),
    Column("job_id", _ID, ForeignKey("job.id"), nullable=False),
    Column("parent_id", _ID, ForeignKey("run.id")),
    Column("state", Text, nullable=False),
    Column("state_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("engine", Text, nullable=False),
    Column("error", Text),
    Column("error_at", BigInteger),
    UniqueConstraint("uuid", name="run_uuid"),
    Index("run_job", "job_id", "state_at"),
    Index("run_parent", "parent_id"),
)

run_dataset = Table(
    "run_dataset",
    metadata,
    Column("run_id", _ID, ForeignKey("run.id"), nullable=False),
    Column("dataset_id", _ID, ForeignKey("dataset.id"), nullable=False),
    Column("written", Boolean, nullable=False),
    Column("has_lineage", Boolean, nullable=False),
    PrimaryKeyConstraint("run_id", "dataset_id", "written"),
    Index("run_dataset_dataset", "dataset_id", "written"),
)

gap = Table(
    "gap",
    metadata,
    Column("run_id", _ID, ForeignKey("run.id"), nullable=False),
    Column("key", LargeBinary, nullable=False),
    Column("kind", Text, nullable=False),
    Column("what", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("output", Text, nullable=False),
    PrimaryKeyConstraint("run_id", "key"),
)

event = Table(
    "event",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("run_id", _ID, ForeignKey("run.id")),
    Column("at", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
    Column("has_lineage", Boolean, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    UniqueConstraint("digest", name="event_digest"),
    Index("event_run", "run_id"),
)

transformation = Table(
    "transformation",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("key", LargeBinary, nullable=False),
    Column("type", Text, nullable=False),
    Column("subtype", Text, nullable=False),
    Column("masking", Boolean, nullable=False),
    Column("opaque", Boolean, nullable=False),
    Column("description", Text, nullable=False),
    UniqueConstraint("key", name="transformation_key"),
)

lineage = Table(
    "lineage",
    metadata,
    Column("job_id", _ID, ForeignKey("job.id"), nullable=False),
    Column("output_id", _ID, ForeignKey("dataset.id"), nullable=False),
    Column("run_id", _ID, ForeignKey("run.id"), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    PrimaryKeyConstraint("job_id", "output_id", "run_id"),
    Index("lineage_output", "output_id"),
    Index("lineage_run", "run_id"),
)
"""Which successful run said what about (job, output dataset); equal digests mean equal edges."""


def _edges(name: str, output: Column[int], *, history: bool) -> Table:
    key = [output.name, "input_field", "job_id", "transformation_id"]
    until = [Column("valid_to", BigInteger, nullable=False)] if history else []
    return Table(
        name,
        metadata,
        output,
        Column("input_field", _ID, ForeignKey("field.id"), nullable=False),
        Column("job_id", _ID, ForeignKey("job.id"), nullable=False),
        Column("transformation_id", _ID, ForeignKey("transformation.id"), nullable=False),
        Column("valid_from", BigInteger, nullable=False),
        *until,
        PrimaryKeyConstraint(*key, *(["valid_from"] if history else [])),
        Index(f"{name}_down", "input_field", output.name, "job_id", "transformation_id"),
        sqlite_with_rowid=False,
    )


def _to_field() -> Column[int]:
    return Column("output_field", _ID, ForeignKey("field.id"), nullable=False)


def _to_dataset() -> Column[int]:
    return Column("output_dataset", _ID, ForeignKey("dataset.id"), nullable=False)


edge = _edges("edge", _to_field(), history=False)
edge_history = _edges("edge_history", _to_field(), history=True)
dataset_edge = _edges("dataset_edge", _to_dataset(), history=False)
dataset_edge_history = _edges("dataset_edge_history", _to_dataset(), history=True)
