"""The tables of the store, the same for SQLite and PostgreSQL.

Current edges stand in ``edge`` and ``dataset_edge``, one row each; what is no longer so moves to the
``_history`` tables and is read only by questions that ask for another time. Moments are microseconds
since 1970 UTC. Keys are digests, because a name may be longer than PostgreSQL can index.
"""

from headwater.store.schema.base import REVISIONS as REVISIONS
from headwater.store.schema.base import UNRELEASED as UNRELEASED
from headwater.store.schema.base import VERSION_TABLE as VERSION_TABLE
from headwater.store.schema.base import metadata as metadata
from headwater.store.schema.edges import dataset_edge as dataset_edge
from headwater.store.schema.edges import dataset_edge_history as dataset_edge_history
from headwater.store.schema.edges import edge as edge
from headwater.store.schema.edges import edge_change as edge_change
from headwater.store.schema.edges import edge_history as edge_history
from headwater.store.schema.edges import lineage as lineage
from headwater.store.schema.edges import replacement as replacement
from headwater.store.schema.edges import transformation as transformation
from headwater.store.schema.names import HAS_FIELDS_WITHIN as HAS_FIELDS_WITHIN
from headwater.store.schema.names import dataset as dataset
from headwater.store.schema.names import dataset_change as dataset_change
from headwater.store.schema.names import dataset_name as dataset_name
from headwater.store.schema.names import field as field
from headwater.store.schema.names import field_description as field_description
from headwater.store.schema.names import field_name as field_name
from headwater.store.schema.names import field_rename as field_rename
from headwater.store.schema.names import field_twin as field_twin
from headwater.store.schema.names import symlink as symlink
from headwater.store.schema.people import HAS_NESTED_LINEAGE as HAS_NESTED_LINEAGE
from headwater.store.schema.people import api_key as api_key
from headwater.store.schema.people import facet as facet
from headwater.store.schema.people import namespace as namespace
from headwater.store.schema.people import schedule as schedule
from headwater.store.schema.people import secret as secret
from headwater.store.schema.people import source as source
from headwater.store.schema.people import tag as tag
from headwater.store.schema.people import tag_text as tag_text
from headwater.store.schema.people import tagging as tagging
from headwater.store.schema.runs import dataset_schema as dataset_schema
from headwater.store.schema.runs import event as event
from headwater.store.schema.runs import gap as gap
from headwater.store.schema.runs import job as job
from headwater.store.schema.runs import run as run
from headwater.store.schema.runs import run_dataset as run_dataset
