"""The ``headwater_names`` dataset facet: what a statement did to the names of a dataset and of its fields.

The specification knows one previous name of a dataset (``lifecycleStateChange``) and none of a field; a table has a
location and a name in a catalog, of which DROP and RENAME may change one or both.
"""

import attr
from openlineage.client.generated.base import DatasetFacet
from openlineage.client.utils import RedactMixin

from headwater.model import Dataset, DatasetDescription
from headwater.openlineage.identifiers import own_schema


@attr.define
class NamedDataset(RedactMixin):
    """A dataset by its name."""

    namespace: str
    name: str


@attr.define
class DatasetNameChange(RedactMixin):
    """A name that the dataset had, and the one instead; without one, the dataset was dropped."""

    previous: NamedDataset
    current: NamedDataset | None = None


@attr.define
class FieldNameChange(RedactMixin):
    """A name that a field had, and the one instead."""

    previous: str
    current: str


@attr.define
class HeadwaterNamesDatasetFacet(DatasetFacet):
    """Which names changed when the run completed; its schema is ``schemas/HeadwaterNamesDatasetFacet.json``."""

    names: list[DatasetNameChange]
    fields: list[FieldNameChange]

    @staticmethod
    def _get_schema() -> str:
        return own_schema("HeadwaterNamesDatasetFacet")


def names_facet(seen: DatasetDescription, producer: str) -> HeadwaterNamesDatasetFacet | None:
    """The facet of a dataset; None when no name changed."""
    if not seen.names and not seen.fields:
        return None
    names = [
        DatasetNameChange(_named(change.former), _named(change.present) if change.present else None)
        for change in seen.names
    ]
    fields = [FieldNameChange(change.former, change.present) for change in seen.fields]
    return HeadwaterNamesDatasetFacet(names, fields, producer=producer)


def _named(dataset: Dataset) -> NamedDataset:
    return NamedDataset(dataset.namespace, dataset.name)
