"""When each edge was true: spans of time that do not overlap and do not touch."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, Select, Table, and_, bindparam, delete, insert, select

from headwater.store import schema

FOREVER = 2**63 - 1
Row = dict[str, int]


class Span(NamedTuple):
    """From a moment on, up to but not including another; FOREVER when it still is so."""

    start: int
    end: int


class Edge(NamedTuple):
    """What an edge is, beside its job: ``output`` is a field, or a dataset when it acts on all of its fields."""

    output: int
    input: int
    transformation: int


@dataclass(frozen=True, slots=True)
class Tables:
    """Where edges of one kind stand: those that are true now, and those that were."""

    current: Table
    history: Table

    @property
    def output(self) -> str:
        """The name of the column for the output's id."""
        return "output_field" if "output_field" in self.current.c else "output_dataset"


FIELD_EDGES = Tables(schema.edge, schema.edge_history)
DATASET_EDGES = Tables(schema.dataset_edge, schema.dataset_edge_history)


def repainted(spans: Sequence[Span], window: Span, *, present: bool) -> list[Span]:
    """The spans after saying of a window of time that the edge was there, or was not.

    >>> repainted([Span(1, 9)], Span(3, 5), present=False)
    [Span(start=1, end=3), Span(start=5, end=9)]
    >>> repainted([Span(1, 3), Span(5, 9)], Span(3, 5), present=True)
    [Span(start=1, end=9)]
    """
    pieces = [piece for span in spans for piece in _outside(span, window)]
    return _joined(sorted([*pieces, window] if present else pieces))


def _outside(span: Span, window: Span) -> Iterable[Span]:
    pieces = (Span(span.start, min(span.end, window.start)), Span(max(span.start, window.end), span.end))
    return (piece for piece in pieces if piece.start < piece.end)


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in spans:
        if joined and joined[-1].end >= span.start:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


@dataclass(frozen=True, slots=True)
class Scope:
    """The edges of one job into one dataset."""

    connection: Connection
    job: int
    dataset: int

    def paint(self, tables: Tables, window: Span, wanted: AbstractSet[Edge]) -> None:
        """Makes exactly the wanted edges true within the window, whatever was known of it before."""
        before = self._spans(tables, window)
        gone: list[tuple[Edge, Span]] = []
        new: list[tuple[Edge, Span]] = []
        for edge in before.keys() | wanted:
            old = before.get(edge, [])
            now = repainted(old, window, present=edge in wanted)
            gone += [(edge, span) for span in old if span not in now]
            new += [(edge, span) for span in now if span not in old]
        self._remove(tables, gone)
        self._add(tables, new)

    def clear(self) -> None:
        """Removes the edges, those of the past too."""
        for tables in (FIELD_EDGES, DATASET_EDGES):
            for table in (tables.current, tables.history):
                self.connection.execute(delete(table).where(self._mine(table.c[tables.output]), self._by_job(table)))

    def _spans(self, tables: Tables, window: Span) -> dict[Edge, list[Span]]:
        found: dict[Edge, list[Span]] = {}
        for *edge, start, end in (*self._current(tables), *self._past(tables, window)):
            found.setdefault(Edge(*edge), []).append(Span(start, end))
        return found

    def _current(self, tables: Tables) -> Iterable[tuple[int, ...]]:
        rows = self.connection.execute(self._edges(tables, tables.current))
        return ((*row, FOREVER) for row in rows)

    def _past(self, tables: Tables, window: Span) -> Iterable[tuple[int, ...]]:
        past = tables.history
        near = and_(past.c.valid_to >= window.start, past.c.valid_from <= window.end)
        rows = self.connection.execute(self._edges(tables, past).add_columns(past.c.valid_to).where(near))
        return (tuple(row) for row in rows)

    def _edges(self, tables: Tables, table: Table) -> Select[Any]:
        output = table.c[tables.output]
        columns = (output, table.c.input_field, table.c.transformation_id, table.c.valid_from)
        return select(*columns).where(self._mine(output), self._by_job(table))

    def _mine(self, output: Column[Any]) -> Any:
        if output.name == "output_dataset":
            return output == self.dataset
        return output.in_(select(schema.field.c.id).where(schema.field.c.dataset_id == self.dataset))

    def _by_job(self, table: Table) -> Any:
        return table.c.job_id == self.job

    def _remove(self, tables: Tables, gone: list[tuple[Edge, Span]]) -> None:
        keys = [self._row(tables, edge) for edge, span in gone if span.end == FOREVER]
        _delete(self.connection, tables.current, keys)
        keys = [self._row(tables, edge) | {"valid_from": span.start} for edge, span in gone if span.end != FOREVER]
        _delete(self.connection, tables.history, keys)

    def _add(self, tables: Tables, new: list[tuple[Edge, Span]]) -> None:
        current: list[Row] = []
        past: list[Row] = []
        for edge, span in new:
            row = self._row(tables, edge) | {"valid_from": span.start}
            if span.end == FOREVER:
                current.append(row)
            else:
                past.append(row | {"valid_to": span.end})
        for table, rows in ((tables.current, current), (tables.history, past)):
            if rows:
                self.connection.execute(insert(table), rows)

    def _row(self, tables: Tables, edge: Edge) -> Row:
        return {
            tables.output: edge.output,
            "input_field": edge.input,
            "transformation_id": edge.transformation,
            "job_id": self.job,
        }


def _delete(connection: Connection, table: Table, keys: list[Row]) -> None:
    if keys:
        matches = and_(*(table.c[name] == bindparam(f"the_{name}") for name in keys[0]))
        connection.execute(
            delete(table).where(matches), [{f"the_{name}": v for name, v in key.items()} for key in keys]
        )
