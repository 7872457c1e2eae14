"""``view``: all that a page shows of a column or a dataset at once, in the shape of ``web/src/model/view.ts``.

``step`` adds what is shown of one edge of it.
"""

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field

from headwater.answers.views import of_view
from headwater.model import Subtype, TransformationType
from headwater.model.time import iso
from headwater.server.columns.query_params import BoundsParams, NameParams, QueryParams
from headwater.server.columns.replies import LineageQuestion, Reply, answered, json_reply, question_router
from headwater.server.columns.schemas import NamedIds, Truncated
from headwater.server.openapi import Schema
from headwater.store.questions import step_history, view_of

router = question_router()

_MOST = 2**63 - 1  # of an id
_MORE = Field(description="1 where the column has such edges that the view lacks.")
Flags = Annotated[list[Literal[0, 1]], _MORE]
Distances = Annotated[
    list[int | None], Field(description="The distance on this side, null where the column is not on it.")
]


class ViewParameters(NameParams, BoundsParams):
    """The focus of the view, how far it goes on each side, and which edges it follows."""

    up: int | None = Field(None, ge=0, description="The largest number of steps before the focus; without it, `depth`.")
    down: int | None = Field(None, ge=0, description="The largest number of steps after it; without it, `depth`.")


class Focus(Schema):
    """Where the view is rooted: places in the tables."""

    dataset: int
    column: int = Field(description="-1 where the view is about the whole dataset.")


class Depth(Schema):
    """The depths of the request; null for none but the server's."""

    up: int | None
    down: int | None


class ViewedDatasets(NamedIds):
    """The datasets, and how many columns each has."""

    width: list[int]


class ViewedColumns(Schema):
    """The columns, the nearest first; `dataset` is a place."""

    id: list[int]
    dataset: list[int]
    field: list[str]
    data_type: list[str | None]
    within: list[int | None] = Field(description="Of a field within a column the id of the column.")
    up: Distances
    down: Distances
    more_up: Flags
    more_down: Flags


class ViewedTransformations(Schema):
    """The transformations; `description` is a place in `descriptions`, -1 without one."""

    type: list[TransformationType]
    subtype: list[Subtype]
    masking: list[bool]
    opaque: list[bool]
    guess: list[bool]
    description: list[int]


class Overwrites(Schema):
    """The runs that overwrote a dataset, when, and the places of their jobs."""

    since: list[str]
    run: list[str]
    job: list[int]


class ViewedEdges(Schema):
    """The edges as places; an output below 0 is -1 minus the place of a whole dataset, a `stale` of -1 means none."""

    input: list[int]
    output: list[int]
    transformation: list[int]
    job: list[int]
    stale: list[int]


class View(Schema):
    """Tables of parallel arrays that refer to each other by place, counted from 0."""

    focus: Focus
    as_of: str | None
    depth: Depth
    datasets: ViewedDatasets
    columns: ViewedColumns
    transformations: ViewedTransformations
    descriptions: list[str]
    jobs: NamedIds
    stale: Overwrites
    edges: ViewedEdges
    truncated: Truncated


class StepParameters(QueryParams):
    """A step by the ids of a view."""

    input: int = Field(ge=1, le=_MOST, description="The id of a column.")
    output: int = Field(
        ge=-_MOST,
        le=_MOST,
        description="The id of a column, or that of a dataset with a minus sign for all of its rows.",
    )
    job: int = Field(ge=1, le=_MOST, description="The id of the job.")


class Step(Schema):
    """When a step was first and last seen; ``run`` is null where it no longer holds."""

    first_seen: str
    last_seen: str
    run: str | None


@router.get("/view", response_model=View)
@answered()
def view(query: Annotated[ViewParameters, Query()], question: LineageQuestion) -> Reply:
    """Show a column, or all columns of a dataset, with what leads to it and what comes of it, in one compact answer."""
    up, down = (query.depth if depth is None else depth for depth in (query.up, query.down))
    most, bounds = question.settings.depth_limit, question.bounds(query)
    sides = {name: None if depth is None else min(depth, most) for name, depth in (("up", up), ("down", down))}
    found = view_of(question.store, query.name(), bounds, **sides)
    return json_reply(of_view(question.redacted(found, found.graph.start), bounds.as_of, **sides))


@router.get("/step", response_model=Step)
@answered()
def step(query: Annotated[StepParameters, Query()], question: LineageQuestion) -> Reply:
    """Say when a step of a view was first and last seen, and by which run."""
    found = step_history(question.store, query.input, query.output, query.job)
    found = question.redacted(found, found.input, found.output, found.job)
    return json_reply({"firstSeen": iso(found.first), "lastSeen": iso(found.last), "run": found.run or None})
