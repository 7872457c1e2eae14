"""The vocabulary: frozen values in the words of OpenLineage, without I/O."""

from headwater.model.dataset import (
    Dataset,
    DatasetDescription,
    Facet,
    FieldChange,
    NameChange,
    SchemaField,
    Statistics,
    Symlink,
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
    "Run",
    "RunMoment",
    "RunState",
    "SchemaField",
    "Statement",
    "Statistics",
    "Subtype",
    "Symlink",
    "Transformation",
    "TransformationType",
    "compose",
]
