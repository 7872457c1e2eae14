"""The lineage of one operator by somebody who knows it: inputs, outputs and how expressions depend on each other.

The three parts are those of ``ColumnLevelLineageNode`` and ``CustomColumnLineageVisitor`` of the OpenLineage Spark
integration; columns are identified by exprId, because names lie.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from headwater.model import DatasetDescription, Transformation
from headwater.plan import Expression, Operator

EVERY_ROW = -1
"""The output of a dependency that touches every row alike, as that of a filter or a join does."""


@dataclass(frozen=True, slots=True)
class InputRelation:
    """A dataset that an operator reads itself, and the field behind each exprId of it.

    ``dataset`` may be another operator of the plan, a delegate: then it is what that one reads (and the facets of the
    description, if any, are added to it). Without ``fields`` the columns that a leaf puts out are the fields, by their
    names; of what reads others too, which column is a field of which is not known.
    """

    dataset: DatasetDescription | Operator
    fields: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    added: DatasetDescription | None = None


@dataclass(frozen=True, slots=True)
class OutputRelation:
    """A dataset that an operator writes, and the exprId behind each field, in the order of the fields.

    ``dataset`` may be another operator of the plan, a delegate: then it is what that one stands for, with what
    ``added`` says beside. ``columns_of`` are operators whose columns are fields too, by their names. Without both they
    are the columns of the query that is written.
    """

    dataset: DatasetDescription | Operator
    fields: tuple[tuple[str, int], ...] = ()
    added: DatasetDescription | None = None
    columns_of: tuple[Operator, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpressionDependency:
    """The column ``output`` (an exprId, or `EVERY_ROW`) depends on columns (exprIds) and expressions.

    ``transformation`` is one more step upon what the expressions do themselves. None: none upon an expression, and
    TRANSFORMATION upon a column that is named by its id alone, because it may have been changed.
    """

    output: int
    inputs: tuple[int | Expression, ...]
    transformation: Transformation | None = None


@dataclass(frozen=True, slots=True)
class NodeLineage:
    """All of one operator. ``dependencies`` of None: nothing is stated of columns, so all may matter.

    ``unseen_rows``: the extension cannot say what decides on rows, so all that the operator receives may.
    """

    inputs: tuple[InputRelation, ...] = ()
    outputs: tuple[OutputRelation, ...] = ()
    dependencies: tuple[ExpressionDependency, ...] | None = None
    unseen_rows: bool = False
