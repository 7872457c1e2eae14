"""The vocabulary: frozen values in the words of OpenLineage, without I/O."""

from headwater.model.dataset import (
    CatalogEntry,
    Dataset,
    DatasetDescription,
    Facet,
    FieldChange,
    NameChange,
    ReplacedRows,
    SchemaField,
    Statistics,
    Storage,
    Symlink,
    endings_apart,
)
from headwater.model.lineage import (
    IDENTITY,
    ColumnLineage,
    Dependency,
    InputField,
    Subtype,
    Transformation,
    TransformationType,
    compose,
)
from headwater.model.run import Engine, Job, Run, RunMoment, RunState
from headwater.model.statement import Gap, Output, Statement

__all__ = [
    "IDENTITY",
    "CatalogEntry",
    "ColumnLineage",
    "Dataset",
    "DatasetDescription",
    "Dependency",
    "Engine",
    "Facet",
    "FieldChange",
    "Gap",
    "InputField",
    "Job",
    "NameChange",
    "Output",
    "ReplacedRows",
    "Run",
    "RunMoment",
    "RunState",
    "SchemaField",
    "Statement",
    "Statistics",
    "Storage",
    "Subtype",
    "Symlink",
    "Transformation",
    "TransformationType",
    "compose",
    "endings_apart",
]
