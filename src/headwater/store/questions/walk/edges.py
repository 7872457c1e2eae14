"""Which edges a question follows: those of now or of a moment, all or those that a filter lets through."""

from collections.abc import Collection, Container, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from sqlalchemy import ColumnElement, Connection, Select, Table, select

from headwater.store import schema
from headwater.store.graph.index import OPTION
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Tables, version_of
from headwater.store.questions.answers import Bounds, Direction, EdgeType
from headwater.store.questions.walk.conditions import has_opaque, job_ids, kinds, transformations
from headwater.store.questions.walk.guesses import GUESS_ID, Guess, Guesses, follows_guesses
from headwater.store.questions.walk.steps_inside import (
    ANY_COLUMN_ID,
    OTHER_FORMAT_ID,
    follows_opaque_values,
    format_steps,
    has_file_contents,
    has_whole_sources,
    whole_source_steps,
)
from headwater.store.read_model.presence import once, presence
from headwater.store.read_model.visibility import references, unseen_datasets
from headwater.store.sql.databases import Lookup, column_texts

if TYPE_CHECKING:  # numpy, which they need, may not be installed
    from headwater.store.graph.index.arrays import EdgeArrays
    from headwater.store.graph.index.memory import IndexedEdges

_TRANSFORMATION = schema.transformation
_FIELD = schema.field
_OWNERS = Lookup(select(_FIELD.c.id, _FIELD.c.dataset_id), _FIELD.c.id)
STEPS_INSIDE = (ANY_COLUMN_ID, OTHER_FORMAT_ID)
"""The transformations of steps between columns of one dataset, which are there for its readers."""


class Link(NamedTuple):
    """An edge in ids; ``output`` is negative when it stands for a whole dataset."""

    input: int
    output: int
    transformation: int
    job: int


Row = tuple[int, ...]
"""A link as a plain tuple."""


class LinkEnds(NamedTuple):
    """The far ends of links, and the links themselves, which are left out where only ends are needed."""

    ends: list[int]
    links: list[Row]

    @classmethod
    def of(cls, links: list[Row], direction: Direction) -> "LinkEnds":
        """Links, and their far ends."""
        end = 0 if direction is Direction.UP else 1
        return cls([link[end] for link in links], links)

    def leading_to(self, nodes: Container[int]) -> "LinkEnds":
        """The edges at some ends."""
        links = [link for link, end in zip(self.links, self.ends, strict=False) if end in nodes]
        return LinkEnds([end for end in self.ends if end in nodes], links)


