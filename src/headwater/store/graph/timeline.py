"""When each edge was true, in spans of time that do not overlap and do not touch; and a log of edges that were written.

A copy of edges in memory is kept current by the log.
"""

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Select,
    Table,
    and_,
    bindparam,
    delete,
    func,
    select,
)

from headwater.model.time import FOREVER
from headwater.store import schema
from headwater.store.sql.databases import add_rows

Row = dict[str, int]


class Span(NamedTuple):
    """From a moment on, up to but not including another; FOREVER when it still is so."""

    start: int
    end: int


Edge = tuple[int, int, int]
"""The columns of an edge beside its job: its output, its input field and its transformation. The output is a field, or
a dataset when the edge acts on all of its fields."""


class Tables(NamedTuple):
    """Where edges of one kind stand: those that are true now, and those that were."""

    current: Table
    history: Table


FIELD_EDGES = Tables(schema.edge, schema.edge_history)
DATASET_EDGES = Tables(schema.dataset_edge, schema.dataset_edge_history)


def _output(table: Table) -> Column[int]:
    return table.c["output_field" if "output_field" in table.c else "output_dataset"]


def _mine(table: Table) -> ColumnElement[bool]:
    output, dataset = _output(table), bindparam("dataset", type_=BigInteger())
    fields = select(schema.field.c.id).where(schema.field.c.dataset_id == dataset)
    into = output.in_(fields) if output.name == "output_field" else output == dataset
    return and_(into, table.c.job_id == bindparam("job"))


def _columns(table: Table) -> tuple[str, ...]:
    return _output(table).name, "input_field", "transformation_id", "job_id", "valid_from"


def _edges(table: Table) -> Select[Any]:
    return select(_output(table), table.c.input_field, table.c.transformation_id, table.c.valid_from).where(
        _mine(table)
    )


@cache
def _current(tables: Tables) -> Select[Any]:
    return _edges(tables.current)


@cache
def _near(tables: Tables) -> Select[Any]:
    start, end = tables.history.c.valid_from, tables.history.c.valid_to
    near = and_(end >= bindparam("window_start", type_=end.type), start <= bindparam("window_end", type_=start.type))
    return _edges(tables.history).add_columns(end).where(near)


def add_first(connection: Connection, tables: Tables, rows: Iterable[tuple[int, ...]]) -> None:
    """Edges that hold from now on, of outputs of which nothing was known: each with its job and since when."""
    add_rows(connection, tables.current, _columns(tables.current), rows)


def add_ended(connection: Connection, tables: Tables, rows: Iterable[tuple[int, ...]]) -> None:
    """Edges that held and hold no more, of outputs of which nothing was known: each with its job, since and until."""
    add_rows(connection, tables.history, (*_columns(tables.current), "valid_to"), rows)


def with_window(spans: Sequence[Span], window: Span, *, present: bool) -> list[Span]:
    """The spans after saying of a window of time that the edge was there, or was not.

    >>> with_window([Span(1, 9)], Span(3, 5), present=False)
    [Span(start=1, end=3), Span(start=5, end=9)]
    >>> with_window([Span(1, 3), Span(5, 9)], Span(3, 5), present=True)
    [Span(start=1, end=9)]
    """
    pieces = [piece for span in spans for piece in _outside(span, window)]
    return joined_spans(sorted([*pieces, window] if present else pieces))


def _outside(span: Span, window: Span) -> Iterable[Span]:
    pieces = (Span(span.start, min(span.end, window.start)), Span(max(span.start, window.end), span.end))
    return (piece for piece in pieces if piece.start < piece.end)


