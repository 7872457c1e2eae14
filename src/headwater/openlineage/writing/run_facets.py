"""Facets that a dataset has as the input or output of one run: how much was read or written, and which partition."""

from collections.abc import Set
from typing import Any

import attr
from openlineage.client.generated import column_lineage_dataset
from openlineage.client.generated.base import InputDatasetFacet, OutputDatasetFacet
from openlineage.client.generated.base_subset_dataset import (
    OutputSubsetOutputDatasetFacet,
    Partition,
    PartitionSubsetCondition,
)
from openlineage.client.generated.input_statistics_input_dataset import InputStatisticsInputDatasetFacet
from openlineage.client.generated.output_statistics_output_dataset import OutputStatisticsOutputDatasetFacet

from headwater.model import DatasetDescription
from headwater.openlineage.identifiers import WRITE, own_schema


@attr.define
class HeadwaterWriteOutputDatasetFacet(OutputDatasetFacet):
    """Which rows a write replaces; its schema is ``schemas/HeadwaterWriteOutputDatasetFacet.json``.

    ``earlier`` is lineage in the form of ``columnLineage``, ``restores`` an object that may have ``version``.
    """

    replaces: str
    earlier: dict[str, Any] | None = None
    restores: dict[str, str] | None = None

    @staticmethod
    def _get_schema() -> str:
        return own_schema("HeadwaterWriteOutputDatasetFacet")


def input_facets(seen: DatasetDescription, disabled: Set[str], producer: str) -> dict[str, InputDatasetFacet]:
    """The facets that only an input has (InputStatisticsInputDatasetFacet 1-0-0)."""
    counts = seen.statistics
    if counts is None or "inputStatistics" in disabled:
        return {}
    facet = InputStatisticsInputDatasetFacet(counts.rows, counts.size, counts.files, producer=producer)
    return {"inputStatistics": facet}


def output_facets(
    seen: DatasetDescription,
    disabled: Set[str],
    producer: str,
    earlier: column_lineage_dataset.ColumnLineageDatasetFacet | None = None,
    restores: str | None = None,
) -> dict[str, OutputDatasetFacet]:
    """The facets that only an output has (OutputSubset… 1-0-0, OutputStatisticsOutputDatasetFacet 1-0-2, our own)."""
    found: dict[str, OutputDatasetFacet] = {}
    counts = seen.statistics
    if seen.partition:
        condition = PartitionSubsetCondition([Partition(dict(seen.partition))])
        found["subset"] = OutputSubsetOutputDatasetFacet(condition, producer=producer)
    if counts is not None:
        found["outputStatistics"] = OutputStatisticsOutputDatasetFacet(
            counts.rows, counts.size, counts.files, producer=producer
        )
    if seen.replaces is not None:
        lineage = {"fields": earlier.fields, "dataset": earlier.dataset or []} if earlier else None
        version = None if restores is None else {"version": restores} if restores else {}
        found[WRITE] = HeadwaterWriteOutputDatasetFacet(seen.replaces.value, lineage, version, producer=producer)
    return {name: facet for name, facet in found.items() if name not in disabled}
