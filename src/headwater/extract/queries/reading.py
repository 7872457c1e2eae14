"""From the text of a query to the lineage of its columns, however little of it is understood.

Columns that a table works out itself from others of the same row (``GENERATED ALWAYS AS``) are read the same.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from headwater.extract.queries.result import Result, Star, candidates
from headwater.extract.trace import NOTHING, OPAQUE, Paths
from headwater.model import ColumnLineage, Dataset, Dependency, InputField, Subtype, Transformation, compose
from headwater.openlineage.naming.jdbc_url import jdbc_dataset

_QUOTED = r'"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]'
_PART = rf"(?:{_QUOTED}|[\w$#@-]+)"
_TABLE = re.compile(rf"[\s(]*({_PART}(?:\s*\.\s*{_PART})*)(?!\s*[.(])")
_FROM = re.compile(r"\b(?:from|join)\b", re.IGNORECASE)
_REST = re.compile(
    r"\b(?:where|group|order|having|limit|union|on|using|select|fetch|window|connect|start|pivot|unpivot)\b",
    re.IGNORECASE,
)
_COMMENT_OR_TEXT = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)


@dataclass(frozen=True, slots=True)
class QueryLineage:
    """Where each column of a query comes from, in order; what decides on its rows; its tables; what stayed unclear."""

    columns: tuple[Paths, ...]
    deciding: Paths = NOTHING
    tables: tuple[Dataset, ...] = ()
    problems: tuple[str, ...] = ()


def is_query(text: str) -> bool:
    """True when ``text``, JDBC's ``dbtable``, is more than a table's name.

    >>> is_query('sales."Order lines"'), is_query("(SELECT id FROM orders) AS t")
    (False, True)
    """
    return re.search(r"[\s(]", re.sub(_QUOTED, "", text.strip())) is not None


def query_lineage(
    url: str, text: str, names: Sequence[str], prefix: str = "", masking: frozenset[str] = frozenset()
) -> QueryLineage:
    """The lineage of the columns ``names`` that the database at ``url`` gives for ``text``.

    ``text`` stands after FROM: a query in parentheses, a join; ``prefix`` before SELECT (JDBC's ``prepareQuery``).
    ``masking`` are further functions that hide a value, in lower case. What cannot be read leaves opaque edges from
    the tables that the text names, and is listed in ``problems``.
    """
    from headwater.extract.queries import dialects

    try:
        result, tables, problems = dialects.read(url, f"{prefix} SELECT * FROM {text}", masking)
        columns, unclear = _placed(result, names)
        return QueryLineage(columns, result.deciding, tables, (*problems, *unclear))
    except Exception as error:  # whatever a parser may raise over what a database understands
        why = f"its SQL could not be read ({type(error).__name__}): the edges are guesses"
        return _guessed(url, f"{prefix} {text}", names, why)


def _placed(result: Result, names: Sequence[str]) -> tuple[tuple[Paths, ...], tuple[str, ...]]:
    """The query's columns under the names that the database gave them: by position as far as stars allow."""
    spare = len(names) - len(result.columns)
    found: list[Paths | Star | None] = [None] * len(names)
    if len(result.stars) == 1 and spare >= -1:
        found = [place for _, trace in result.columns for place in _spread(trace, spare + 1)]
    elif not result.stars and spare == 0:
        found = [trace for _, trace in result.columns]
    return _with_reasons([_under(trace, name, result) for trace, name in zip(found, names, strict=True)], names)


def _spread(trace: Paths | Star, width: int) -> Sequence[Paths | Star]:
    return [trace] * width if isinstance(trace, Star) else [trace]


def _under(trace: Paths | Star | None, name: str, result: Result) -> tuple[Paths, bool]:
    if trace is None:
        return result.column(name)
    return candidates((trace,), name) if isinstance(trace, Star) else (trace, True)


def _with_reasons(
    traces: Sequence[tuple[Paths, bool]], names: Sequence[str]
) -> tuple[tuple[Paths, ...], tuple[str, ...]]:
    unclear = [name for name, (_, certain) in zip(names, traces, strict=True) if not certain]
    why = (f"which table {', '.join(unclear)} comes from is not in the query",) if unclear else ()
    return tuple(paths for paths, _ in traces), why


def _guessed(url: str, text: str, names: Sequence[str], why: str) -> QueryLineage:
    """Opaque edges from every table after FROM, JOIN or a comma behind them, from the columns of the same names."""
    parts = (_REST.split(part, maxsplit=1)[0] for part in _FROM.split(_COMMENT_OR_TEXT.sub(" ", text))[1:])
    found = [table[1] for part in parts for one in part.split(",") if (table := _TABLE.match(one))]
    tables = tuple(dict.fromkeys(jdbc_dataset(url, re.sub(r"\s*\.\s*", ".", name)) for name in found))
    columns = tuple(frozenset((InputField(table, name), OPAQUE) for table in tables) for name in names)
    return QueryLineage(columns, NOTHING, tables, (why,))


_ROW = Dataset("", "row")
_NOTHING: Mapping[str, frozenset[Dependency]] = MappingProxyType({})

Contribution = tuple[str, Transformation]


def with_generated(
    lineage: ColumnLineage,
    generated: Mapping[str, str | Sequence[Mapping[str, Any]]],
    masking: frozenset[str] = frozenset(),
    unchanged: Mapping[str, frozenset[Dependency]] = _NOTHING,
) -> ColumnLineage:
    """The lineage of what is written, and of the columns made of it: ``generated`` holds the SQL of each.

    In the place of SQL may stand the columns that it is made of and how. ``unchanged`` has the edges of columns that
    some rows keep. A column that the query fills itself is left alone: Delta checks its value.
    """
    named = {name.lower(): edges for name, edges in lineage.fields.items()}
    values = {name: named.get(name, frozenset()) | unchanged.get(name, frozenset()) for name in {*named, *unchanged}}
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


def _transformation(facts: Mapping[str, Any]) -> Transformation:
    return Transformation(Subtype(facts["subtype"]), masking=facts["masking"], opaque=facts["opaque"])


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
