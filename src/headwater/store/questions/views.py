"""Views: what leads to a column or a dataset and what comes of it, with all that a page shows of both at once.

Of a step of a view: when it was first and last seen, and by which run.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Select, and_, literal, select

from headwater.errors import UnknownName
from headwater.model import Job
from headwater.model.nested_fields import field_within
from headwater.model.time import FOREVER
from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Pair
from headwater.store.questions import names
from headwater.store.questions.answers import UNBOUNDED, Bounds, Column, Direction, KnownDataset, Overwrite
from headwater.store.questions.graphs import CompactGraph, closure_in_both_directions, named_closure
from headwater.store.questions.hops import overwrites, pairs_of
from headwater.store.questions.lookup.find import Name, find
from headwater.store.questions.walk.closure import Closure
from headwater.store.questions.walk.nested import walk_nodes
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
        start = find(connection, name, bounds.as_of, bounds.sees, nested=True)
        closure = closure_in_both_directions(connection, start, both)
        graph = named_closure(connection, start, Direction.BOTH, closure, bounds)
        fields = lasting(connection, graph.datasets)
        in_view = Counter(closure.dataset_of[one] for one in closure.dataset_of.keys() - closure.nodes.keys())
        types = {row.id: row.type for row in fields if row.type}
        return View(
            graph,
            {one: type_ for one in closure.distance if (type_ := _type(closure, one, types))},
            in_view | Counter(row.dataset_id for row in fields),
            overwrites(connection, pairs_of(closure.rows, closure.dataset_of), bounds.as_of),
            {
                direction: _open_columns(connection, closure, direction, bounds)
                for direction in (Direction.UP, Direction.DOWN)
            },
        )


def _type(closure: Closure, node: int, types: Mapping[int, str]) -> str:
    """Return the type of a column or of a field within it, nothing where it is not known."""
    column, path = closure.nodes.get(node, (node, ()))
    found = field_within(types.get(column, ""), path)
    return found[1] if found is not None else ""


def _open_columns(connection: Connection, closure: Closure, direction: Direction, bounds: Bounds) -> frozenset[int]:
    """Return the columns of a closure that have edges in a direction which are not in it."""
    # With no room for another column the walk ends after one step.
    nested = bounds.nested or bool(closure.nodes)
    one_step = replace(bounds, depth=1, columns=len(closure.distance), nested=nested)
    nodes = [closure.nodes.get(one, (one, ())) for one in closure.distance]
    rows = set(walk_nodes(connection, nodes, direction, one_step).rows).difference(closure.rows)
    near = {row[1] if direction is Direction.UP else row[0] for row in rows}
    wholes = {-end for end in near if end < 0}
    return frozenset(one for one, dataset in closure.dataset_of.items() if one in near or dataset in wholes)


_LINEAGE = schema.lineage.c
_RUN = schema.run.c


@dataclass(frozen=True, slots=True)
class StepHistory:
    """The span in which a job was known to make an output depend on an input, in microseconds since 1970.

    ``run`` is the last successful run of the job that wrote the output, where the step still holds.
    """

    input: Column
    output: Column | KnownDataset
    job: Job
    first: int
    last: int
    run: str


def step_history(store: Store, input_: int, output: int, job: int) -> StepHistory:
    """Return the history of a step by the ids of its ends and its job, as a view has them.

    Args:
        store: with the lineage.
        input_: the id of a column.
        output: the id of a column, or that of a dataset with a minus sign for a step to all of its rows.
        job: the id of the job.

    Raises:
        UnknownName: there is and was no such step.
    """
    with store.read() as connection:
        spans = [(row.start, row.end) for row in connection.execute(_spans(input_, output, job))]
        columns = names.columns(connection, {one for one in (input_, output) if one > 0})
        ends = columns if output > 0 else {output: names.datasets(connection, [-output])[-output]} if spans else {}
        if not spans or input_ not in columns:
            raise UnknownName("There is no such step: expected the ids of an input, an output and a job of a view.")
        end = ends[output]
        owner = end.dataset.id if isinstance(end, Column) else end.id
        first, last = min(span[0] for span in spans), max(span[1] for span in spans)
        at, run = _latest(connection, job, owner) if last == FOREVER else (last, "")
        return StepHistory(columns[input_], end, names.jobs(connection, [job])[job], first, at, run)


def _spans(input_: int, output: int, job: int) -> Select[Any]:
    """Return the question for the spans of a step, those of now without an end."""
    current, history = FIELD_EDGES if output > 0 else DATASET_EDGES
    name = "output_field" if output > 0 else "output_dataset"

    def of(table: Any, end: Any) -> Any:
        mine = and_(table.c.input_field == input_, table.c[name] == abs(output), table.c.job_id == job)
        return select(table.c.valid_from.label("start"), end.label("end")).where(mine)

    spans = of(current, literal(FOREVER)).union_all(of(history, history.c.valid_to)).subquery()
    return select(spans.c.start, spans.c.end)


def _latest(connection: Connection, job: int, output: int) -> tuple[int, str]:
    mine = select(_LINEAGE.at, _RUN.uuid, _RUN.shown).join(schema.run, _RUN.id == _LINEAGE.run_id)
    mine = mine.where(_LINEAGE.job_id == job, _LINEAGE.output_id == output).order_by(_LINEAGE.at.desc()).limit(1)
    row = connection.execute(mine).one()
    return row.at, row.shown or row.uuid
