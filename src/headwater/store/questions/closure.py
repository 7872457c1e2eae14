"""Walks the edges level by level, up or down, in ids; never by enumerating paths.

A link to a whole dataset stands for one to each of its columns; it is kept once, and the columns
of a dataset are joined to it by the dataset's own node, written as its id with a minus sign.
"""

import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, FromClause, Select, Table, and_, select, union_all

from headwater.store import schema
from headwater.store.questions.answers import Bounds, Direction, EdgeType
from headwater.store.questions.names import rows_for

_FIELD = schema.field


class Link(NamedTuple):
    """An edge in ids; ``output`` is negative when it stands for a whole dataset."""

    input: int
    output: int
    transformation: int
    job: int


@dataclass(frozen=True, slots=True)
class Closure:
    """The columns that a walk reached with their distance, their datasets, and every link between them.

    ``unexplored`` are columns behind which a limit kept the walk from looking.
    """

    distance: dict[int, int]
    dataset_of: dict[int, int]
    links: tuple[Link, ...]
    unexplored: frozenset[int]
    truncated: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Edges:
    """The edges to walk: those of now, or of a moment, all or only direct ones."""

    of_fields: FromClause
    of_datasets: FromClause | None


def _edges(bounds: Bounds) -> _Edges:
    """The edges that are true now, or were at a moment.

    Edges to whole datasets are always INDIRECT (OpenLineage columnLineage facet 1-2-0, ``dataset``).
    """
    direct_only = bounds.edge_type is EdgeType.DIRECT
    of_fields = _valid(schema.edge, schema.edge_history, bounds.as_of, direct_only=direct_only)
    if direct_only:
        return _Edges(of_fields, None)
    return _Edges(of_fields, _valid(schema.dataset_edge, schema.dataset_edge_history, bounds.as_of))


def walk(connection: Connection, start: Collection[int], direction: Direction, bounds: Bounds) -> Closure:
    """Everything upstream or downstream of some columns, within bounds."""
    walker = _Walker(connection, _edges(bounds), direction, bounds)
    unexplored = walker.run(start)
    links = tuple(dict.fromkeys(walker.links))
    return Closure(walker.distance, walker.dataset_of, links, frozenset(unexplored), tuple(sorted(walker.truncated)))


@dataclass(slots=True)
class _Walker:
    connection: Connection
    edges: _Edges
    direction: Direction
    bounds: Bounds
    distance: dict[int, int] = field(default_factory=dict)
    dataset_of: dict[int, int] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    truncated: set[str] = field(default_factory=set)
    _datasets: set[int] = field(default_factory=set)

    def run(self, start: Collection[int]) -> list[int]:
        """Walks until nothing new comes or a limit is met; gives back what then stood open."""
        ends = time.monotonic() + self.bounds.seconds
        frontier = self._reach(start, 0)
        level = 0
        while frontier and not self._full(ends):
            found = list(self._links(frontier))
            if found and level == self.bounds.depth:
                self.truncated.add("depth")
                return frontier
            self.links += found
            level += 1
            frontier = self._reach(self._ends(found), level)
        return frontier

    def _full(self, ends: float) -> bool:
        if len(self.distance) > self.bounds.columns:
            self.truncated.add("columns")
        if time.monotonic() > ends:
            self.truncated.add("time")
        return bool(self.truncated)

    def _reach(self, fields: Iterable[int], level: int) -> list[int]:
        new = [one for one in dict.fromkeys(fields) if one not in self.distance]
        self.distance.update(dict.fromkeys(new, level))
        question = select(_FIELD.c.id, _FIELD.c.dataset_id)
        for row in rows_for(self.connection, new, lambda some: question.where(_FIELD.c.id.in_(some))):
            self.dataset_of[row.id] = row.dataset_id
        return new

    def _links(self, frontier: list[int]) -> Iterator[Link]:
        edges = self.edges.of_fields
        near = edges.c.output_field if self.direction is Direction.UP else edges.c.input_field
        question = _as_links(edges, "output_field")
        for row in rows_for(self.connection, frontier, lambda some: question.where(near.in_(some))):
            yield Link(*row)
        if self.edges.of_datasets is not None:
            yield from self._dataset_links(self.edges.of_datasets, frontier)

    def _dataset_links(self, edges: FromClause, frontier: list[int]) -> Iterator[Link]:
        question = _as_links(edges, "output_dataset")
        near, ids = edges.c.input_field, frontier
        if self.direction is Direction.UP:
            near, ids = edges.c.output_dataset, self._new_datasets(self.dataset_of[one] for one in frontier)
        for row in rows_for(self.connection, ids, lambda some: question.where(near.in_(some))):
            source, output, way, job = row
            yield Link(source, -output, way, job)

    def _new_datasets(self, datasets: Iterable[int]) -> list[int]:
        new = [one for one in dict.fromkeys(datasets) if one not in self._datasets]
        self._datasets.update(new)
        return new

    def _ends(self, links: Iterable[Link]) -> Iterator[int]:
        if self.direction is Direction.UP:
            return (link.input for link in links)
        return self._outputs(links)

    def _outputs(self, links: Iterable[Link]) -> Iterator[int]:
        datasets = []
        for link in links:
            if link.output > 0:
                yield link.output
            else:
                datasets.append(-link.output)
        new = self._new_datasets(datasets)
        question = select(_FIELD.c.id)
        for row in rows_for(self.connection, new, lambda some: question.where(_FIELD.c.dataset_id.in_(some))):
            yield row.id


def _as_links(edges: FromClause, output: str) -> Select[Any]:
    return select(edges.c.input_field, edges.c[output], edges.c.transformation_id, edges.c.job_id)


def _valid(current: Table, history: Table, moment: int | None, *, direct_only: bool = False) -> FromClause:
    if moment is None:
        return _direct(select(current), current).subquery() if direct_only else current
    then = select(*(history.c[column.name] for column in current.c))
    then = then.where(and_(history.c.valid_from <= moment, history.c.valid_to > moment))
    parts = (select(current).where(current.c.valid_from <= moment), then)
    if direct_only:
        parts = (_direct(parts[0], current), _direct(parts[1], history))
    return union_all(*parts).subquery()


def _direct(question: Select[Any], table: Table) -> Select[Any]:
    way = schema.transformation
    return question.join(way, way.c.id == table.c.transformation_id).where(way.c.type == "DIRECT")
