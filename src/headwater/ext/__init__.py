"""What authors of extensions import: the values they give, and the protocols of the hooks that give them."""

from headwater.ext.lineage import (
    EVERY_ROW,
    ExpressionDependency,
    InputRelation,
    NodeLineage,
    OutputRelation,
)

__all__ = [
    "EVERY_ROW",
    "ExpressionDependency",
    "InputRelation",
    "NodeLineage",
    "OutputRelation",
]
