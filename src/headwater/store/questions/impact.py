"""The columns that depend on a column or a dataset, by dataset."""

from collections.abc import Mapping
from operator import attrgetter

from headwater.model import Job
from headwater.store.questions import names
from headwater.store.questions.answers import (
    UNBOUNDED,
    Bounds,
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
from headwater.store.read_model.fields import replaced_datasets
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
        transformations = names.transformations(connection, {row[2] for row in closure.rows}, closure.transformations)
        found = Arrivals(begin, Steps(closure, Direction.DOWN), transformations, Direction.DOWN)
        gone = set() if bounds.as_of else replaced_datasets(connection)
        lasting = (node for node in closure.distance if closure.dataset_of[node] not in gone)
        reached = names.columns(connection, set(lasting) - set(begin), bounds.as_of, closure.nodes)
        bare = bare_datasets(closure, Direction.DOWN)
        known = names.datasets(connection, bare.keys() - gone, bounds.as_of)
        writing = _writing(closure, names.jobs(connection, {row[3] for row in closure.rows}))
        runs = overwrites(connection, pairs_of(closure.rows, closure.dataset_of), bounds.as_of)
    replacing: dict[int, set[Overwrite]] = {}
    for (_, output), run in runs.items():
        replacing.setdefault(output, set()).add(run)
    columns: dict[KnownDataset, list[ImpactedColumn]] = {dataset: [] for dataset in known.values()}
    for node, column in reached.items():
        impacted = ImpactedColumn(column, closure.distance[node], found.transformations(node))
        columns.setdefault(column.dataset, []).append(impacted)
    by_dataset = [
        ImpactedDataset(
            dataset,
            tuple(sorted(own, key=lambda one: (one.distance, one.column.name))),
            writing.get(dataset.id, ()),
            min((one.distance for one in own), default=bare.get(dataset.id, 0)),
            () if own else found.transformations(-dataset.id),
            tuple(sorted(replacing.get(dataset.id, ()), key=attrgetter("at", "run"))),
        )
        for dataset, own in columns.items()
    ]
    nearest_first = sorted(by_dataset, key=lambda one: (one.distance, one.dataset))
    return Impact(start, tuple(nearest_first), closure.truncated)


def _writing(closure: Closure, jobs: Mapping[int, Job]) -> dict[int, tuple[Job, ...]]:
    """The jobs that write each dataset, by name."""
    writing: dict[int, set[int]] = {}
    for job, dataset in pairs_of(closure.rows, closure.dataset_of):
        writing.setdefault(dataset, set()).add(job)
    by_name = attrgetter("namespace", "name")
    return {dataset: tuple(sorted((jobs[one] for one in own), key=by_name)) for dataset, own in writing.items()}
