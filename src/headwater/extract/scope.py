"""The scope that an expression or an operator may look at while its lineage is worked out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias, TypeVar

from headwater.ext import NodeLineage, Transformation
from headwater.ext.runtime import NO_EXTENSIONS, Extensions
from headwater.extract.origins import Origin, OriginKey
from headwater.extract.trace import NOTHING, Paths, Placeholder, Trace
from headwater.model import DatasetDescription, Gap, SchemaField
from headwater.openlineage.naming.resolvers import ConfiguredNames
from headwater.openlineage.naming.trimming import Trimming
from headwater.plan import Expression, Operator


@dataclass(frozen=True, slots=True)
class ExtractSettings:
    """Settings of a user: names of further masking functions (lower case), how paths are trimmed, and extensions.

    ``names`` are other names for datasets, given to all that a statement names.
    """

    masking_functions: frozenset[str] = frozenset()
    trimming: Trimming = field(default_factory=Trimming)
    extensions: Extensions = NO_EXTENSIONS
    names: ConfiguredNames = field(default_factory=ConfiguredNames)


_T = TypeVar("_T")


# Not frozen, as nodes are not: a wide plan has thousands.
@dataclass(slots=True, eq=False)
class Attribute:
    """A column that an operator puts out; nobody changes one after it was made."""

    expr_id: int
    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """The result of an operator: its columns, where each comes from, and what decides which rows there are."""

    output: tuple[Attribute, ...] = ()
    columns: Mapping[int, Trace] = field(default_factory=dict)
    deciding: Paths = NOTHING

    def column(self, position: int) -> Trace:
        """The trace of the output column at ``position``; nothing beyond the last."""
        return self.columns.get(self.output[position].expr_id, NOTHING) if position < len(self.output) else NOTHING

    def outer(self, placeholder: Placeholder) -> Trace | None:
        """The paths behind an outer reference of a subquery below; None when a scope further out knows."""
        return self.columns.get(placeholder.id) if placeholder.kind == "outer" else None


@dataclass(slots=True)
class Extraction:
    """The state of one extraction.

    What is known of the rows of RDDs by id, results by operator, definitions by CTE id, what a filter compares with
    the query around it, the event times of watermarks, datasets, gaps,
    the columns that named expressions put out, the batches of streams by the id of their RDD, and the answers of
    extensions about operators, expressions and relations, which override headwater's own rules. ``nested`` says that
    columns of tables begin as what they are made of (`headwater.extract.nested`).
    """

    settings: ExtractSettings
    session: Mapping[str, object]
    origins: Mapping[OriginKey, Origin] = field(default_factory=dict)
    results: dict[Operator, Rows] = field(default_factory=dict)
    definitions: dict[int, Rows] = field(default_factory=dict)
    correlations: dict[Operator, Paths] = field(default_factory=dict)
    watermarks: dict[Operator, Paths] = field(default_factory=dict)
    datasets: dict[DatasetDescription, None] = field(default_factory=dict)
    gaps: dict[Gap, None] = field(default_factory=dict)
    attributes: dict[Expression, Attribute] = field(default_factory=dict)
    batches: dict[int, Origin] = field(default_factory=dict)
    answers: dict[Operator, NodeLineage] = field(default_factory=dict)
    expressions: Mapping[Expression, tuple[Transformation | None, ...]] = field(default_factory=dict)
    relations: Mapping[Operator, tuple[DatasetDescription, ...]] = field(default_factory=dict)
    nested: bool = False

    def report(self, kind: str, what: str, why: str) -> None:
        """Note something that the lineage does not cover, or only conservatively."""
        self.gaps[Gap(kind, what, why)] = None

    def origin(self, key: OriginKey) -> Origin | None:
        """The origin that is known of the rows of an RDD, a batch or a table in memory."""
        found = self.origins.get(key)
        return found.nested or found if found is not None and self.nested else found

    def rows(self, operator: Operator | None) -> Rows:
        """The result of an operator that comes earlier in the plan; empty for None."""
        return self.results.get(operator, Rows()) if operator else Rows()


@dataclass(frozen=True, slots=True)
class Scope:
    """The columns an expression may refer to, by exprId, and the extraction it belongs to.

    ``picks_labels`` says that it stands in what Spark makes of a PIVOT.
    """

    columns: Mapping[int, Trace]
    extraction: Extraction
    picks_labels: bool = False

    def outer(self, placeholder: Placeholder) -> Trace | None:
        """The paths behind an outer reference of a subquery; None when a scope further out knows."""
        return self.columns.get(placeholder.id) if placeholder.kind == "outer" else None


def attribute(node: Expression) -> Attribute:
    """The column that a named expression puts out."""
    values = node.values
    return Attribute(values.get("id", -1), values.get("name", ""), values.get("type") or values.get("dataType") or "")


@lru_cache(maxsize=4096)
def schema_field(name: str, kind: str) -> SchemaField:
    """A column of a schema; one object for equal ones, since a job reads and writes the same wide tables often."""
    return SchemaField(name, kind)


Visitor: TypeAlias = Callable[[Expression, tuple[Trace, ...], Scope], Trace]
"""From an expression, the traces of its children and its scope to its own trace."""

Visitors: TypeAlias = Mapping[str, Visitor]


def merged(*tables: Mapping[str, _T]) -> Mapping[str, _T]:
    """One table of all visitors, by the class that each is for.

    Raises:
        ValueError: two tables claim the same class.
    """
    result: dict[str, _T] = {}
    for table in tables:
        twice = result.keys() & table.keys()
        if twice:
            raise ValueError(f"Two visitors claim {sorted(twice)}: leave it to one of them.")
        result.update(table)
    return result