class Edges:
    """The edges within bounds. The walk itself checks bounds on namespaces: an edge has ids alone.

    Raises:
        UnknownName: the bounds name a job that the store does not know.
    """

    def __init__(self, connection: Connection, bounds: Bounds, *, only_ends: bool = False) -> None:
        self._connection = connection
        self._guess = follows_guesses(bounds)
        self._whole_sources = has_whole_sources(connection, bounds)
        self._query = _EdgeQuery(
            Bounds(bounds.edge_type, bounds.as_of, subtypes=bounds.subtypes, masking=bounds.masking),
            tuple(sorted({id_ for name in bounds.jobs for id_ in job_ids(connection, name, bounds.sees)})),
            only_ends and not self._guess,
        )
        self._guesses = _FollowedGuesses(connection, bounds.as_of, self._query.jobs, followed=self._guess)

    @cached_property
    def whole(self) -> bool:
        """Whether there is any edge to a whole dataset at all; where there is none, a walk need not ask for them."""
        if self._query.bounds.as_of is None and not self._guess and not presence(self._connection).dataset_edges:
            return False
        if self._query.bounds.edge_type is EdgeType.DIRECT and not self._guess:
            return has_opaque(self._connection)
        questions = _lookups(self._query, DATASET_EDGES, Direction.UP)
        return self._guess or any(one.any(self._connection) for one in questions)

    def of_fields(self, direction: Direction, fields: Collection[int]) -> LinkEnds:
        """The edges between columns that lead to these, or go from them."""
        found = self._found(FIELD_EDGES, direction, fields)
        if not self._whole_sources:
            return found
        moment = self._query.bounds.as_of
        valid = [*_valid(FIELD_EDGES, moment), *_valid(DATASET_EDGES, moment)]
        steps = LinkEnds.of(whole_source_steps(self._connection, direction, fields, valid, self._query.jobs), direction)
        return LinkEnds(found.ends + steps.ends, [] if self._query.only_ends else found.links + steps.links)

    def of_datasets(self, direction: Direction, ids: Collection[int]) -> LinkEnds:
        """The edges to whole datasets: upstream of these datasets, or downstream of these columns."""
        return self._guesses.beside(self._found(DATASET_EDGES, direction, ids), direction, ids)

    def ends_out_of(self, tables: Tables, fields: Collection[int], *, jobs: bool) -> Iterator[list[list[int]]]:
        """The outputs of the edges from these fields, their transformations, and their jobs: each in a list of its own.

        Neither guesses nor steps inside a dataset are among them.
        """
        how = ("transformation_id", "job_id") if jobs else ("transformation_id",)
        for one in _lookups(self._query._replace(ends_and=how), tables, Direction.DOWN):
            yield from one.columns(self._connection, fields)

    def ends_between(self, tables: Tables, first: int, last: int, *, jobs: bool) -> Iterator[list[str]]:
        """The same of all fields from one id to another, and these fields last: each as the text of a JSON list."""
        how = ("transformation_id", *(["job_id"] if jobs else []), "input_field")
        for one in _lookups(self._query._replace(ends_and=how), tables, Direction.DOWN):
            question = one.question
            assert isinstance(question, Select)
            yield column_texts(self._connection, question.where(one.near.between(first, last)))

    def guesses(self) -> Iterator[Guess]:
        """All guesses that are followed: datasets that were read, with those that may have been made of them."""
        yield from self._guesses.between_datasets()

    def _found(self, tables: Tables, direction: Direction, ids: Collection[int]) -> LinkEnds:
        questions = _lookups(self._query, tables, direction)
        if self._query.only_ends:
            ends: list[int] = []
            for one in questions:
                ends += one.numbers(self._connection, ids)
            return LinkEnds(ends, [])
        return LinkEnds.of([link for one in questions for link in one.bare(self._connection, ids)], direction)


class _EdgeQuery(NamedTuple):
    """The conditions of a walk on each edge, whatever its ends: the same for all walks without filters."""

    bounds: Bounds
    jobs: tuple[int, ...]
    only_ends: bool
    ends_and: tuple[str, ...] = ()
    """The expressions that are read of edges beside their far ends, where these are in arrays."""


@lru_cache(100)
def _lookups(query: _EdgeQuery, tables: Tables, direction: Direction) -> tuple[Lookup, ...]:
    """The lookups by the near ends of edges."""
    output = "output_field" if tables is FIELD_EDGES else "output_dataset"
    near_and_far = (output, "input_field") if direction is Direction.UP else ("input_field", output)
    valid = _valid(tables, query.bounds.as_of)
    return tuple(
        Lookup(_question(query, table, near_and_far).where(*then), table.c[near_and_far[0]]) for table, then in valid
    )


def _valid(tables: Tables, moment: int | None) -> list[tuple[Table, list[ColumnElement[bool]]]]:
    """Where the edges of the moment stand, and which of those that stand there hold."""
    current, history = tables
    if moment is None:
        return [(current, [])]
    since, until = history.c.valid_from <= moment, history.c.valid_to > moment
    return [(current, [current.c.valid_from <= moment]), (history, [since, until])]


def _question(query: _EdgeQuery, table: Table, near_and_far: tuple[str, str]) -> Select[Any]:
    ends = {name: -table.c[name] if name == "output_dataset" else table.c[name] for name in near_and_far}
    if query.only_ends:
        question = select(ends[near_and_far[1]])
    elif query.ends_and:
        question = select(ends[near_and_far[1]], *(table.c[name] for name in query.ends_and))
    else:
        # The order decides between paths of one length; it is that of SQLite's indexes anyway.
        order = (table.c[name] for name in (*near_and_far, "job_id", "transformation_id"))
        of_edge = (table.c.transformation_id, table.c.job_id)
        question = select(ends.pop("input_field"), *ends.values(), *of_edge).order_by(*order)
    if query.jobs:
        question = question.where(table.c.job_id.in_(query.jobs))
    conditions = kinds(query.bounds)
    return (
        question.join(_TRANSFORMATION, _TRANSFORMATION.c.id == table.c.transformation_id).where(*conditions)
        if conditions
        else question
    )


