"""The columns that depend on a column or a dataset, by dataset."""

from collections.abc import Mapping
from dataclasses import replace

from headwater.model import Job
from headwater.store.graph.index.log import Pair
from headwater.store.questions import names
from headwater.store.questions.answers import (
    UNBOUNDED,
    Bounds,
    Column,
    Direction,
    Impact,
    ImpactedColumn,
    ImpactedDataset,
    KnownDataset,
    Overwrite,
)
from headwater.store.questions.graphs import start_nodes
from headwater.store.questions.hops import overwrites, pairs_of
from headwater.store.questions.lookup.find import Name, find
from headwater.store.questions.walk.closure import Closure, bare_datasets
from headwater.store.questions.walk.nested import walk_nodes
from headwater.store.questions.walk.path_transformations import Arrivals, Steps
from headwater.store.store import Store


def impact_of(store: Store, name: Name, bounds: Bounds = UNBOUNDED) -> Impact:
    """Every column that depends on a column, or on any column of a dataset, by dataset, the nearest first.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    with store.read() as connection:
        start = find(connection, name, bounds.as_of, bounds.sees, nested=True)
        begin = start_nodes(connection, start)
        closure = walk_nodes(connection, begin.values(), Direction.DOWN, bounds)
        ways = names.transformations(connection, {row[2] for row in closure.rows}, closure.transformations)
        found = Arrivals(begin, Steps(closure, Direction.DOWN), ways, Direction.DOWN)
        gone = set() if bounds.as_of else names.replaced(connection)
        lasting = (node for node in closure.distance if closure.dataset_of[node] not in gone)
        reached = names.columns(connection, set(lasting) - set(begin), bounds.as_of, closure.nodes)
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
