"""The hooks of an extension: what headwater asks, with what, and what it takes for an answer.

Every hook is a pure function of what it is given, which nobody may change. An answer of None says: not mine, do as
you would without me. Hooks are asked on a thread of headwater's, once for each node that they are for, and before the
plan is worked out; nodes of classes below ``org.apache.spark.`` are named without their package (``MapInPandas``,
and ``ST_Area`` of ``org.apache.spark.sql.sedona_sql.expressions``), all others in full (``com.acme.Join``).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from openlineage.client.transport import Transport as ClientTransport

from headwater.ext.lineage import ExpressionDependency, InputRelation, OutputRelation
from headwater.model import Dataset, DatasetDescription, RunMoment, Transformation
from headwater.plan import Expression, Operator

JsonObject: TypeAlias = Mapping[str, Any]


class OperatorVisitor(Protocol):
    """The inputs, outputs and column dependencies of an operator: as OpenLineage's ``CustomColumnLineageVisitor``.

    ``classes`` are those of the operators that it is for. A class that names this protocol as its base has the answers
    below where it gives none.
    """

    classes: tuple[str, ...]

    def inputs(self, node: Operator) -> Sequence[InputRelation] | None:
        """The datasets that the operator reads itself, not those of the operators below it."""
        return None

    def outputs(self, node: Operator) -> Sequence[OutputRelation] | None:
        """The datasets that it writes."""
        return None

    def dependencies(self, node: Operator) -> Sequence[ExpressionDependency] | None:
        """The dependencies of its columns; None states nothing of them, so that all may matter.

        A column that has the exprId of one below is that column, unless a dependency names it.
        """
        return None


class ExpressionVisitor(Protocol):
    """How the children of an expression take part in its value.

    ``classes`` are those of the expressions that it is for, ``functions`` the names of functions, user-defined ones
    in Python and Scala among them, in any case.
    """

    classes: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    def children(self, node: Expression) -> Sequence[Transformation | None] | None:
        """The transformation of each child, in order; None in the place of one that takes no part."""


class DatasetResolver(Protocol):
    """Which datasets a relation is.

    ``classes`` are those of relation operators, or those of the table or source inside them (the ``class`` of the
    facts ``relation`` and ``table``).
    """

    classes: tuple[str, ...]

    def datasets(self, relation: Operator) -> Sequence[DatasetDescription] | None:
        """The datasets, named as the OpenLineage naming specification says, with the facets that are known."""


DatasetFacets: TypeAlias = Callable[[DatasetDescription], Mapping[str, JsonObject]]
"""Further facets of a dataset that a run reads or writes, by their names."""

RunFacets: TypeAlias = Callable[[RunMoment], Mapping[str, JsonObject]]
"""Further facets of a run, asked for each of its events."""

JobFacets: TypeAlias = Callable[[RunMoment], Mapping[str, JsonObject]]
"""Further facets of a job."""

NamingRule: TypeAlias = Callable[[Dataset], Dataset]
"""The name that events have for a dataset; it holds for inputs, outputs and edges alike."""

EventFilter: TypeAlias = Callable[[dict[str, Any]], bool | dict[str, Any]]
"""Whether an event, as JSON, is sent; or the event that is sent instead."""

Transport: TypeAlias = ClientTransport | Callable[[str], None]
"""A transport of the OpenLineage client, or a function that takes an event as a line of JSON and raises what fails."""
