"""The schemas of graphs, search and statistics, named as the classes of Marquez's service/models."""

from typing import Any, Literal

import pydantic

from headwater.server.marquez.schemas import (
    DatasetData,
    DatasetVersionId,
    Facets,
    InputField,
    JobData,
    JobVersionId,
    Transformed,
)
from headwater.server.openapi import Schema, absent


class Edge(Schema):
    """An edge between two nodes."""

    origin: str
    destination: str


class _Node(Schema):
    id: str
    in_edges: list[Edge]
    out_edges: list[Edge]


class Node(_Node):
    """A job or a dataset of the lineage graph."""

    type: Literal["JOB", "DATASET"]
    data: JobData | DatasetData


class Lineage(Schema):
    """A graph of jobs and datasets."""

    graph: list[Node]


class VersionedInputField(InputField):
    """A field that another one is made of, with the version of its dataset."""

    dataset_version: str | None


class ColumnLineageNodeData(Transformed):
    """A field of the graph of columns."""

    namespace: str
    dataset: str
    dataset_version: str | None
    field: str
    field_type: str | None
    input_fields: list[VersionedInputField]


class ColumnLineageNode(_Node):
    """A node of the graph of columns."""

    type: Literal["DATASET_FIELD"]
    data: ColumnLineageNodeData


class ColumnLineageGraph(Schema):
    """A graph of columns."""

    graph: list[ColumnLineageNode]


class UpstreamInput(DatasetVersionId):
    """A version of a dataset that a run read."""

    produced_by_run_id: str | None


class UpstreamRunSummary(Schema):
    """When a run began and ended, and how."""

    id: str
    start: str | None
    end: str | None
    status: str


class UpstreamRun(Schema):
    """A run before another."""

    job: JobVersionId
    run: UpstreamRunSummary
    inputs: list[UpstreamInput]


class UpstreamRunLineage(Schema):
    """A run and those before it."""

    runs: list[UpstreamRun]


class LineageEvents(Schema):
    """A page of OpenLineage events as they came."""

    events: list[dict[str, Any]]
    total_count: int


class SearchResult(Schema):
    """A dataset or job that was found."""

    type: Literal["DATASET", "JOB"]
    name: str
    updated_at: str
    namespace: str
    node_id: str


class SearchResults(Schema):
    """The datasets and jobs that were found, and how many these are."""

    total_count: int
    results: list[SearchResult]


class Highlight(Schema):
    """The name of a hit with the text that was searched for between ``<em>`` and ``</em>``."""

    name: list[str] = absent("Only where the name has the text.")


class JobHit(Schema):
    """A job that was found."""

    run_id: str | None = pydantic.Field(alias="run_id")
    event_type: str | None
    name: str
    type: str
    namespace: str
    facets: Facets
    run_facets: Facets


class DatasetHit(Schema):
    """A dataset that was found."""

    run_id: str | None = pydantic.Field(alias="run_id")
    event_type: str
    name: str
    namespace: str
    input_facets: Facets
    output_facets: Facets
    facets: Facets


class JobHits(Schema):
    """The jobs that were found, each with a highlight."""

    hits: list[JobHit]
    highlights: list[Highlight]


class DatasetHits(Schema):
    """The datasets that were found, each with a highlight."""

    hits: list[DatasetHit]
    highlights: list[Highlight]


class _Interval(Schema):
    start_interval: str
    end_interval: str


class IntervalCount(_Interval):
    """How many there were at the end of an hour or day."""

    count: int


class IntervalEvents(_Interval):
    """The events of an hour or day by type."""

    fail: int
    start: int
    complete: int
    abort: int
