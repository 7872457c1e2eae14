"""The tables of edges: those that are so now, and those that were."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from headwater.store.schema.base import ID, metadata
from headwater.store.sql.databases import CLUSTERED, where

transformation = Table(
    "transformation",
    metadata,
    Column("id", ID, primary_key=True),
    Column("key", LargeBinary, nullable=False),
    Column("type", Text, nullable=False),
    Column("subtype", Text, nullable=False),
    Column("masking", Boolean, nullable=False),
    Column("opaque", Boolean, nullable=False),
    Column("description", Text, nullable=False),
    Column("reference", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("key", name="transformation_key"),
)
"""``reference`` is of edges from a dataset that the sender of the event does not own (`openlineage.reading.grants`)."""

# Without foreign keys, which PostgreSQL takes ten times as long to look up as to write an edge: one transaction writes
# at a time, takes ids from rows that it has, and tests count that each row names what there is.
lineage = Table(
    "lineage",
    metadata,
    Column("job_id", ID, nullable=False),
    Column("output_id", ID, nullable=False),
    Column("run_id", ID, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    PrimaryKeyConstraint("job_id", "output_id", "run_id"),
    Index("lineage_at", "job_id", "output_id", "at"),
    Index("lineage_output", "output_id", "at", "job_id", "run_id"),
    Index("lineage_run", "run_id"),
)
"""The edges that each successful run had for (job, output dataset); equal digests mean equal edges."""

replacement = Table(
    "replacement",
    metadata,
    Column("dataset_id", ID, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("run_id", ID, nullable=False),
    Column("certain", Boolean, nullable=False),
    Column("has_schema", Boolean, nullable=False),
    Column("restores", Boolean, nullable=False, server_default=false()),
    PrimaryKeyConstraint("dataset_id", "at", "run_id"),
    Index("replacement_run", "run_id"),
    Index("replacement_possible", "dataset_id", **where("NOT certain")),
    Index("replacement_restores", "dataset_id", **where("restores")),
    **CLUSTERED,
)
"""Which successful run replaced all rows of a dataset, and when it ended; or may have, where it is not ``certain``.
``restores`` says by those of an earlier version (`headwater.store.ingest.replacements`).
``has_schema`` says that it has the columns that the dataset has since."""

edge_change = Table(
    "edge_change",
    metadata,
    Column("id", ID, primary_key=True),
    Column("mark", BigInteger, nullable=False),
    Column("job_id", ID, nullable=False),
    Column("output_id", ID, nullable=False),
)
"""Of which (job, output dataset) the edges were written, in the order of writing: `headwater.store.graph.timeline`.

They may be gone by now, both. ``mark`` is a number by chance."""


def _edges(name: str, output: Column[int], *, history: bool) -> Table:
    key = [output.name, "input_field", "job_id", "transformation_id"]
    until = [Column("valid_to", BigInteger, nullable=False)] if history else []
    return Table(
        name,
        metadata,
        output,
        Column("input_field", ID, nullable=False),
        Column("job_id", ID, nullable=False),
        Column("transformation_id", ID, nullable=False),
        Column("valid_from", BigInteger, nullable=False),
        *until,
        PrimaryKeyConstraint(*key, *(["valid_from"] if history else [])),
        Index(f"{name}_down", "input_field", output.name, "job_id", "transformation_id"),
        **CLUSTERED,
    )


def _to_field() -> Column[int]:
    return Column("output_field", ID, nullable=False)


def _to_dataset() -> Column[int]:
    return Column("output_dataset", ID, nullable=False)


edge = _edges("edge", _to_field(), history=False)
edge_history = _edges("edge_history", _to_field(), history=True)
dataset_edge = _edges("dataset_edge", _to_dataset(), history=False)
dataset_edge_history = _edges("dataset_edge_history", _to_dataset(), history=True)
