"""The schemas of namespaces, sources, tags, datasets, jobs and runs, named as the classes of Marquez."""

from typing import Any, Literal

from headwater.server.openapi import Schema, absent, page_of

Facets = dict[str, Any]
DatasetType = Literal["DB_TABLE", "STREAM"]


class DatasetId(Schema):
    """The namespace and name of a dataset."""

    namespace: str
    name: str


class DatasetVersionId(DatasetId):
    """A dataset with one of its versions."""

    version: str | None


class JobId(Schema):
    """The namespace and name of a job."""

    namespace: str
    name: str


class JobVersionId(JobId):
    """A job with one of its versions."""

    version: str | None


class Namespace(Schema):
    """A namespace."""

    name: str
    created_at: str
    updated_at: str
    owner_name: str
    description: str | None
    is_hidden: bool


NamespaceList = page_of("NamespaceList", "A page of namespaces.", counted=False, namespaces=Namespace)


class Source(Schema):
    """A source of datasets."""

    type: str
    name: str
    created_at: str
    updated_at: str
    connection_url: str
    description: str | None


SourceList = page_of("SourceList", "A page of sources.", counted=False, sources=Source)


class Tag(Schema):
    """A tag."""

    name: str
    description: str | None


TagList = page_of("TagList", "A page of tags.", counted=False, tags=Tag)


class Field(Schema):
    """A field of a dataset."""

    name: str
    type: str | None
    tags: list[str]
    description: str | None


class Transformed(Schema):
    """A field with a transformation; both members are deprecated in Marquez."""

    transformation_description: str | None
    transformation_type: str | None


class PossiblyReplaced(Schema):
    """A run that overwrote a dataset, perhaps all of it."""

    run: str
    job: JobId
    at: str


class InputField(Transformed):
    """A field that another one is made of."""

    namespace: str
    dataset: str
    field: str
    possibly_replaced: PossiblyReplaced = absent("The run that may have replaced this; left out where there is none.")


class ColumnLineage(Transformed):
    """A field with those that it is made of."""

    name: str
    input_fields: list[InputField]


class _DatasetOutline(Schema):
    id: DatasetId
    type: DatasetType
    name: str
    physical_name: str
    created_at: str
    updated_at: str
    namespace: str
    source_name: str
    fields: list[Field]
    tags: list[str]
    last_modified_at: str | None
    description: str | None
    last_lifecycle_state: str | None


class DatasetData(_DatasetOutline):
    """A dataset as a node of the lineage graph."""

    column_lineage: list[ColumnLineage] | None = absent("Only with withColumnLineage=true; null where there is none.")


class Dataset(_DatasetOutline):
    """A dataset."""

    current_version: str | None
    column_lineage: list[ColumnLineage] | None
    facets: Facets
    deleted: bool


DatasetList = page_of("DatasetList", "A page of datasets.", datasets=Dataset)


class UsedVersion(Schema):
    """A version of a dataset that a run read or wrote, with the facets of that run."""

    dataset_version_id: DatasetVersionId
    facets: Facets


class Run(Schema):
    """A run."""

    id: str
    created_at: str
    updated_at: str
    nominal_start_time: str | None
    nominal_end_time: str | None
    state: Literal["NEW", "RUNNING", "COMPLETED", "FAILED", "ABORTED"]
    started_at: str | None
    ended_at: str | None
    duration_ms: int | None
    args: dict[str, str]
    job_version: JobVersionId
    input_dataset_versions: list[UsedVersion]
    output_dataset_versions: list[UsedVersion]
    facets: Facets


RunList = page_of("RunList", "A page of runs.", runs=Run)


class RunFacets(Schema):
    """The facets of a run or of its job."""

    run_id: str
    facets: Facets


class DatasetVersion(Schema):
    """A version of a dataset."""

    id: DatasetVersionId
    type: DatasetType
    name: str
    physical_name: str
    created_at: str
    version: str
    namespace: str
    source_name: str
    fields: list[Field]
    tags: list[str]
    description: str | None
    lifecycle_state: str | None
    current_schema_version: str | None
    created_by_run: Run | None
    facets: Facets


DatasetVersionList = page_of("DatasetVersionList", "A page of the versions of a dataset.", versions=DatasetVersion)


class _JobOutline(Schema):
    id: JobId
    type: Literal["BATCH", "STREAM", "SERVICE"]
    name: str
    simple_name: str
    parent_job_name: str | None
    parent_job_uuid: str | None
    created_at: str
    updated_at: str
    namespace: str
    inputs: list[DatasetId]
    outputs: list[DatasetId]
    location: str | None
    description: str | None
    latest_run: Run | None


class JobData(_JobOutline):
    """A job as a node of the lineage graph."""

    current_run_uuid: str | None


class Job(_JobOutline):
    """A job."""

    latest_runs: list[Run] | None
    facets: Facets
    current_version: str | None
    labels: list[str]
    tags: list[str]


JobList = page_of("JobList", "A page of jobs.", jobs=Job)


class JobVersion(Schema):
    """A version of a job."""

    id: JobVersionId
    name: str
    created_at: str
    version: str
    namespace: str
    location: str | None
    inputs: list[DatasetId]
    outputs: list[DatasetId]
    latest_run: Run | None


JobVersionList = page_of("JobVersionList", "A page of the versions of a job.", versions=JobVersion)
