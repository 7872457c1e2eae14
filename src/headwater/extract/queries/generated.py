"""Columns that a table works out itself from others of the same row (``GENERATED ALWAYS AS``)."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from headwater.extract.queries.result import Star
from headwater.extract.trace import OPAQUE
from headwater.model import ColumnLineage, Dataset, Dependency, InputField, Subtype, Transformation, compose

_ROW = Dataset("", "row")
_NOTHING: Mapping[str, frozenset[Dependency]] = MappingProxyType({})

Contribution = tuple[str, Transformation]


def with_generated(
    lineage: ColumnLineage,
    generated: Mapping[str, str | Sequence[Mapping[str, Any]]],
    masking: frozenset[str] = frozenset(),
    own: Mapping[str, frozenset[Dependency]] = _NOTHING,
) -> ColumnLineage:
    """The lineage of what is written, and of the columns made of it: ``generated`` holds the SQL of each.

    In the place of SQL may stand the columns that it is made of and how. ``own`` has the edges of columns that some
    rows keep. A column that the query gives itself is left alone: Delta checks that its value is the one generated.
    """
    named = {name.lower(): edges for name, edges in lineage.fields.items()}
    values = {name: named.get(name, frozenset()) | own.get(name, frozenset()) for name in {*named, *own}}
    made = {
        name: frozenset(
            Dependency(edge.input, compose(one_step, edge.transformation))
            for column, one_step in _transformations(how, values, masking)
            for edge in values[column]
        )
        for name, how in generated.items()
        if name.lower() not in named
    }
    return ColumnLineage({**lineage.fields, **made}, lineage.dataset)


def _transformations(
    how: str | Sequence[Mapping[str, Any]], written: Mapping[str, object], masking: frozenset[str]
) -> list[Contribution]:
    """Which of the written columns a value is made of, and how; all of them when its SQL cannot be read."""
    if not isinstance(how, str):
        known = [(str(one["column"]).lower(), _transformation(one)) for one in how]
        return [(name, one_step) for name, one_step in known if name in written]
    return _transformations_of_sql(how, written, masking)


def _transformation(known: Mapping[str, Any]) -> Transformation:
    return Transformation(Subtype(known["subtype"]), masking=known["masking"], opaque=known["opaque"])


def _transformations_of_sql(sql: str, written: Mapping[str, object], masking: frozenset[str]) -> list[Contribution]:
    from headwater.extract.queries import dialects

    try:
        ((_, found),) = dialects.read_expression(sql, _ROW, masking).columns
    except Exception:  # whatever a parser may raise over what Delta understands
        return [(name, OPAQUE) for name in written]
    if isinstance(found, Star):
        return [(name, OPAQUE) for name in written]
    named = [(origin.name.lower(), one_step) for origin, one_step in found if isinstance(origin, InputField)]
    return [(name, one_step) for name, one_step in named if name in written]
