"""The owners of datasets: by the ownership facet of events, and by a tag."""

from collections.abc import Mapping

from sqlalchemy import Connection, select

from headwater.openlineage.reading.json_values import record, records, text
from headwater.policies.selectors import Names
from headwater.store import schema
from headwater.store.catalog import events
from headwater.store.ingest.tags import tag_key

OWNER = "owner"
"""The tag that names the owner of a column or a dataset."""


def owners_of_datasets(connection: Connection, every: Names) -> Mapping[int, tuple[str, ...]]:
    """Return the owners of each dataset: of OwnershipDatasetFacet, and the values of the tag `OWNER`."""
    found = {
        dataset: {text(one, "name") for one in records(record(own, "ownership"), "owners")} - {""}
        for dataset, own in events.of_datasets(connection, list(every.datasets)).items()
    }
    own = schema.tagging.c
    tagged = select(own.dataset_id, own.value).where(own.tag_key == tag_key(OWNER), own.field_id == 0, own.job_id == 0)
    for dataset, owner in connection.execute(tagged):
        found.setdefault(dataset, set()).add(owner)
    return {dataset: tuple(sorted(some)) for dataset, some in found.items()}
