"""Walks from a name as answers: with a value for each column and hop, in ids, and by dataset."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlalchemy import Connection

from headwater.graph import reachable
from headwater.model import Job, Transformation
from headwater.model.nested_fields import nested_name
from headwater.store.questions import names
from headwater.store.questions.answers import (
    UNBOUNDED,
    Bounds,
    Column,
    Direction,
    EdgeType,
    Graph,
    Hop,
    KnownDataset,
    Node,
    Readings,
    Sides,
)
from headwater.store.questions.ends import ends_of
from headwater.store.questions.hops import named_hops
from headwater.store.questions.lookup.find import Name, find
from headwater.store.questions.walk.closure import Closure, as_read, bare_datasets, joined
from headwater.store.questions.walk.edges import Link
from headwater.store.questions.walk.guesses import GUESS_ID, follows_guesses
from headwater.store.questions.walk.nested import walk_nodes
from headwater.store.questions.walk.path_transformations import Steps, only_indirect, strongest_first
from headwater.store.store import Store


class WalkSummary(NamedTuple):
    """Where a walk began, what it reached, and the transformations on its links."""

    start: Column | KnownDataset
    closure: Closure
    transformations: dict[int, Transformation]


def walked(connection: Connection, name: Name, direction: Direction, bounds: Bounds) -> WalkSummary:
    """Walks from a column, or from every column of a dataset.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    start = find(connection, name, bounds.as_of, bounds.sees, nested=True)
    closure = closure_at(connection, start, direction, bounds)
    return WalkSummary(start, closure, _transformations(connection, closure))


def _transformations(connection: Connection, closure: Closure) -> dict[int, Transformation]:
    return names.transformations(connection, {row[2] for row in closure.rows}, closure.transformations)


def closure_at(
    connection: Connection, start: Column | KnownDataset, direction: Direction, bounds: Bounds, *, links: bool = True
) -> Closure:
    """Walks from a column, or from every column of a dataset, in ids alone; both directions share the time."""
    if direction is Direction.BOTH:
        return closure_in_both_directions(connection, start, (bounds, bounds), links=links)
    return _closure_in_direction(connection, start, direction, bounds, links=links)


def closure_in_both_directions(
    connection: Connection, start: Column | KnownDataset, bounds: tuple[Bounds, Bounds], *, links: bool = True
) -> Closure:
    """Walk up within the first bounds and down within the second; both together have the seconds of the first."""
    ends = time.monotonic() + bounds[0].seconds
    up = _closure_in_direction(connection, start, Direction.UP, bounds[0], links=links)
    rest = replace(bounds[1], seconds=max(ends - time.monotonic(), 0.0))
    return joined(up, _closure_in_direction(connection, start, Direction.DOWN, rest, links=links))


def _closure_in_direction(
    connection: Connection, start: Column | KnownDataset, direction: Direction, bounds: Bounds, *, links: bool
) -> Closure:
    begin = start_nodes(connection, start)
    # A dataset of which no column is known may still have rows that depend on something.
    rows = [(-start.id, ())] if isinstance(start, KnownDataset) and not begin else []
    closure = walk_nodes(connection, [*begin.values(), *rows], direction, bounds, links=links)
    if bounds.edge_type is not EdgeType.INDIRECT:
        return closure
    return only_indirect(closure, begin, _transformations(connection, closure), direction)


def start_nodes(connection: Connection, start: Column | KnownDataset) -> dict[int, Node]:
    """The columns to begin at, or the field within one, by id."""
    columns = [start] if isinstance(start, Column) else names.current_columns(connection, start)
    return {one.id: one.node for one in columns}


