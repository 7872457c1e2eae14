"""Views: what leads to a column or a dataset and what comes of it, with all that a page shows of both at once."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from headwater.store.graph.index.log import Pair
from headwater.store.questions.answers import UNBOUNDED, Bounds, Direction, Overwrite
from headwater.store.questions.graphs import CompactGraph, closure_in_both_directions, named_closure
from headwater.store.questions.hops import overwrites, pairs_of
from headwater.store.questions.lookup.find import Name, find
from headwater.store.questions.walk.closure import Closure, walk
from headwater.store.read_model.fields import lasting
from headwater.store.store import Store


@dataclass(frozen=True, slots=True)
class View:
    """A walk both ways, and beside it what cards, columns and edges show.

    ``types`` are those of columns, by id, where a schema is known; ``widths`` the numbers of columns that datasets
    have now; ``overwrites`` the runs that may have replaced what a job wrote, by job and output. ``more`` are the
    columns with edges that the view lacks, by the direction in which these lead.
    """

    graph: CompactGraph
    types: Mapping[int, str]
    widths: Mapping[int, int]
    overwrites: Mapping[Pair, Overwrite]
    more: Mapping[Direction, frozenset[int]]


def view_of(
    store: Store, name: Name, bounds: Bounds = UNBOUNDED, *, up: int | None = None, down: int | None = None
) -> View:
    """Return the view of a column, or of all columns of a dataset.

    Args:
        store: with the lineage.
        name: of the column or the dataset.
        bounds: of the walk on either side.
        up: the largest number of steps before the column, 0 for none; unless stated, that of the bounds.
        down: the same after it.

    Raises:
        UnknownName, AmbiguousName: the name fits none, or several.
    """
    depths = [bounds.depth if depth is None else depth for depth in (up, down)]
    both = (replace(bounds, depth=depths[0]), replace(bounds, depth=depths[1]))
    with store.read() as connection:
        start = find(connection, name, bounds.as_of, bounds.sees)
        closure = closure_in_both_directions(connection, start, both)
        graph = named_closure(connection, start, Direction.BOTH, closure, bounds)
        fields = lasting(connection, graph.datasets)
        in_view = Counter(closure.dataset_of.values())
        return View(
            graph,
            {row.id: row.type for row in fields if row.id in closure.distance and row.type},
            in_view | Counter(row.dataset_id for row in fields),
            overwrites(connection, pairs_of(closure.links, closure.dataset_of), bounds.as_of),
            {way: _open_columns(connection, closure, way, bounds) for way in (Direction.UP, Direction.DOWN)},
        )


def _open_columns(connection: Connection, closure: Closure, direction: Direction, bounds: Bounds) -> frozenset[int]:
    """Return the columns of a closure that have edges in a direction which are not in it."""
    # With no room for another column the walk ends after one step.
    one_step = replace(bounds, depth=1, columns=len(closure.distance))
    rows = set(walk(connection, closure.distance, direction, one_step).rows).difference(closure.rows)
    near = {row[1] if direction is Direction.UP else row[0] for row in rows}
    wholes = {-end for end in near if end < 0}
    return frozenset(one for one, dataset in closure.dataset_of.items() if one in near or dataset in wholes)
