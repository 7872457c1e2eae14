"""The first schema: names, runs, lineage and its edges."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Creates every table."""
    _datasets()
    _symlinks()
    _fields()
    _jobs()
    _runs()
    _run_datasets()
    _events()
    _transformations()
    _lineage()
    for output, referred in (("output_field", "field.id"), ("output_dataset", "dataset.id")):
        name = "edge" if referred == "field.id" else "dataset_edge"
        _edges(name, output, referred)
        _edges(f"{name}_history", output, referred, sa.Column("valid_to", sa.BigInteger(), nullable=False))


def _edges(name: str, output: str, referred: str, *until: sa.Column[int]) -> None:
    key = [output, "input_field", "job_id", "transformation_id"]
    op.create_table(
        name,
        sa.Column(output, ID, sa.ForeignKey(referred), nullable=False),
        sa.Column("input_field", ID, sa.ForeignKey("field.id"), nullable=False),
        sa.Column("job_id", ID, sa.ForeignKey("job.id"), nullable=False),
        sa.Column("transformation_id", ID, sa.ForeignKey("transformation.id"), nullable=False),
        sa.Column("valid_from", sa.BigInteger(), nullable=False),
        *until,
        sa.PrimaryKeyConstraint(*key, *(["valid_from"] if until else [])),
        sqlite_with_rowid=False,
    )
    op.create_index(f"{name}_down", name, ["input_field", output, "job_id", "transformation_id"])


def _datasets() -> None:
    op.create_table(
        "dataset",
        sa.Column("id", ID, nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=True),
        sa.Column("source_at", sa.BigInteger(), nullable=True),
        sa.Column("lifecycle", sa.Text(), nullable=True),
        sa.Column("lifecycle_at", sa.BigInteger(), nullable=True),
        sa.Column("version", sa.Text(), nullable=True),
        sa.Column("version_at", sa.BigInteger(), nullable=True),
        sa.Column("schema_digest", sa.LargeBinary(), nullable=True),
        sa.Column("schema_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "dataset_name",
        sa.Column("id", ID, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("dataset_id", ID, nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key", name="dataset_name_key"),
    )
    op.create_index("dataset_name_dataset", "dataset_name", ["dataset_id"])


def _symlinks() -> None:
    op.create_table(
        "symlink",
        sa.Column("name_id", ID, nullable=False),
        sa.Column("other_id", ID, nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["name_id"], ["dataset_name.id"]),
        sa.ForeignKeyConstraint(["other_id"], ["dataset_name.id"]),
        sa.PrimaryKeyConstraint("name_id", "other_id"),
    )
    op.create_index("symlink_other", "symlink", ["other_id"])


def _fields() -> None:
    op.create_table(
        "field",
        sa.Column("id", ID, nullable=False),
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("folded_key", sa.LargeBinary(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("dataset_id", "key", name="field_key"),
    )
    op.create_index("field_folded", "field", ["folded_key"])


def _jobs() -> None:
    op.create_table(
        "job",
        sa.Column("id", ID, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("namespace", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=True),
        sa.Column("type_at", sa.BigInteger(), nullable=True),
        sa.Column("sql", sa.Text(), nullable=True),
        sa.Column("sql_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key", name="job_key"),
    )


def _runs() -> None:
    op.create_table(
        "run",
        sa.Column("id", ID, nullable=False),
        sa.Column("uuid", sa.Text(), nullable=False),
        sa.Column("job_id", ID, nullable=False),
        sa.Column("parent_id", ID, nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("state_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("error_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"]),
        sa.ForeignKeyConstraint(["parent_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("uuid", name="run_uuid"),
    )
    op.create_index("run_job", "run", ["job_id", "state_at"])
    op.create_index("run_parent", "run", ["parent_id"])


def _run_datasets() -> None:
    op.create_table(
        "run_dataset",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("written", sa.Boolean(), nullable=False),
        sa.Column("has_lineage", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id", "dataset_id", "written"),
    )
    op.create_index("run_dataset_dataset", "run_dataset", ["dataset_id", "written"])


def _events() -> None:
    op.create_table(
        "gap",
        sa.Column("run_id", ID, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("output", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("run_id", "key"),
    )
    op.create_table(
        "event",
        sa.Column("id", ID, nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("run_id", ID, nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("has_lineage", sa.Boolean(), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest", name="event_digest"),
    )
    op.create_index("event_run", "event", ["run_id"])


def _transformations() -> None:
    op.create_table(
        "transformation",
        sa.Column("id", ID, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("subtype", sa.Text(), nullable=False),
        sa.Column("masking", sa.Boolean(), nullable=False),
        sa.Column("opaque", sa.Boolean(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key", name="transformation_key"),
    )


def _lineage() -> None:
    op.create_table(
        "lineage",
        sa.Column("job_id", ID, nullable=False),
        sa.Column("output_id", ID, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"]),
        sa.ForeignKeyConstraint(["output_id"], ["dataset.id"]),
        sa.ForeignKeyConstraint(["run_id"], ["run.id"]),
        sa.PrimaryKeyConstraint("job_id", "output_id", "run_id"),
    )
    op.create_index("lineage_output", "lineage", ["output_id"])
    op.create_index("lineage_run", "lineage", ["run_id"])
