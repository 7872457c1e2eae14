"""The tables of the store, the same for SQLite and PostgreSQL.

Current edges stand in ``edge`` and ``dataset_edge``, one row each; what is no longer so moves to the
``_history`` tables and is read only by questions that ask for another time. Moments are microseconds
since 1970 UTC. Keys are digests, because a name may be longer than PostgreSQL can index.
"""

from headwater.store.schema.base import REVISIONS, UNRELEASED, VERSION_TABLE, metadata
from headwater.store.schema.edges import (
    dataset_edge,
    dataset_edge_history,
    edge,
    edge_change,
    edge_history,
    lineage,
    replacement,
    transformation,
)
from headwater.store.schema.names import (
    dataset,
    dataset_change,
    dataset_name,
    field,
    field_description,
    field_name,
    field_rename,
    field_twin,
    symlink,
)
from headwater.store.schema.people import api_key, facet, namespace, schedule, secret, source, tag, tag_text, tagging
from headwater.store.schema.runs import dataset_schema, event, gap, job, run, run_dataset

__all__ = [
    "REVISIONS",
    "UNRELEASED",
    "VERSION_TABLE",
    "api_key",
    "dataset",
    "dataset_change",
    "dataset_edge",
    "dataset_edge_history",
    "dataset_name",
    "dataset_schema",
    "edge",
    "edge_change",
    "edge_history",
    "event",
    "facet",
    "field",
    "field_description",
    "field_name",
    "field_rename",
    "field_twin",
    "gap",
    "job",
    "lineage",
    "metadata",
    "namespace",
    "replacement",
    "run",
    "run_dataset",
    "schedule",
    "secret",
    "source",
    "symlink",
    "tag",
    "tag_text",
    "tagging",
    "transformation",
]
