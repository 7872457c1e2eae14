"""Walks as answers: `walk_from` for everything around a name, `impact_of` for what depends on it."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sqlalchemy import Connection

from headwater.model import Job, Transformation
from headwater.store.graph.index.log import Pair
from headwater.store.questions import names
from headwater.store.questions.answers import (
    UNBOUNDED,
    Bounds,
    Column,
    Direction,
    Graph,
    Hop,
    Impact,
    ImpactedColumn,
    ImpactedDataset,
    KnownDataset,
    Overwrite,
)
from headwater.store.questions.closure import Closure, bare_datasets, walk
from headwater.store.questions.edges import Link
from headwater.store.questions.exact import Name
from headwater.store.questions.find import find
from headwater.store.questions.origins import ends_of
from headwater.store.questions.overwrites import overwrites, pairs_of
from headwater.store.questions.steps import Steps
from headwater.store.questions.walks import start_ids, walked
from headwater.store.questions.ways import Arrivals, strongest_first
from headwater.store.store import Store


def walk_from(
    store: Store,
    name: Name,
    direction: Direction = Direction.UP,
    bounds: Bounds = UNBOUNDED,
    *,
    ends: bool = False,
) -> Graph:
    """The columns upstream or downstream of a column, or of every column of a dataset, and the hops between.

    With ``ends`` a walk up has what is known of the columns that nothing stands before.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        start, closure, ways = walked(connection, name, direction, bounds)
        columns = names.columns(connection, closure.distance, bounds.as_of)
        distance = {columns[one]: far for one, far in closure.distance.items()}
        hops = named_hops(connection, closure.links, columns, ways, bounds.as_of)
        known = ends_of(connection, closure, columns, bounds) if ends and direction is Direction.UP else {}
        return Graph(start, direction, distance, hops, closure.truncated, closure.sides, known)


def impact_of(store: Store, name: Name, bounds: Bounds = UNBOUNDED) -> Impact:
    """Every column that depends on a column, or on any column of a dataset, by dataset, the nearest first.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        start = find(connection, name, bounds.as_of, bounds.sees)
        begin = start_ids(connection, start)
        closure = walk(connection, begin, Direction.DOWN, bounds)
        ways = names.transformations(connection, {link.transformation for link in closure.links})
        found = Arrivals(begin, Steps(closure, Direction.DOWN), ways, Direction.DOWN)
        gone = set() if bounds.as_of else names.replaced(connection)
        lasting = (node for node in closure.distance if closure.dataset_of[node] not in gone)
        reached = names.columns(connection, set(lasting) - set(begin), bounds.as_of)
        jobs = names.jobs(connection, {link.job for link in closure.links})
        bare = bare_datasets(closure, Direction.DOWN)
        known = names.datasets(connection, bare.keys() - gone, bounds.as_of)
        whole = {dataset: bare[one] for one, dataset in known.items()}
        writing = {
            dataset: sorted((jobs[one] for one in own), key=_by_name) for dataset, own in _writing(closure).items()
        }
        by_dataset = [*_by_dataset(reached, closure, found, writing), *_without_columns(whole, found, writing)]
        runs = overwrites(connection, pairs_of(closure.links, closure.dataset_of), bounds.as_of)
        by_dataset = _with_overwrites(by_dataset, runs)
        nearest_first = sorted(by_dataset, key=lambda one: (one.distance, one.dataset))
        return Impact(start, tuple(nearest_first), closure.truncated)


def named_hops(
    connection: Connection,
    links: Iterable[Link],
    columns: Mapping[int, Column],
    ways: Mapping[int, Transformation],
    at: int | None = None,
) -> tuple[Hop, ...]:
    """Links with names, those of one job between the same two ends as one hop."""
    together: dict[tuple[int, int, int], list[Transformation]] = {}
    for link in links:
        together.setdefault((link.input, link.output, link.job), []).append(ways[link.transformation])
    jobs = names.jobs(connection, {job for *_, job in together})
    datasets = names.datasets(connection, {-output for _, output, _ in together if output < 0}, at)
    owner_of = {output: columns[output].dataset.id for _, output, _ in together if output > 0}
    runs = overwrites(connection, {(job, owner_of.get(output, -output)) for _, output, job in together}, at)
    hops = []
    for (source, output, job), how in together.items():
        column = columns[output] if output > 0 else None
        dataset = column.dataset if column is not None else datasets[-output]
        overwritten = runs.get((job, dataset.id))
        hops.append(Hop(columns[source], column, dataset, strongest_first(how), jobs[job], overwritten))
    return tuple(hops)


def _by_dataset(
    reached: Mapping[int, Column], closure: Closure, found: Arrivals, writing: Mapping[int, list[Job]]
) -> list[ImpactedDataset]:
    columns: dict[KnownDataset, list[ImpactedColumn]] = {}
    for node, column in reached.items():
        impacted = ImpactedColumn(column, closure.distance[node], found.transformations(node))
        columns.setdefault(column.dataset, []).append(impacted)
    return [
        ImpactedDataset(
            dataset,
            tuple(sorted(impacted, key=lambda one: (one.distance, one.column.name))),
            tuple(writing.get(dataset.id, ())),
            min(one.distance for one in impacted),
        )
        for dataset, impacted in columns.items()
    ]


def _without_columns(
    distance: Mapping[KnownDataset, int], found: Arrivals, writing: Mapping[int, list[Job]]
) -> list[ImpactedDataset]:
    return [
        ImpactedDataset(
            dataset,
            (),
            tuple(writing[dataset.id]),
            far,
            found.transformations(-dataset.id),
        )
        for dataset, far in distance.items()
    ]


def _with_overwrites(impacted: list[ImpactedDataset], runs: Mapping[Pair, Overwrite]) -> list[ImpactedDataset]:
    """The datasets with the runs that may have replaced what is impacted of them."""
    of_dataset: dict[int, set[Overwrite]] = {}
    for (_, dataset), run in runs.items():
        of_dataset.setdefault(dataset, set()).add(run)
    return [
        replace(one, possibly_replaced=tuple(sorted(found, key=lambda run: (run.at, run.run))))
        if (found := of_dataset.get(one.dataset.id))
        else one
        for one in impacted
    ]


def _writing(closure: Closure) -> dict[int, set[int]]:
    writing: dict[int, set[int]] = {}
    for link in closure.links:
        dataset = -link.output if link.output < 0 else closure.dataset_of[link.output]
        writing.setdefault(dataset, set()).add(link.job)
    return writing


def _by_name(job: Job) -> tuple[str, str]:
    return job.namespace, job.name
