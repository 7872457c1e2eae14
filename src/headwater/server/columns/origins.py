"""``roots`` and ``paths``: the first columns that a column is made from, and the paths between two columns."""

from dataclasses import replace
from typing import Annotated

from fastapi import Query
from pydantic import Field

from headwater.answers.documents import of_paths, of_roots
from headwater.answers.spreadsheets import paths_sheet, roots_sheet
from headwater.server.columns import schemas
from headwater.server.columns.pages import page_after
from headwater.server.columns.query_params import BoundsParams, Drawn, NameParams, PageParams
from headwater.server.columns.replies import (
    DRAWN,
    LineageQuestion,
    Reply,
    answered,
    drawn_reply,
    json_reply,
    question_router,
    require_whole,
)
from headwater.store.questions import Root, paths_between, rank, roots_of

router = question_router()


class RootsParameters(NameParams, BoundsParams, PageParams):
    """A column, and which edges to follow."""

    format: Drawn = "json"


class PathsParameters(BoundsParams):
    """Two columns, and which edges to follow."""

    source: str = Field(description="Any ending of the name of a column that fits only one.")
    target: str = Field(description="Another column.")
    most: int = Field(10, ge=1, le=1000, description="The largest number of paths.")
    format: Drawn = "json"


@router.get("/roots", response_model=schemas.Roots, responses=DRAWN)
@answered()
def roots(query: Annotated[RootsParameters, Query()], question: LineageQuestion) -> Reply:
    """List the first columns that a column is made from, how, and why nothing is before them."""
    answer = roots_of(question.store, query.name(), question.bounds(query))
    answer = question.redacted(answer, answer.column)
    if query.format == "json":
        # By what is shown: the place in a cursor must have no hidden name in it.
        roots = sorted(answer.roots, key=_place)
        page = page_after(roots, _place, query.limit, query.cursor, (*(int,) * 6, str, str, str, int))
        return json_reply(of_roots(replace(answer, roots=tuple(page.items))) | {"next": page.next})
    require_whole(query.limit, query.cursor)
    return drawn_reply(answer, roots_sheet, query.format, guess=query.guess)


@router.get("/paths", response_model=schemas.Paths, responses=DRAWN)
@answered()
def paths(query: Annotated[PathsParameters, Query()], question: LineageQuestion) -> Reply:
    """List the paths between two columns in the direction of the data, the shortest first, with every step."""
    bounds = question.bounds(query)
    answer = paths_between(question.store, query.source, query.target, most=query.most, bounds=bounds)
    answer = question.redacted(answer, answer.source, answer.target)
    if query.format == "json":
        return json_reply(of_paths(answer))
    return drawn_reply(answer, paths_sheet, query.format, guess=query.guess)


def _place(root: Root) -> tuple[int | str, ...]:
    """Return the place of a root among others: the strongest first, then by name."""
    dataset = root.column.dataset.dataset
    return *map(int, rank(root.transformations[0])), dataset.namespace, dataset.name, root.column.name, root.column.id