@dataclass(frozen=True)
class _FollowedGuesses:
    """The guesses that a walk follows beside edges, if any."""

    connection: Connection
    moment: int | None
    jobs: tuple[int, ...]
    followed: bool = field(kw_only=True)

    def beside(self, edges: LinkEnds, direction: Direction, ids: Collection[int]) -> LinkEnds:
        """Return edges to whole datasets with the guesses at the same ends."""
        if not self.followed:
            return edges
        guesses = Guesses(self.connection, self.moment, self.jobs).of(direction, ids)
        return LinkEnds.of(
            [*edges.links, *((source, -output, GUESS_ID, job) for source, output, job in guesses)], direction
        )

    def between_datasets(self) -> Iterator[Guess]:
        """Yield all of them."""
        if self.followed:
            yield from Guesses(self.connection, self.moment, self.jobs).between_datasets()


class EdgesInMemory:
    """The current edges within bounds, from memory: the same as of `Edges`, in the same order.

    Raises:
        UnknownName: the bounds name a job that the store does not know.
    """

    def __init__(
        self, connection: Connection, indexed: "IndexedEdges", bounds: Bounds, *, only_ends: bool = False
    ) -> None:
        self._known = indexed
        self._jobs = {id_ for name in bounds.jobs for id_ in job_ids(connection, name, bounds.sees)}
        self._transformations = transformations(connection, bounds)
        guess = follows_guesses(bounds)
        self._guesses = _FollowedGuesses(connection, None, tuple(sorted(self._jobs)), followed=guess)
        # Filters look at all of a link.
        self._only_ends = only_ends and not self._jobs and self._transformations is None and not guess
        stored = bool(indexed.datasets) and (bounds.edge_type is not EdgeType.DIRECT or has_opaque(connection))
        self.whole = guess or stored

    @property
    def arrays(self) -> "list[tuple[int, EdgeArrays]]":
        """All edges, those of whole datasets with -1; none where those of some jobs are asked for."""
        own = [(1, self._known.fields), *([(-1, self._known.datasets)] if self.whole else [])]
        return [] if self._jobs else own

    def guesses(self) -> Iterator[Guess]:
        """All guesses that are followed, as `Edges` has them: these are not in memory."""
        return self._guesses.between_datasets()

    def follows(self, transformation: int) -> bool:
        """Whether the filters let edges of a transformation through."""
        return self._transformations is None or transformation in self._transformations

    def of_fields(self, direction: Direction, fields: Collection[int]) -> LinkEnds:
        """The edges between columns that lead to these, or go from them."""
        return self._found(self._known.fields, direction, fields)

    def of_datasets(self, direction: Direction, ids: Collection[int]) -> LinkEnds:
        """The edges to whole datasets: upstream of these datasets, or downstream of these columns."""
        found = self._found(self._known.datasets, direction, ids)
        ends = found.ends if direction is Direction.UP else [-output for output in found.ends]
        stored = LinkEnds(ends, [(source, -output, *how) for source, output, *how in found.links])
        return self._guesses.beside(stored, direction, ids)

    def _found(self, edges: "EdgeArrays", direction: Direction, ids: Collection[int]) -> LinkEnds:
        up = direction is Direction.UP
        if self._only_ends:
            return LinkEnds(edges.inputs_of(ids) if up else edges.outputs_of(ids), [])
        return LinkEnds.of(self._kept(edges.into(ids) if up else edges.out_of(ids)), direction)

    def _kept(self, rows: list[Row]) -> list[Row]:
        if self._transformations is not None:
            rows = [row for row in rows if row[2] in self._transformations]
        if self._jobs:
            rows = [row for row in rows if row[3] in self._jobs]
        return rows


class EdgesAcrossFormats:
    """Edges, and steps between columns of files that are read in another format than they were written in."""

    def __init__(self, connection: Connection, stored: Edges | EdgesInMemory, moment: int | None) -> None:
        self._connection, self.stored = connection, stored
        self._every = Edges(connection, Bounds(as_of=moment))
        self.whole = stored.whole

    def of_fields(self, direction: Direction, fields: Collection[int]) -> LinkEnds:
        """The edges between columns that lead to these, or go from them."""
        found, steps = self.stored.of_fields(direction, fields), LinkEnds.of(self._steps(direction, fields), direction)
        return LinkEnds(found.ends + steps.ends, found.links + steps.links)

    def of_datasets(self, direction: Direction, ids: Collection[int]) -> LinkEnds:
        """The edges to whole datasets: upstream of these datasets, or downstream of these columns."""
        return self.stored.of_datasets(direction, ids)

    def _steps(self, direction: Direction, fields: Collection[int]) -> list[Row]:
        """A step for each job that reads the files so."""
        near, up = set(fields), direction is Direction.UP
        found = format_steps(self._connection, fields, self._written)
        steps = [step for step in found if (step.output if up else step.input) in near]
        readers = _readers(self.stored, {step.output for step in steps})
        return [(*step, OTHER_FORMAT_ID, job) for step in steps for job in sorted(readers.get(step.output, ()))]

    def _written(self, fields: Collection[int]) -> set[int]:
        return {link[1] for link in self._every.of_fields(Direction.UP, fields).links}


