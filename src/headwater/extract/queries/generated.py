"""Columns that a table works out itself from others of the same row (``GENERATED ALWAYS AS``)."""

from collections.abc import Mapping

from headwater.extract.queries.result import Star
from headwater.extract.trace import OPAQUE
from headwater.model import ColumnLineage, Dataset, Dependency, InputField, Transformation, compose

_ROW = Dataset("", "row")

Way = tuple[str, Transformation]


def with_generated(
    lineage: ColumnLineage, generated: Mapping[str, str], masking: frozenset[str] = frozenset()
) -> ColumnLineage:
    """The lineage of what is written, and of the columns made of it: ``generated`` holds the SQL of each.

    A column that the query gives itself is left alone: Delta checks that its value is the one generated.
    """
    written = {name.lower(): edges for name, edges in lineage.fields.items()}
    made = {
        name: frozenset(_beyond(way, edge) for column, way in _ways(sql, written, masking) for edge in written[column])
        for name, sql in generated.items()
        if name.lower() not in written
    }
    return ColumnLineage({**lineage.fields, **made}, lineage.dataset)


def _ways(sql: str, written: Mapping[str, object], masking: frozenset[str]) -> list[Way]:
    """Which of the written columns a value is made of, and how; all of them when its SQL cannot be read."""
    from headwater.extract.queries import dialects

    try:
        ((_, found),) = dialects.read_expression(sql, _ROW, masking).columns
    except Exception:  # whatever a parser may raise over what Delta understands
        return [(name, OPAQUE) for name in written]
    if isinstance(found, Star):
        return [(name, OPAQUE) for name in written]
    named = [(origin.name.lower(), way) for origin, way in found if isinstance(origin, InputField)]
    return [(name, way) for name, way in named if name in written]


def _beyond(way: Transformation, edge: Dependency) -> Dependency:
    return Dependency(edge.input, compose(way, edge.transformation))
