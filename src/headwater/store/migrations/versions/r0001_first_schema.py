"""The first schema: names, runs, lineage with its edges, descriptions, and the indexes of words in texts."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

from headwater.store.sql.databases import CLUSTERED, ID, database_of, where

revision = "r0001"
down_revision = None

TEXT, MOMENT, BYTES, FLAG = sa.Text(), sa.BigInteger(), sa.LargeBinary(), sa.Boolean()
FOREVER = 2**63 - 1
INDEXED = {
    "job": ("sql", "description"),
    "dataset": ("description",),
    "field_description": ("description",),
    "tag_text": ("tag", "value"),
}


def upgrade() -> None:
    """Create every table and index."""
    _datasets()
    _names()
    _fields()
    _jobs()
    _runs()
    _parts_of_runs()
    _events()
    _lineage()
    _replacements()
    _descriptions()
    _tags()
    _servers()
    for name, output in (("edge", "output_field"), ("dataset_edge", "output_dataset")):
        _edges(name, output)
        _edges(f"{name}_history", output, sa.Column("valid_to", MOMENT, nullable=False))
    connection = op.get_bind()
    for table, columns in INDEXED.items():
        for statement in database_of(connection).text_index(table, columns):
            connection.exec_driver_sql(statement)


def _columns(kind: TypeEngine[Any], *names: str, nullable: bool = False) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=nullable) for name in names]


def _edges(name: str, output: str, *until: sa.Column[int]) -> None:
    key = [output, "input_field", "job_id", "transformation_id"]
    op.create_table(
        name,
        *_columns(ID, *key),
        sa.Column("valid_from", MOMENT, nullable=False),
        *until,
        sa.PrimaryKeyConstraint(*key, *(["valid_from"] if until else [])),
        **CLUSTERED,
    )
    op.create_index(f"{name}_down", name, ["input_field", output, "job_id", "transformation_id"])


def _datasets() -> None:
    op.create_table(
        "dataset",
        sa.Column("id", ID, primary_key=True),
        *_columns(TEXT, "namespace", "name"),
        sa.Column("source", TEXT),
        sa.Column("source_at", MOMENT),
        sa.Column("lifecycle", TEXT),
        sa.Column("lifecycle_at", MOMENT),
        sa.Column("version", TEXT),
        sa.Column("version_at", MOMENT),
        sa.Column("schema_digest", BYTES),
        sa.Column("schema_at", MOMENT),
        sa.Column("written_digest", BYTES),
        sa.Column("written_at", MOMENT),
        sa.Column("description", TEXT),
        *_columns(MOMENT, "description_at", "first_at", "last_at", "hidden_at", nullable=True),
    )
    op.create_index("dataset_hidden", "dataset", ["hidden_at"], **where("hidden_at IS NOT NULL"))


def _names() -> None:
    op.create_table(
        "dataset_name",
        sa.Column("id", ID, primary_key=True),
        sa.Column("key", BYTES, nullable=False),
        *_columns(TEXT, "namespace", "name", "folded"),
        sa.Column("dataset_id", ID, sa.ForeignKey("dataset.id"), nullable=False),
        sa.Column("first_key", BYTES),
        sa.Column("since", MOMENT, server_default=sa.text(str(-FOREVER)), nullable=False),
        sa.Column("until", MOMENT, server_default=sa.text(str(FOREVER)), nullable=False),
        sa.UniqueConstraint("key", name="dataset_name_key"),
    )
    op.create_index("dataset_name_dataset", "dataset_name", ["dataset_id"])
    op.create_index("dataset_name_first", "dataset_name", ["first_key"], **where("first_key IS NOT NULL"))
    op.create_table(
        "symlink",
        sa.Column("name_id", ID, sa.ForeignKey("dataset_name.id"), nullable=False),
        sa.Column("other_id", ID, sa.ForeignKey("dataset_name.id"), nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("name_id", "other_id"),
    )
    op.create_index("symlink_other", "symlink", ["other_id"])


def _fields() -> None:
    op.create_table(
        "field",
        sa.Column("id", ID, primary_key=True),
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        *_columns(BYTES, "key", "folded_key"),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("ordinal", sa.Integer()),
        sa.Column("spelling", TEXT, server_default="", nullable=False),
        sa.Column("spelled_by", sa.Integer(), server_default="0", nullable=False),
        sa.UniqueConstraint("dataset_id", "key", name="field_key"),
    )
    op.create_index("field_folded", "field", ["folded_key"])
    op.create_table(
        "field_name",
        sa.Column("key", BYTES, primary_key=True),
        sa.Column("folded_key", BYTES, nullable=False),
        sa.Column("name", TEXT, nullable=False),
    )
    op.create_table(
        "field_twin",
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("key", BYTES, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("dataset_id", "key"),
    )
    op.create_table(
        "field_rename",
        sa.Column("dataset_id", ID, sa.ForeignKey("dataset.id"), nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        *_columns(BYTES, "former_key", "present_key"),
        *_columns(TEXT, "former", "present"),
        sa.PrimaryKeyConstraint("dataset_id", "at", "former_key", "present_key"),
    )


def _jobs() -> None:
    op.create_table(
        "job",
        sa.Column("id", ID, primary_key=True),
        sa.Column("key", BYTES, nullable=False),
        *_columns(TEXT, "namespace", "name"),
        sa.Column("type", TEXT),
        sa.Column("type_at", MOMENT),
        sa.Column("sql", TEXT),
        sa.Column("sql_at", MOMENT),
        sa.Column("description", TEXT),
        sa.Column("description_at", MOMENT),
        sa.Column("location", TEXT),
        *_columns(MOMENT, "location_at", "first_at", "last_at", "hidden_at", nullable=True),
        sa.UniqueConstraint("key", name="job_key"),
    )
    op.create_index("job_hidden", "job", ["hidden_at"], **where("hidden_at IS NOT NULL"))


def _runs() -> None:
    op.create_table(
        "run",
        sa.Column("id", ID, primary_key=True),
        sa.Column("uuid", TEXT, nullable=False),
        sa.Column("job_id", ID, sa.ForeignKey("job.id"), nullable=False),
        sa.Column("parent_id", ID, sa.ForeignKey("run.id")),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("state_at", MOMENT, nullable=False),
        sa.Column("started_at", MOMENT),
        sa.Column("engine", TEXT, nullable=False),
        sa.Column("error", TEXT),
        sa.Column("error_at", MOMENT),
        sa.Column("touched", BYTES),
        sa.Column("shown", TEXT),
        sa.UniqueConstraint("uuid", name="run_uuid"),
    )
    op.create_index("run_job", "run", ["job_id", "state_at"])
    op.create_index("run_newest", "run", ["job_id", "id"])
    op.create_index("run_parent", "run", ["parent_id"])
    op.create_index("run_shown", "run", ["shown"], **where("shown IS NOT NULL"))
    op.create_index("run_touched", "run", ["job_id", "touched", "state_at"])
    begun = sa.text("coalesce(started_at, state_at)")
    op.create_index("run_begun", "run", ["job_id", begun, "state"])


def _parts_of_runs() -> None:
    op.create_table(
        "run_dataset",
        *_columns(ID, "run_id", "dataset_id"),
        *_columns(FLAG, "written", "has_lineage"),
        sa.Column("at", MOMENT),
        sa.Column("schema_digest", BYTES),
        sa.Column("schema_at", MOMENT),
        sa.PrimaryKeyConstraint("run_id", "dataset_id", "written"),
    )
    op.create_index("run_dataset_dataset", "run_dataset", ["dataset_id", "written", "at", "run_id"])
    op.create_table(
        "dataset_change",
        sa.Column("run_id", ID, sa.ForeignKey("run.id"), nullable=False),
        sa.Column("dataset_id", ID, sa.ForeignKey("dataset.id"), nullable=False),
        sa.Column("schema_digest", BYTES),
        sa.Column("schema_at", MOMENT),
        sa.PrimaryKeyConstraint("run_id", "dataset_id"),
    )
    op.create_index("dataset_change_dataset", "dataset_change", ["dataset_id"])
    op.create_table(
        "dataset_schema",
        sa.Column("digest", BYTES, primary_key=True),
        sa.Column("fields", TEXT, nullable=False),
    )
    op.create_table(
        "gap",
        sa.Column("run_id", ID, sa.ForeignKey("run.id"), nullable=False),
        sa.Column("key", BYTES, nullable=False),
        *_columns(TEXT, "kind", "what", "why", "output"),
        sa.PrimaryKeyConstraint("run_id", "key"),
    )


def _events() -> None:
    op.create_table(
        "event",
        sa.Column("id", ID, primary_key=True),
        sa.Column("digest", BYTES, nullable=False),
        sa.Column("run_id", ID, sa.ForeignKey("run.id")),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("type", TEXT, nullable=False),
        sa.Column("has_lineage", FLAG, nullable=False),
        sa.Column("payload", BYTES, nullable=False),
        sa.UniqueConstraint("digest", name="event_digest"),
    )
    op.create_index("event_at", "event", ["at", "id", "type", "run_id"])
    op.create_index("event_run", "event", ["run_id", "type", "at"])
    op.create_table(
        "facet",
        *_columns(ID, "dataset_id", "job_id"),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("event_digest", BYTES, nullable=False),
        sa.PrimaryKeyConstraint("dataset_id", "job_id", "name"),
        **CLUSTERED,
    )


def _lineage() -> None:
    op.create_table(
        "transformation",
        sa.Column("id", ID, primary_key=True),
        sa.Column("key", BYTES, nullable=False),
        *_columns(TEXT, "type", "subtype"),
        *_columns(FLAG, "masking", "opaque"),
        sa.Column("description", TEXT, nullable=False),
        sa.Column("reference", FLAG, server_default=sa.false(), nullable=False),
        sa.UniqueConstraint("key", name="transformation_key"),
    )
    op.create_table(
        "lineage",
        *_columns(ID, "job_id", "output_id", "run_id"),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("digest", BYTES, nullable=False),
        sa.PrimaryKeyConstraint("job_id", "output_id", "run_id"),
    )
    op.create_index("lineage_at", "lineage", ["job_id", "output_id", "at"])
    op.create_index("lineage_output", "lineage", ["output_id", "at", "job_id", "run_id"])
    op.create_index("lineage_run", "lineage", ["run_id"])
    op.create_table(
        "edge_change",
        sa.Column("id", ID, primary_key=True),
        sa.Column("mark", MOMENT, nullable=False),
        *_columns(ID, "job_id", "output_id"),
    )


def _replacements() -> None:
    op.create_table(
        "replacement",
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.Column("run_id", ID, nullable=False),
        *_columns(FLAG, "certain", "has_schema"),
        sa.Column("restores", FLAG, server_default=sa.false(), nullable=False),
        sa.PrimaryKeyConstraint("dataset_id", "at", "run_id"),
        **CLUSTERED,
    )
    op.create_index("replacement_possible", "replacement", ["dataset_id"], **where("NOT certain"))
    op.create_index("replacement_restores", "replacement", ["dataset_id"], **where("restores"))
    op.create_index("replacement_run", "replacement", ["run_id"])


def _descriptions() -> None:
    op.create_table(
        "field_description",
        sa.Column("id", ID, primary_key=True, autoincrement=False),
        sa.Column("dataset_id", ID, nullable=False),
        sa.Column("description", TEXT, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
    )
    op.create_index("field_description_dataset", "field_description", ["dataset_id"])
    op.create_table(
        "namespace",
        sa.Column("key", BYTES, primary_key=True),
        *_columns(TEXT, "name", "owner", "description"),
        *_columns(MOMENT, "created_at", "updated_at"),
        sa.Column("hidden_at", MOMENT),
    )
    op.create_table(
        "source",
        sa.Column("key", BYTES, primary_key=True),
        *_columns(TEXT, "name", "type", "url", "description"),
        *_columns(MOMENT, "created_at", "updated_at"),
    )


def _tags() -> None:
    op.create_table(
        "tag",
        sa.Column("key", BYTES, primary_key=True),
        *_columns(TEXT, "name", "description"),
    )
    op.create_table(
        "tagging",
        *_columns(ID, "dataset_id", "job_id", "field_id"),
        sa.Column("tag_key", BYTES, nullable=False),
        *_columns(TEXT, "tag", "value", "source"),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("dataset_id", "job_id", "field_id", "tag_key"),
    )
    op.create_index("tagging_tag", "tagging", ["tag_key"])
    op.create_table(
        "tag_text",
        sa.Column("id", ID, primary_key=True),
        *_columns(BYTES, "key", "tag_key"),
        *_columns(TEXT, "tag", "value"),
        sa.UniqueConstraint("key", name="tag_text_key"),
    )


def _servers() -> None:
    op.create_table(
        "api_key",
        sa.Column("id", TEXT, primary_key=True),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("digest", BYTES, nullable=False),
        *_columns(TEXT, "scope", "namespaces"),
        sa.Column("created_at", MOMENT, nullable=False),
        *_columns(MOMENT, "expires_at", "revoked_at", nullable=True),
    )
    op.create_table(
        "schedule",
        sa.Column("name", TEXT, primary_key=True),
        sa.Column("last_at", MOMENT, nullable=False),
    )
    op.create_table(
        "secret",
        sa.Column("id", ID, primary_key=True),
        sa.Column("value", BYTES, nullable=False),
    )