def _readers(edges: Edges | EdgesInMemory, fields: Collection[int]) -> dict[int, set[int]]:
    """The jobs that read columns."""
    found: dict[int, set[int]] = {}
    if fields:
        down = Direction.DOWN
        for source, _, _, job in [*edges.of_fields(down, fields).links, *edges.of_datasets(down, fields).links]:
            found.setdefault(source, set()).add(job)
    return found


class EdgesSeen:
    """Edges without the references of which somebody may not see both sides."""

    def __init__(
        self, connection: Connection, edges: Edges | EdgesInMemory | EdgesAcrossFormats, marked: frozenset[int]
    ) -> None:
        self._connection, self._edges, self._marked = connection, edges, marked
        self.whole = edges.whole

    def of_fields(self, direction: Direction, fields: Collection[int]) -> LinkEnds:
        """The edges between columns that lead to these, or go from them."""
        return self._seen(self._edges.of_fields(direction, fields), direction)

    def of_datasets(self, direction: Direction, ids: Collection[int]) -> LinkEnds:
        """The edges to whole datasets: upstream of these datasets, or downstream of these columns."""
        return self._seen(self._edges.of_datasets(direction, ids), direction)

    def seen(self, links: list[Row]) -> list[Row]:
        """Links without such references, and without steps inside a dataset to what only such references read."""
        found = self._unmarked(links)
        inside = {link[1] for link in found if link[2] in STEPS_INSIDE}
        if not inside:
            return found
        down = Direction.DOWN
        read = [*self._edges.of_fields(down, inside).links, *self._edges.of_datasets(down, inside).links]
        readers = {(link[0], link[3]) for link in self._unmarked(read)}
        return [link for link in found if link[2] not in STEPS_INSIDE or (link[1], link[3]) in readers]

    def _unmarked(self, links: list[Row]) -> list[Row]:
        marked = [link for link in links if link[2] in self._marked]
        if not marked:
            return links
        fields = {end for link in marked for end in link[:2] if end > 0}
        owner = dict(_OWNERS.bare(self._connection, fields)) | {link[1]: -link[1] for link in marked if link[1] < 0}
        unseen = unseen_datasets(self._connection, set(owner.values()))
        return [link for link in links if link[2] not in self._marked or unseen.isdisjoint(map(owner.get, link[:2]))]

    def _seen(self, edges: LinkEnds, direction: Direction) -> LinkEnds:
        return LinkEnds.of(self.seen(edges.links), direction)


AnyEdges: TypeAlias = Edges | EdgesInMemory | EdgesAcrossFormats | EdgesSeen


def edges_within(connection: Connection, bounds: Bounds, *, only_ends: bool = False) -> AnyEdges:
    """The edges that a walk follows: from memory, if the store keeps them there and they can answer.

    Raises:
        UnknownName: the bounds name a job that the store does not know.
    """
    marked, formats = references(connection), follows_opaque_values(bounds) and has_file_contents(connection)
    stored = _every_edge(connection, bounds, only_ends=only_ends and not marked and not formats)
    edges = EdgesAcrossFormats(connection, stored, bounds.as_of) if formats else stored
    return EdgesSeen(connection, edges, marked) if marked else edges


def _every_edge(connection: Connection, bounds: Bounds, *, only_ends: bool) -> Edges | EdgesInMemory:
    index = connection.get_execution_options().get(OPTION)
    in_tables = bounds.as_of is not None or has_whole_sources(connection, bounds)
    if index is not None and not in_tables:
        known = index.at(connection, once(connection, version_of))
        if known is not None:
            return EdgesInMemory(connection, known, bounds, only_ends=only_ends)
    return Edges(connection, bounds, only_ends=only_ends)
