"""``roots`` and ``paths``: where a column comes from in the end, and over which ways."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from headwater.answers.documents import of_paths, of_roots
from headwater.answers.drawings import arrows_of
from headwater.answers.spreadsheets import paths_sheet, roots_sheet
from headwater.server.columns import schemas
from headwater.server.columns.asking import Bounded, Drawn, Named, Paged
from headwater.server.columns.pages import page_of
from headwater.server.columns.replies import DRAWN, Asked, Question, Reply, drawn, question_router, tabled, told, whole
from headwater.store.questions import paths_between, roots_of

router = question_router()


class RootsParameters(Named, Bounded, Paged):
    """A column, and which edges to follow."""

    format: Drawn = "json"


class PathsParameters(Bounded):
    """Two columns, and which edges to follow."""

    source: str = Field(description="Any ending of the name of a column that fits only one.")
    target: str = Field(description="Another column.")
    most: int = Field(10, ge=1, le=1000, description="So many paths at most.")
    format: Drawn = "json"


@router.get("/roots", response_model=schemas.Roots, responses=DRAWN)
def roots(wanted: Annotated[RootsParameters, Query()], asked: Asked) -> Response:
    """The columns that a column is made from in the end, how, and why nothing stands before them."""
    return asked.answered(lambda: _roots(wanted, asked))


@router.get("/paths", response_model=schemas.Paths, responses=DRAWN)
def paths(wanted: Annotated[PathsParameters, Query()], asked: Asked) -> Response:
    """The ways between two columns in the direction of the data, the shortest first, with every step."""
    return asked.answered(lambda: _paths(wanted, asked))


def _roots(wanted: RootsParameters, asked: Question) -> Reply:
    answer = roots_of(asked.store, wanted.name(), asked.bounds(wanted))
    answer = asked.shown(answer, answer.column)
    if wanted.format == "json":
        document = of_roots(answer)
        page = page_of(document["roots"], wanted.limit, wanted.cursor)
        return told(document | {"roots": page.items, "next": page.next})
    whole(wanted.limit, wanted.cursor)
    if wanted.format == "csv":
        return tabled(roots_sheet(answer, guess=wanted.guess), answer.truncated)
    return drawn(arrows_of(answer), wanted.format, answer.truncated)


def _paths(wanted: PathsParameters, asked: Question) -> Reply:
    bounds = asked.bounds(wanted)
    answer = paths_between(asked.store, wanted.source, wanted.target, most=wanted.most, bounds=bounds)
    answer = asked.shown(answer, answer.source, answer.target)
    if wanted.format == "json":
        return told(of_paths(answer))
    if wanted.format == "csv":
        return tabled(paths_sheet(answer, guess=wanted.guess), answer.truncated)
    return drawn(arrows_of(answer), wanted.format, answer.truncated)