def walk_from(
    store: Store,
    name: Name,
    direction: Direction = Direction.UP,
    bounds: Bounds = UNBOUNDED,
    *,
    ends: bool = False,
) -> Graph:
    """The columns upstream or downstream of a column, or of every column of a dataset, and the hops between.

    With ``ends`` a walk up has what is known of the columns that nothing stands before, and its readings.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        start, closure, transformations = walked(connection, name, direction, bounds)
        columns = names.columns(connection, closure.distance, bounds.as_of, closure.nodes)
        distance = {columns[one]: far for one, far in closure.distance.items()}
        hops = named_hops(connection, closure.links, columns, transformations, bounds.as_of)
        upward = ends and direction is Direction.UP
        known = ends_of(connection, closure, columns, bounds) if upward else {}
        readings = _readings(closure, hops) if upward else {}
        return Graph(start, direction, distance, hops, closure.truncated, closure.sides, known, readings)


def _readings(closure: Closure, hops: Collection[Hop]) -> Readings:
    if not closure.ended:
        return {}
    place = {
        ends: at for at, ends in enumerate(dict.fromkeys((one.input, one.output, one.job) for one in closure.links))
    }
    assert len(place) == len(hops)
    walked, past = as_read(closure)
    before: dict[int, dict[tuple[int, int], None]] = {}
    for row in walked.rows:
        source, output, _, job = past.real.get(row, row)
        before.setdefault(row[1], {})[row[0], place[source, output, job]] = None
    return {node: tuple(some) for node, some in before.items()}


@dataclass(frozen=True, slots=True)
class CompactGraph:
    """A closure and the names of all that is in it, by id; an output below 0 stands for a whole dataset."""

    start: Column | KnownDataset
    direction: Direction
    closure: Closure
    fields: dict[int, str]
    datasets: dict[int, KnownDataset]
    transformations: dict[int, Transformation]
    jobs: dict[int, Job]


@dataclass(frozen=True, slots=True)
class Reached:
    """The columns of a closure alone, as ids with their distance; ``guessed`` are those that only guesses lead to."""

    start: Column | KnownDataset
    direction: Direction
    distance: dict[int, int]
    truncated: tuple[str, ...]
    guessed: frozenset[int] = frozenset()
    sides: Sides | None = None


def compact_from(
    store: Store, name: Name, direction: Direction = Direction.UP, bounds: Bounds = UNBOUNDED
) -> CompactGraph:
    """As `walk_from`, without a value for each column and hop.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        start = find(connection, name, bounds.as_of, bounds.sees, nested=True)
        return named_closure(connection, start, direction, closure_at(connection, start, direction, bounds), bounds)


def named_closure(
    connection: Connection, start: Column | KnownDataset, direction: Direction, closure: Closure, bounds: Bounds
) -> CompactGraph:
    """Return a closure with the names of all that is in it."""
    owners = {*closure.dataset_of.values(), *(-row[1] for row in closure.rows if row[1] < 0)}
    if isinstance(start, KnownDataset):
        owners.add(start.id)
    return CompactGraph(
        start,
        direction,
        closure,
        _field_names(connection, closure, bounds.as_of),
        names.datasets(connection, owners, bounds.as_of),
        _transformations(connection, closure),
        dict(names.jobs(connection, {row[3] for row in closure.rows})),
    )