def joined_spans(spans: Iterable[Span]) -> list[Span]:
    """Spans in order of their starts, of which those that overlap or touch are one."""
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

    def set_edges_during(self, tables: Tables, window: Span, edges: Iterable[Edge]) -> None:
        """Makes exactly these edges true within the window, whatever was known of it before."""
        wanted, before = set(edges), self._spans(tables, window)
        gone: list[tuple[Edge, Span]] = []
        new: list[tuple[Edge, Span]] = []
        for edge in before.keys() | wanted:
            old = before.get(edge, [])
            now = with_window(old, window, present=edge in wanted)
            gone += [(edge, span) for span in old if span not in now]
            new += [(edge, span) for span in now if span not in old]
        self._remove(tables, gone)
        self._add(tables, new)

    def clear(self) -> None:
        """Removes the edges, those of the past too."""
        for table in (*FIELD_EDGES, *DATASET_EDGES):
            self.connection.execute(delete(table).where(_mine(table)), {"job": self.job, "dataset": self.dataset})

    def _spans(self, tables: Tables, window: Span) -> dict[Edge, list[Span]]:
        place = {"job": self.job, "dataset": self.dataset}
        near = {**place, "window_start": window.start, "window_end": window.end}
        found: dict[Edge, list[Span]] = {}
        for output, source, transformation, start in self.connection.execute(_current(tables), place):
            found.setdefault((output, source, transformation), []).append(Span(start, FOREVER))
        for output, source, transformation, start, end in self.connection.execute(_near(tables), near):
            found.setdefault((output, source, transformation), []).append(Span(start, end))
        return found

    def _remove(self, tables: Tables, gone: list[tuple[Edge, Span]]) -> None:
        keys = [self._row(tables, edge) for edge, span in gone if span.end == FOREVER]
        _delete(self.connection, tables.current, keys)
        keys = [self._row(tables, edge) | {"valid_from": span.start} for edge, span in gone if span.end != FOREVER]
        _delete(self.connection, tables.history, keys)

    def _add(self, tables: Tables, new: list[tuple[Edge, Span]]) -> None:
        current = [(*edge, self.job, span.start) for edge, span in new if span.end == FOREVER]
        past = [(*edge, self.job, *span) for edge, span in new if span.end != FOREVER]
        columns = _columns(tables.current)
        add_rows(self.connection, tables.current, columns, current)
        add_rows(self.connection, tables.history, (*columns, "valid_to"), past)

    def _row(self, tables: Tables, edge: Edge) -> Row:
        output, source, transformation = edge
        mine = {"input_field": source, "transformation_id": transformation, "job_id": self.job}
        return {_output(tables.current).name: output, **mine}


def _delete(connection: Connection, table: Table, keys: list[Row]) -> None:
    if keys:
        matches = and_(*(table.c[name] == bindparam(f"the_{name}") for name in keys[0]))
        connection.execute(
            delete(table).where(matches), [{f"the_{name}": v for name, v in key.items()} for key in keys]
        )


Pair = tuple[int, int]
"""A job and one of its output datasets."""

EVERYTHING: Pair = (0, 0)
"""Noted where datasets became one, or others: more than the edges of some pairs has changed then."""

MOST = 1_000
"""Changes that are followed one by one; behind more of them all edges are read again."""

_LOG = schema.edge_change
_LAST = select(_LOG.c.id, _LOG.c.mark).order_by(_LOG.c.id.desc()).limit(1)
_SINCE = select(_LOG.c.id, _LOG.c.mark, _LOG.c.job_id, _LOG.c.output_id).where(_LOG.c.id >= bindparam("since"))
_SINCE = _SINCE.order_by(_LOG.c.id).limit(MOST + 1)
_FIRST_EVENT = select(schema.event.c.digest).order_by(schema.event.c.id).limit(1)


class Version(NamedTuple):
    """A state of the edges: the last change, and a random number, which a restored store does not have.

    Before the first change the number is that of the first event.
    """

    id: int
    mark: int


def note(connection: Connection, pairs: Iterable[Pair]) -> None:
    """Says in the transaction that writes them that the edges of (job, output) pairs may be others now."""
    rows = [(secrets.randbits(62), job, output) for job, output in pairs]
    add_rows(connection, _LOG, ("mark", "job_id", "output_id"), rows)


def trim(connection: Connection) -> None:
    """Forgets all but the latest changes; who knows the state before them reads all edges again."""
    last = select(func.max(_LOG.c.id)).scalar_subquery()
    connection.execute(delete(_LOG).where(_LOG.c.id < last - MOST))


def version_of(connection: Connection) -> Version:
    """The state that a connection sees."""
    last = connection.execute(_LAST).first()
    return _before_the_first(connection) if last is None else Version(*last)


def changed_since(connection: Connection, version: Version) -> set[Pair] | None:
    """Whose edges may have changed since a state; None when there are too many, or the log does not know the state."""
    rows = connection.execute(_SINCE, {"since": version.id}).all()
    if version.id:
        known = bool(rows) and Version(rows[0].id, rows[0].mark) == version
        rows = rows[1:]
    else:
        known = version == _before_the_first(connection) and all(row.id == 1 for row in rows[:1])
    return {(row.job_id, row.output_id) for row in rows} if known and len(rows) < MOST else None


def _before_the_first(connection: Connection) -> Version:
    return Version(0, int.from_bytes((connection.execute(_FIRST_EVENT).scalar() or b"")[:8]))
