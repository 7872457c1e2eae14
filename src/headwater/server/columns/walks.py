"""``upstream``, ``downstream`` and ``lineage``: the columns before or after a column, or both."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import Query, Response

from headwater.answers.compact import of_compact, of_reached
from headwater.answers.documents import of_dataset_graph, of_graph
from headwater.answers.spreadsheets import dataset_graph_sheet, graph_sheet
from headwater.server.columns import schemas
from headwater.server.columns.pages import Window
from headwater.server.columns.query_params import BoundsParams, Drawn, NameParams, PageParams
from headwater.server.columns.replies import (
    DRAWN,
    LineageQuestion,
    Question,
    Reply,
    drawn_reply,
    json_reply,
    question_router,
    require_whole,
)
from headwater.store.questions import (
    Column,
    DatasetGraph,
    Direction,
    Graph,
    Hop,
    compact_from,
    datasets_from,
    reached_from,
    walk_from,
)

router = question_router()


class WalkParameters(NameParams, BoundsParams, PageParams):
    """A walk."""

    form: Literal["readable", "compact", "ids"] = "readable"
    """``compact`` is for large answers: ids and tables of names; ``ids`` are those of the columns alone."""
    collapse: Literal["dataset"] | None = None
    """The columns of each dataset taken together."""
    format: Drawn = "json"


class LineageParameters(WalkParameters):
    """A walk one way or both."""

    direction: Direction = Direction.BOTH


Walk = Annotated[WalkParameters, Query()]


@router.get("/upstream", response_model=schemas.Walk, responses=DRAWN)
def upstream(walk: Walk, question: LineageQuestion) -> Response:
    """List all columns that a column, or every column of a dataset, is made from, and the steps between."""
    return question.respond(lambda: _walked(walk, question, Direction.UP))


@router.get("/downstream", response_model=schemas.Walk, responses=DRAWN)
def downstream(walk: Walk, question: LineageQuestion) -> Response:
    """List all columns that are made from a column, or from any column of a dataset; sources have a downstream too."""
    return question.respond(lambda: _walked(walk, question, Direction.DOWN))


@router.get("/lineage", response_model=schemas.Walk, responses=DRAWN)
def lineage(walk: Annotated[LineageParameters, Query()], question: LineageQuestion) -> Response:
    """List the columns before and after a column, with the distance on either side; no siblings."""
    return question.respond(lambda: _walked(walk, question, walk.direction))


def _walked(walk: WalkParameters, question: Question, direction: Direction) -> Reply:
    if walk.collapse == "dataset":
        return _collapsed(walk, question, direction)
    if walk.format != "json":
        require_whole(walk.limit, walk.cursor)
    elif walk.form == "compact":
        return _compact(walk, question, direction)
    elif walk.form == "ids":
        return _ids(walk, question, direction)
    graph = walk_from(question.store, walk.name(), direction, question.bounds(walk))
    return _readable(walk, question.redacted(graph, graph.start))


def _readable(walk: WalkParameters, graph: Graph) -> Reply:
    if walk.format != "json":
        return drawn_reply(graph, graph_sheet, walk.format, guess=walk.guess)
    columns = {
        column.id: column
        for column in sorted(graph.columns, key=lambda one: (*_place(one, graph.columns[one]), one.id))
    }
    keys = {id_: (*_place(column, graph.columns[column]), id_) for id_, column in columns.items()}
    window = Window(list(keys), keys.__getitem__, walk.limit, walk.cursor, (int, str, str, int))
    window.join({id_: column.dataset.id for id_, column in columns.items()})
    hops = sorted(graph.hops, key=_place_of_hop)
    ends = ((hop.input.id, hop.output.id if hop.output is not None else -hop.output_dataset.id) for hop in hops)
    shown = {columns[id_]: graph.columns[columns[id_]] for id_ in window.nodes}
    page = replace(graph, columns=shown, hops=tuple(window.edges(hops, ends)))
    return json_reply(of_graph(page) | {"next": window.next})


def _place(column: Column, distance: int) -> tuple[int, str, str]:
    return distance, str(column.dataset), column.name


def _place_of_hop(hop: Hop) -> tuple[str, ...]:
    output = hop.output.name if hop.output is not None else ""
    return str(hop.output_dataset), output, str(hop.input.dataset), hop.input.name, hop.job.namespace, hop.job.name


def _compact(walk: WalkParameters, question: Question, direction: Direction) -> Reply:
    graph = compact_from(question.store, walk.name(), direction, question.bounds(walk))
    graph = question.redacted(graph, graph.start)
    closure = graph.closure
    window = _nearest_first(closure.distance, walk)
    window.join(closure.dataset_of)
    links = window.edges(closure.rows, ((row[0], row[1]) for row in closure.rows))
    return json_reply(of_compact(graph, window.nodes, links) | {"next": window.next})


def _nearest_first(distance: Mapping[int, int], walk: WalkParameters) -> Window:
    """Return the page of ids by distance, those of one distance in the order of ids."""
    ordered = sorted(sorted(distance), key=distance.__getitem__)  # of thousands a sort by pairs takes longer
    return Window(ordered, lambda id_: (distance[id_], id_), walk.limit, walk.cursor, (int, int))


def _ids(walk: WalkParameters, question: Question, direction: Direction) -> Reply:
    answer = reached_from(question.store, walk.name(), direction, question.bounds(walk))
    answer = replace(answer, start=question.redacted(answer.start, answer.start))
    window = _nearest_first(answer.distance, walk)
    return json_reply(of_reached(answer, window.nodes) | {"next": window.next})


def _collapsed(walk: WalkParameters, question: Question, direction: Direction) -> Reply:
    require_whole(walk.limit, walk.cursor)
    found = datasets_from(question.store, walk.name(), direction, question.bounds(walk))
    graph: DatasetGraph = question.redacted(found, found.start)
    if walk.format != "json":
        return drawn_reply(graph, dataset_graph_sheet, walk.format, guess=walk.guess)
    return json_reply(of_dataset_graph(graph))
