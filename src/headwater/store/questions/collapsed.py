"""A walk with the columns of each dataset taken together."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from headwater.model import Job, Transformation
from headwater.store.questions import names
from headwater.store.questions.answers import UNBOUNDED, Bounds, Column, Direction, KnownDataset, Sides
from headwater.store.questions.closure import Closure, bare_datasets
from headwater.store.questions.edges import Link
from headwater.store.questions.exact import Name
from headwater.store.questions.walks import walked
from headwater.store.questions.ways import strongest_first
from headwater.store.store import Store


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
    """What a walk over columns found, told by dataset: with the distance of its nearest column."""

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
        start, closure, ways = walked(connection, name, direction, bounds)
        bare = bare_datasets(closure, direction)
        nearest = bare | _nearest(closure, closure.distance)
        known = names.datasets(connection, nearest, bounds.as_of)
        hops = _hops(connection, closure, known, ways)
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
    known: Mapping[int, KnownDataset],
    ways: Mapping[int, Transformation],
) -> tuple[DatasetHop, ...]:
    together: dict[tuple[int, int], list[Link]] = {}
    for link in closure.links:
        output = closure.dataset_of[link.output] if link.output > 0 else -link.output
        together.setdefault((closure.dataset_of[link.input], output), []).append(link)
    jobs = names.jobs(connection, {link.job for link in closure.links})
    hops = []
    for (source, output), links in together.items():
        kinds = {replace(ways[way], description="") for way in {link.transformation for link in links}}
        by = sorted((jobs[job] for job in {link.job for link in links}), key=lambda job: (job.namespace, job.name))
        hops.append(DatasetHop(known[source], known[output], strongest_first(kinds), tuple(by), len(links)))
    return tuple(sorted(hops, key=lambda hop: (hop.input, hop.output)))
