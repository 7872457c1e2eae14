"""The names that authors of extensions import: values, the hooks that give them, and what both are made of."""

from headwater.ext.extension import API, Extension
from headwater.ext.hooks import (
    DatasetFacets,
    DatasetResolver,
    EventFilter,
    ExpressionVisitor,
    JobFacets,
    JsonObject,
    NamingRule,
    OperatorVisitor,
    RunFacets,
    Transport,
)
from headwater.ext.lineage import (
    EVERY_ROW,
    ExpressionDependency,
    InputRelation,
    NodeLineage,
    OutputRelation,
)
from headwater.model import (
    IDENTITY,
    Dataset,
    DatasetDescription,
    Facet,
    RunMoment,
    SchemaField,
    Subtype,
    Symlink,
    Transformation,
)
from headwater.plan import Expression, Node, Operator

__all__ = [
    "API",
    "EVERY_ROW",
    "IDENTITY",
    "Dataset",
    "DatasetDescription",
    "DatasetFacets",
    "DatasetResolver",
    "EventFilter",
    "Expression",
    "ExpressionDependency",
    "ExpressionVisitor",
    "Extension",
    "Facet",
    "InputRelation",
    "JobFacets",
    "JsonObject",
    "NamingRule",
    "Node",
    "NodeLineage",
    "Operator",
    "OperatorVisitor",
    "OutputRelation",
    "RunFacets",
    "RunMoment",
    "SchemaField",
    "Subtype",
    "Symlink",
    "Transformation",
    "Transport",
]
