"""The tables of jobs, their runs, and their events."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    column,
    func,
)

from headwater.store.schema.base import ID, metadata, of_the_few

job = Table(
    "job",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False),
    Column("namespace", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("type", Text),
    Column("type_at", BigInteger),
    Column("sql", Text),
    Column("sql_at", BigInteger),
    Column("description", Text),
    Column("description_at", BigInteger),
    Column("location", Text),
    Column("location_at", BigInteger),
    Column("first_at", BigInteger),
    Column("last_at", BigInteger),
    Column("hidden_at", BigInteger),
    UniqueConstraint("key", name="job_key"),
    of_the_few("job_hidden", "hidden_at"),
)

run = Table(
    "run",
    metadata,
    Column("id", ID, primary_key=True),
    Column("uuid", Text, nullable=False),
    Column("job_id", ID, ForeignKey("job.id"), nullable=False),
    Column("parent_id", ID, ForeignKey("run.id")),
    Column("state", Text, nullable=False),
    Column("state_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("engine", Text, nullable=False),
    Column("error", Text),
    Column("error_at", BigInteger),
    Column("touched", LargeBinary),
    Column("shown", Text),
    UniqueConstraint("uuid", name="run_uuid"),
    Index("run_job", "job_id", "state_at"),
    Index("run_parent", "parent_id"),
    Index("run_touched", "job_id", "touched", "state_at"),
    Index("run_begun", "job_id", func.coalesce(column("started_at"), column("state_at")), "state"),
    Index("run_newest", "job_id", "id"),
    of_the_few("run_shown", "shown"),
)
"""``touched`` is equal for runs that read and wrote the same datasets, and missing for those that did neither.
``shown`` is the id of a run in an event of a key with limits, whose ``uuid`` has the namespace in it too
(`headwater.openlineage.reading.grants`)."""

# Without foreign keys, for the same reason as edges.
run_dataset = Table(
    "run_dataset",
    metadata,
    Column("run_id", ID, nullable=False),
    Column("dataset_id", ID, nullable=False),
    Column("written", Boolean, nullable=False),
    Column("has_lineage", Boolean, nullable=False),
    Column("at", BigInteger),
    Column("schema_digest", LargeBinary),
    Column("schema_at", BigInteger),
    PrimaryKeyConstraint("run_id", "dataset_id", "written"),
    Index("run_dataset_dataset", "dataset_id", "written", "at", "run_id"),
)
"""``at`` is since when there is what a run wrote: when it had lineage, else when it came into its present state.
``schema_digest`` is of the schema that the latest event of the run, at ``schema_at``, has of what it wrote."""

dataset_schema = Table(
    "dataset_schema",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("fields", Text, nullable=False),
)
"""Every schema that a version of a dataset has, once: the JSON of its fields (`headwater.store.ingest.write`)."""

gap = Table(
    "gap",
    metadata,
    Column("run_id", ID, ForeignKey("run.id"), nullable=False),
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
    Column("id", ID, primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("run_id", ID, ForeignKey("run.id")),
    Column("at", BigInteger, nullable=False),
    Column("type", Text, nullable=False),
    Column("has_lineage", Boolean, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    UniqueConstraint("digest", name="event_digest"),
    Index("event_run", "run_id", "type", "at"),
    Index("event_at", "at", "id", "type", "run_id"),
)
"""The indexes have all that lists and counts ask for: payloads make the rows long."""
