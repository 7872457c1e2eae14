"""The schemas of differences, lists, coverage and changes, for the OpenAPI document."""

from typing import Annotated, Literal

from pydantic import Field

from headwater.server.columns.schemas import (
    ColumnName,
    DatasetName,
    DatasetNames,
    Hop,
    JobName,
    Next,
    Start,
    StepTransformation,
    Truncated,
)
from headwater.server.openapi import Schema, absent
from headwater.store.questions import Covered, Match, Place

_CORRECTED = Field(description="The text that was searched instead, where nothing has `q`; else null.")
Corrected = Annotated[str | None, _CORRECTED]


class TypedColumn(ColumnName):
    """A column with its type."""

    type: str


class ChangedHop(Hop):
    """A step that is another than before."""

    before: list[StepTransformation]


class FieldType(Schema):
    """A column of one dataset and its type."""

    field: str
    type: str


class ChangedColumn(TypedColumn):
    """A column that has another name or type than before."""

    before: FieldType


class ChangedColumns(Schema):
    """The columns that came, went and changed."""

    added: list[TypedColumn]
    removed: list[TypedColumn]
    changed: list[ChangedColumn]


class JobAbout(Schema):
    """A job whose outputs are compared."""

    job: JobName


class Difference(Schema):
    """The steps that came, went and changed between two moments; ``after`` is null for now."""

    before: str
    after: str | None
    about: Start | JobAbout
    added: list[Hop]
    removed: list[Hop]
    changed: list[ChangedHop]
    columns: ChangedColumns
    truncated: Truncated


class FoundColumn(TypedColumn):
    """A column whose name, or whose dataset's name, contains a text."""

    id: int
    match: Match


class ColumnPage(Schema):
    """A page of columns."""

    columns: list[FoundColumn]
    corrected: Corrected
    next: Next


class ListedColumn(FieldType):
    """A column of a listed dataset."""

    id: int


class ListedDataset(DatasetNames):
    """A dataset with its columns."""

    columns: list[ListedColumn]


class DatasetPage(Schema):
    """A page of datasets."""

    datasets: list[ListedDataset]
    next: Next


class FoundText(DatasetName):
    """A dataset, a column or a job in whose name or texts the words are."""

    kind: Literal["dataset", "column", "job"]
    field: str = absent("Only of a column.")
    in_: Place = Field(alias="in")
    excerpt: str


class TextPage(Schema):
    """A page of results."""

    results: list[FoundText]
    corrected: Corrected
    next: Next


class ListedVersion(Schema):
    """A version of a dataset, and the run that wrote it."""

    version: str
    at: str
    run: str | None
    state: str
    job: JobName | None
    columns: list[FieldType]


class VersionPage(Schema):
    """A page of the versions of a dataset."""

    dataset: DatasetNames
    versions: list[ListedVersion]
    next: Next


class Gap(Schema):
    """Something of which no lineage is known."""

    kind: str
    what: str
    why: str


class CoveredOutput(Schema):
    """An output, and how much of its lineage is known."""

    coverage: Covered
    output: DatasetName | None
    job: JobName
    run: str
    gaps: list[Gap]


class CoverageTotal(Schema):
    """The numbers of outputs, on all pages."""

    none: int
    partial: int
    opaque: int
    full: int


class CoveragePage(Schema):
    """A page of outputs, the least covered first."""

    outputs: list[CoveredOutput]
    total: CoverageTotal
    next: Next


class EdgeCounts(Schema):
    """The number of edges of an output, and of those that came and went."""

    now: int
    added: int
    removed: int


class Change(Schema):
    """The data of an event ``lineage`` of the stream."""

    change: Literal["first", "changed"]
    job: JobName
    output: DatasetNames
    run: str
    at: str
    edges: EdgeCounts
