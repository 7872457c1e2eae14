"""The ``subset`` facet of an output: the partition that a run was about, where it was about one."""

from openlineage.client.generated.base import OutputDatasetFacet
from openlineage.client.generated.base_subset_dataset import (
    OutputSubsetOutputDatasetFacet,
    Partition,
    PartitionSubsetCondition,
)

from headwater.model import DatasetDescription


def output_facets(
    seen: DatasetDescription, disabled: frozenset[str], producer: str
) -> dict[str, OutputDatasetFacet] | None:
    """The facets that only an output has (OutputSubsetOutputDatasetFacet 1-0-0); None when there is none."""
    if not seen.partition or "subset" in disabled:
        return None
    condition = PartitionSubsetCondition([Partition(dict(seen.partition))])
    return {"subset": OutputSubsetOutputDatasetFacet(condition, producer=producer)}
