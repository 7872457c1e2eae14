"""The schemas of walks, roots, paths and impact, for the OpenAPI document.

Answers are dictionaries that `headwater.answers` makes; validating them against these models would take longer than
answering. Tests do so instead.
"""

from typing import Annotated, Literal

from pydantic import Field

from headwater.model import Subtype, TransformationType
from headwater.server.openapi import Schema, absent
from headwater.store.questions import Direction, Evidence, Origin

Truncated = Annotated[
    list[Literal["columns", "depth", "nested", "paths", "time"]],
    Field(description="The limits that cut the answer; empty when it is whole."),
]
Next = Annotated[str | None, Field(description="The cursor of the next page; null on the last.")]


_GUESS = "Not from any event: only with guess=true, and only where something is a guess."
_PATH = "Only of a field within a column: the names of all fields from the column inwards."
_SIDE = "Only with direction=both: the distance on this side, null where the column is not on it."


class DatasetName(Schema):
    """The namespace and name of a dataset."""

    namespace: str
    name: str


class JobName(Schema):
    """The namespace and name of a job."""

    namespace: str
    name: str


class DatasetNames(DatasetName):
    """A dataset with its other names."""

    symlinks: list[DatasetName]


class ColumnName(DatasetName):
    """A column, or a field within one, with the name of its dataset."""

    field: str
    path: list[str] = absent(_PATH)


class OutputName(DatasetName):
    """The output of a step."""

    field: str = absent("Left out where the step acts on every column of the dataset.")
    path: list[str] = absent(_PATH)


Start = ColumnName | DatasetNames


class Kind(Schema):
    """A transformation of the columnLineage facet, without its description."""

    type: TransformationType
    subtype: Subtype
    masking: bool
    opaque: bool
    guess: bool = absent(_GUESS)


class StepTransformation(Kind):
    """The transformation of one step."""

    description: str


class PathTransformation(Kind):
    """The transformation of a whole path."""

    whole_dataset: bool


class Overwrite(Schema):
    """A run that overwrote a dataset."""

    run: str
    job: JobName
    at: str


class _MayBeReplaced(Schema):
    possibly_replaced: list[Overwrite] = absent("The runs that may have replaced this; left out where there are none.")


class Hop(_MayBeReplaced):
    """A step from an input column to an output column or dataset."""

    input: ColumnName
    output: OutputName
    transformations: list[StepTransformation]
    job: JobName


class ReachedColumn(ColumnName):
    """A column of a walk."""

    distance: int
    up: int | None = absent(_SIDE)
    down: int | None = absent(_SIDE)


class ReachedDataset(DatasetNames):
    """A dataset of a collapsed walk."""

    distance: int
    up: int | None = absent(_SIDE)
    down: int | None = absent(_SIDE)


class _Walk(Schema):
    start: Start
    direction: Direction
    truncated: Truncated


class Graph(_Walk):
    """A walk in readable form."""

    columns: list[ReachedColumn]
    hops: list[Hop]
    next: Next


class ColumnIds(Schema):
    """Parallel arrays, one place in each for each column."""

    id: list[int]
    distance: list[int]
    up: list[int | None] = absent(_SIDE)
    down: list[int | None] = absent(_SIDE)
    guess: list[bool] = absent(_GUESS)


class IdGraph(_Walk):
    """A walk with form=ids."""

    columns: ColumnIds
    next: Next


class NamedIds(Schema):
    """Parallel arrays of ids and names."""

    id: list[int]
    namespace: list[str]
    name: list[str]


class CompactColumns(Schema):
    """Parallel arrays, one place in each for each column."""

    id: list[int]
    dataset: list[int]
    field: list[str]
    distance: list[int]
    up: list[int | None] = absent(_SIDE)
    down: list[int | None] = absent(_SIDE)


class CompactTransformations(Schema):
    """Parallel arrays, one place in each for each transformation."""

    id: list[int]
    type: list[TransformationType]
    subtype: list[Subtype]
    masking: list[bool]
    opaque: list[bool]
    description: list[str]
    guess: list[bool] = absent(_GUESS)


class CompactEdges(Schema):
    """Parallel arrays of ids; a negative output is that of a whole dataset."""

    input: list[int]
    output: list[int]
    transformation: list[int]
    job: list[int]


class CompactGraph(_Walk):
    """A walk with form=compact."""

    datasets: NamedIds
    columns: CompactColumns
    transformations: CompactTransformations
    jobs: NamedIds
    edges: CompactEdges
    next: Next


class DatasetHop(Schema):
    """All steps between the columns of two datasets."""

    input: DatasetName
    output: DatasetName
    transformations: list[Kind]
    jobs: list[JobName]
    edges: int


class DatasetGraph(_Walk):
    """A walk with collapse=dataset."""

    datasets: list[ReachedDataset]
    hops: list[DatasetHop]


Walk = Graph | CompactGraph | IdGraph | DatasetGraph


class Root(_MayBeReplaced):
    """A column that the one asked for is made from in the end."""

    column: ColumnName
    origin: Origin
    evidence: Evidence
    near: list[ColumnName]
    transformations: list[PathTransformation]
    distance: int
    jobs: list[JobName]
    applications: list[JobName]


class Roots(Schema):
    """The roots of a column; ``origin`` and ``evidence`` are null unless it is a root itself."""

    column: ColumnName
    origin: Origin | None
    evidence: Evidence | None
    near: list[ColumnName]
    roots: list[Root]
    truncated: Truncated
    next: Next


class ImpactedColumn(Schema):
    """A column that depends on the start."""

    field: str
    path: list[str] = absent(_PATH)
    distance: int
    transformations: list[PathTransformation]


class ImpactedDataset(DatasetNames, _MayBeReplaced):
    """A dataset that depends on the start."""

    distance: int
    jobs: list[JobName]
    columns: list[ImpactedColumn]
    transformations: list[PathTransformation] = absent("Only where no column is known.")


class ImpactTotal(Schema):
    """The numbers of dependent datasets, columns and jobs, on all pages."""

    datasets: int
    columns: int
    jobs: int


class _Impact(Schema):
    start: Start
    truncated: Truncated
    total: ImpactTotal
    next: Next


class ImpactByDataset(_Impact):
    """The datasets that depend on the start."""

    datasets: list[ImpactedDataset]


class ColumnOfJob(ColumnName):
    """A column that depends on the start and is written by a job."""

    distance: int
    guess: bool = absent(_GUESS)


class ImpactedJob(Schema):
    """A job that writes what depends on the start."""

    job: JobName
    columns: list[ColumnOfJob]


class ImpactByJob(_Impact):
    """The jobs that write columns that depend on the start."""

    jobs: list[ImpactedJob]


Impact = ImpactByDataset | ImpactByJob


class Path(Schema):
    """A path: its columns, and the steps between each two of them."""

    columns: list[ColumnName]
    steps: list[list[Hop]]


class Paths(Schema):
    """The paths from one column to another."""

    source: ColumnName
    target: ColumnName
    paths: list[Path]
    truncated: Truncated
