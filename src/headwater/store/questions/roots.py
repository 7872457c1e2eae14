"""The roots of a column: the columns with nothing before them, and how they take part."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

from sqlalchemy import Connection

from headwater.store.questions import names
from headwater.store.questions.answers import (
    UNBOUNDED,
    Bounds,
    Column,
    Direction,
    EdgeType,
    Evidence,
    Origin,
    PathTransformation,
    Root,
    Roots,
)
from headwater.store.questions.ends import TO_GUESS, evidence_of_ends, near_columns
from headwater.store.questions.hops import overwrites, pairs_of
from headwater.store.questions.lookup.find import Name, find_column
from headwater.store.questions.walk.closure import Closure, as_read
from headwater.store.questions.walk.nested import walk_nodes
from headwater.store.questions.walk.path_transformations import Arrivals, Steps, rank
from headwater.store.store import Store

_ORIGINS = {
    Evidence.UNWRITTEN: Origin.SOURCE,
    Evidence.LITERAL: Origin.CONSTANT,
    Evidence.PARTIAL: Origin.UNKNOWN,
    Evidence.NO_LINEAGE: Origin.UNKNOWN,
    Evidence.UNNAMED: Origin.UNKNOWN,
    Evidence.REPLACED: Origin.UNKNOWN,
    Evidence.CYCLE: Origin.CYCLE,
    Evidence.FILTERED: Origin.FILTERED,
}


def roots_of(store: Store, name: Name, bounds: Bounds = UNBOUNDED) -> Roots:
    """The roots of a column, the direct ones first.

    A root is a column that nothing stands before: no known job writes its dataset, or the job that does
    reads nothing for it, or has no lineage, or makes it from itself only (`Origin` and `Evidence` say which).

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        column = find_column(connection, name, bounds.as_of, bounds.sees, nested=True)
        closure = walk_nodes(connection, [column.node], Direction.UP, bounds)
        steps = Steps(closure, Direction.UP)
        origins = evidence_of_ends(connection, closure, steps, bounds)
        transformations = names.transformations(connection, {row[2] for row in closure.rows}, closure.transformations)
        walked, past = as_read(closure)
        steps = Steps(walked, Direction.UP, past) if past else steps
        found = Arrivals([column.id], steps, transformations, Direction.UP)
        others = {key: one for key, one in origins.items() if key != column.id}
        itself = origins.get(column.id)
        near = near_columns(connection, column, bounds.sees) if itself in TO_GUESS else ()
        roots = tuple(
            replace(root, near=near_columns(connection, root.column, bounds.sees))
            if root.evidence is Evidence.UNNAMED
            else root
            for root in _named(connection, others, found, closure, bounds)
        )
        origin = None if itself is None else _ORIGINS[itself]
        return Roots(column, roots, origin, closure.truncated, itself, near)


def _named(
    connection: Connection, origins: Mapping[int, Evidence], arrivals: Arrivals, closure: Closure, bounds: Bounds
) -> tuple[Root, ...]:
    wanted = {node: _wanted(arrivals.transformations(node), bounds.edge_type) for node in origins}
    reached = [node for node, paths in wanted.items() if paths]
    columns = names.columns(connection, reached, bounds.as_of, closure.nodes)
    paths = {node: arrivals.shortest(node, wanted[node]) for node in columns}
    jobs = names.jobs(connection, {row[3] for _, path in paths.values() for row in path})
    pairs = (pair for _, path in paths.values() for pair in pairs_of(path, closure.dataset_of))
    overwritten = overwrites(connection, pairs, bounds.as_of)
    applications = names.applications(connection, jobs)
    roots = []
    for node, column in columns.items():
        distance, path = paths[node]
        on_path = [job for job, _ in groupby([row[3] for row in path])]
        stages = tuple(application for application, _ in groupby(applications[job] for job in on_path))
        named, known = tuple(jobs[job] for job in on_path), origins[node]
        replaced = (
            {overwritten[pair] for pair in pairs_of(path, closure.dataset_of) & overwritten.keys()}
            if overwritten
            else ()
        )
        runs = tuple(sorted(replaced, key=lambda one: (one.at, one.run)))
        root = Root(column, _ORIGINS[known], wanted[node], distance, named, stages, known, possibly_replaced=runs)
        roots.append(root)
    return tuple(sorted(roots, key=_strongest_first))


def _wanted(paths: tuple[PathTransformation, ...], edge_type: EdgeType | None) -> tuple[PathTransformation, ...]:
    if edge_type is None:
        return paths
    return tuple(path for path in paths if path.transformation.direct is (edge_type is EdgeType.DIRECT))


def _strongest_first(root: Root) -> tuple[tuple[int, ...], Column]:
    return rank(root.transformations[0]), root.column