def reached_from(store: Store, name: Name, direction: Direction = Direction.UP, bounds: Bounds = UNBOUNDED) -> Reached:
    """Which columns a walk reaches, and no more: the quickest of the answers.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        start = find(connection, name, bounds.as_of, bounds.sees, nested=True)
        needs_links = bounds.edge_type is EdgeType.INDIRECT or follows_guesses(bounds)
        closure = closure_at(connection, start, direction, bounds, links=needs_links)
    return Reached(
        start,
        direction,
        closure.distance,
        closure.truncated,
        _guessed(start, closure, direction),
        closure.sides,
    )


def _guessed(start: Column | KnownDataset, closure: Closure, direction: Direction) -> frozenset[int]:
    certain = tuple(row for row in closure.rows if row[2] != GUESS_ID)
    if len(certain) == len(closure.rows):
        return frozenset()
    begin = [node for node, far in closure.distance.items() if far == 0]
    rows = [] if isinstance(start, Column) else [-start.id]
    directions = (Direction.UP, Direction.DOWN) if direction is Direction.BOTH else (direction,)
    known = (reachable([*begin, *rows], Steps(replace(closure, rows=certain), one).successors) for one in directions)
    return frozenset(closure.distance.keys() - set().union(*known))


def _field_names(connection: Connection, closure: Closure, at: int | None) -> dict[int, str]:
    called = names.NamesAtMoment(connection, at)
    owners, present, nodes = closure.dataset_of, closure.name_of, closure.nodes
    then = {one: present[one] for one in closure.distance}
    if called.renames:
        then = {one: called(owners[one], name) for one, name in then.items()}
    if not nodes:
        return then
    return {one: nested_name((name, *nodes[one][1])) if one in nodes else name for one, name in then.items()}


@dataclass(frozen=True, slots=True)
class DatasetHop:
    """Jobs make columns of a dataset from columns of another: how, and over how many edges."""

    input: KnownDataset
    output: KnownDataset
    transformations: tuple[Transformation, ...]
    jobs: tuple[Job, ...]
    edges: int


@dataclass(frozen=True, slots=True)
class DatasetGraph:
    """The datasets of a walk over columns, each with the distance of its nearest column."""

    start: Column | KnownDataset
    direction: Direction
    datasets: dict[KnownDataset, int]
    hops: tuple[DatasetHop, ...]
    truncated: tuple[str, ...] = ()
    sides: Sides | None = None


def datasets_from(
    store: Store, name: Name, direction: Direction = Direction.UP, bounds: Bounds = UNBOUNDED
) -> DatasetGraph:
    """The datasets upstream or downstream of a column, or of every column of a dataset.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        start, closure, transformations = walked(connection, name, direction, bounds)
        bare = bare_datasets(closure, direction)
        nearest = bare | _nearest(closure, closure.distance)
        known = names.datasets(connection, nearest, bounds.as_of)
        hops = _hops(connection, closure, known, transformations)
    distance = {known[one]: far for one, far in sorted(nearest.items(), key=lambda item: (item[1], known[item[0]]))}
    return DatasetGraph(start, direction, distance, hops, closure.truncated, _sides(closure, bare))


def _sides(closure: Closure, bare: Mapping[int, int]) -> Sides | None:
    if closure.sides is None:
        return None
    begin = {dataset: 0 for dataset, far in bare.items() if far == 0}
    up, down = (_nearest(closure, side) for side in (closure.sides.up, closure.sides.down))
    return Sides(begin | up, {**bare, **down})


def _nearest(closure: Closure, distance: Mapping[int, int]) -> dict[int, int]:
    """The distance of the nearest column of each dataset."""
    nearest: dict[int, int] = {}
    for node, far in distance.items():
        dataset = closure.dataset_of[node]
        nearest[dataset] = min(far, nearest.get(dataset, far))
    return nearest


def _hops(
    connection: Connection,
    closure: Closure,
    datasets: Mapping[int, KnownDataset],
    transformations: Mapping[int, Transformation],
) -> tuple[DatasetHop, ...]:
    together: dict[tuple[int, int], list[Link]] = {}
    for link in closure.links:
        output = closure.dataset_of[link.output] if link.output > 0 else -link.output
        together.setdefault((closure.dataset_of[link.input], output), []).append(link)
    jobs = names.jobs(connection, {link.job for link in closure.links})
    hops = []
    for (source, output), links in together.items():
        kinds = {replace(transformations[kind], description="") for kind in {link.transformation for link in links}}
        by = sorted((jobs[job] for job in {link.job for link in links}), key=lambda job: (job.namespace, job.name))
        hops.append(DatasetHop(datasets[source], datasets[output], strongest_first(kinds), tuple(by), len(links)))
    return tuple(sorted(hops, key=lambda hop: (hop.input, hop.output)))
