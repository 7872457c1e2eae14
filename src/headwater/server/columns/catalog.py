"""``columns``, ``search``, ``datasets``, ``versions``, ``coverage``: lists and what is missing in them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, TypeVar

from fastapi import Query
from pydantic import Field

from headwater.answers.documents import Document, of_column, of_coverage, of_dataset, of_found_text, of_versions
from headwater.answers.spreadsheets import coverage_sheet
from headwater.server.columns import list_schemas
from headwater.server.columns.pages import cursor_of, page_after, place_of
from headwater.server.columns.query_params import AsOfParams, NameParams, QueryParams, Tabular
from headwater.server.columns.replies import (
    TABULAR,
    LineageQuestion,
    Question,
    Reply,
    answered,
    csv_reply,
    json_reply,
    question_router,
    require_whole,
)
from headwater.store.questions import (
    Coverage,
    Covered,
    DatasetQuery,
    FoundPage,
    corrected,
    coverage,
    dataset_page,
    find_columns,
    find_texts,
    version_page,
    worst_first,
)

router = question_router()
MOST = 1000

Item = TypeVar("Item")


class ListParameters(QueryParams):
    """A page of a list."""

    limit: int = Field(100, ge=1, le=MOST)
    cursor: str | None = Field(None, description="`next` of the page before.")


class SearchParameters(ListParameters):
    """A part of a name."""

    q: str = Field(min_length=1, max_length=500, description="In any case; `dataset.field` asks for a part of each.")


class DatasetsParameters(ListParameters, AsOfParams):
    """A part of the names of datasets, and a moment."""

    q: str = Field("", max_length=500, description="Only those whose names contain this.")


class VersionsParameters(ListParameters, NameParams):
    """The dataset of the versions."""


class CoverageParameters(QueryParams):
    """The run, and the page."""

    run: str = Field(
        "", max_length=100, description="The beginning or end of a run's id; without it the latest of all."
    )
    limit: int | None = Field(None, ge=1)
    cursor: str | None = Field(None, description="`next` of the page before.")
    format: Tabular = "json"


@router.get("/columns", response_model=list_schemas.ColumnPage)
@answered()
def columns(query: Annotated[SearchParameters, Query()], question: LineageQuestion) -> Reply:
    """List columns whose names contain a text, then those of datasets whose names do."""
    found, more = _forgiving(find_columns, query, question)
    shown = [
        of_column(question.redacted(one.column))
        | {"id": one.column.id, "type": one.column.type, "match": one.match.value}
        for one in found.found
    ]
    return json_reply({"columns": shown, **more})


@router.get("/search", response_model=list_schemas.TextPage)
@answered(of_events=False)
def search(query: Annotated[SearchParameters, Query()], question: LineageQuestion) -> Reply:
    """Search datasets, columns and jobs: names that contain a text, then tags, descriptions and SQL with its words."""
    page, more = _forgiving(find_texts, query, question)
    # A text may name what is hidden, as descriptions of steps may.
    found = page.found if question.sees is None else tuple(replace(one, excerpt="") for one in page.found)
    shown = [of_found_text(question.redacted(one)) for one in found]
    return json_reply({"results": shown, **more})


@router.get("/datasets", response_model=list_schemas.DatasetPage)
@answered()
def datasets(query: Annotated[DatasetsParameters, Query()], question: LineageQuestion) -> Reply:
    """List datasets by name, each with its columns."""
    after = place_of(query.cursor, (str, str))
    page = dataset_page(
        question.store, query.limit, DatasetQuery(query.q, after, question.sees, query.moment(question.store))
    )
    shown = [
        of_dataset(question.redacted(dataset))
        | {"columns": [{"id": one.id, "field": one.name, "type": one.type} for one in columns]}
        for dataset, columns in page.datasets
    ]
    return json_reply({"datasets": shown, "next": cursor_of(page.next)})


@router.get("/versions", response_model=list_schemas.VersionPage)
@answered()
def versions(query: Annotated[VersionsParameters, Query()], question: LineageQuestion) -> Reply:
    """List the versions of a dataset, the newest first, each with the columns that it had."""
    after = place_of(query.cursor, (int, str))
    page = version_page(question.store, query.name(), query.limit, after=after, sees=question.sees)
    hides = question.redaction.hides
    shown = [replace(one, run="") if hides(one.job) else one for one in page.versions]
    document = of_versions(question.redacted(replace(page, versions=tuple(shown)), page.dataset))
    return json_reply(document | {"next": cursor_of(page.next)})


@router.get("/coverage", response_model=list_schemas.CoveragePage, responses=TABULAR)
@answered()
def covered(query: Annotated[CoverageParameters, Query()], question: LineageQuestion) -> Reply:
    """List how much of the lineage of each output is known, the least first, and what is missing."""
    # By what is shown: the place in a cursor must have no hidden name in it.
    every, hides = coverage(question.store, query.run), question.redaction.hides
    seen = (one for one in every if not hides(one.output if one.output is not None else one.job))
    found = sorted((_redacted_coverage(one, question) for one in seen), key=worst_first)
    if query.format == "csv":
        require_whole(query.limit, query.cursor)
        return csv_reply(coverage_sheet(found))
    page = page_after(found, worst_first, query.limit, query.cursor, (int, str, str, str, str))
    counts = {kind.value: sum(one.covered is kind for one in found) for kind in Covered}
    shown = [of_coverage(one) for one in page.items]
    return json_reply({"outputs": shown, "total": counts, "next": page.next})


def _forgiving(
    find: Callable[..., FoundPage[Item]], query: SearchParameters, question: Question
) -> tuple[FoundPage[Item], Document]:
    """Return what a search finds, else what it finds without typing errors, and the end of the document of it."""
    rank, last, text = place_of(query.cursor, (int, int, str)) or (0, 0, query.q)
    found = find(question.store, text, query.limit, after=(rank, last), sees=question.sees)
    if not found.found and query.cursor is None and (other := corrected(question.store, text, question.sees)):
        again = find(question.store, other, query.limit, sees=question.sees)
        if again.found:
            found, text = again, other
    following = None if found.next is None else (*found.next, text)
    return found, {"corrected": text if text != query.q else None, "next": cursor_of(following)}


def _redacted_coverage(coverage: Coverage, question: Question) -> Coverage:
    """Return coverage with only the kinds of gaps, and no run, where the job is hidden."""
    shown = question.redacted(coverage)
    if not question.redaction.hides(coverage.job):
        return shown
    return replace(shown, run="", gaps=tuple(replace(gap, what="", why="", output="") for gap in coverage.gaps))
