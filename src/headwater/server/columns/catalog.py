"""``columns``, ``search``, ``datasets``, ``versions``, ``coverage``: what is known and found, and what is missing."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query, Response
from pydantic import Field

from headwater.answers.documents import of_column, of_coverage, of_dataset, of_found_text, of_versions
from headwater.server.columns import list_schemas
from headwater.server.columns.asking import Named, Parameters, Tabular, Then
from headwater.server.columns.pages import cursor_of, page_after, place_of
from headwater.server.columns.replies import TABULAR, Asked, Question, Reply, question_router, tabled, told, whole
from headwater.store.questions import (
    Coverage,
    Covered,
    ListedVersion,
    WantedDatasets,
    coverage,
    dataset_page,
    find_columns,
    find_texts,
    version_page,
    worst_first,
)

router = question_router()
MOST = 1000


class ListParameters(Parameters):
    """A page of a list."""

    limit: int = Field(100, ge=1, le=MOST)
    cursor: str | None = Field(None, description="`next` of the page before.")


class SearchParameters(ListParameters):
    """What a name contains."""

    q: str = Field(min_length=1, max_length=500, description="In any case; `dataset.field` asks for a part of each.")


class DatasetsParameters(ListParameters, Then):
    """Which datasets, and when."""

    q: str = Field("", max_length=500, description="Only those whose names contain this.")


class VersionsParameters(ListParameters, Named):
    """Of which dataset."""


class CoverageParameters(Parameters):
    """Of which run, and how much."""

    run: str = Field(
        "", max_length=100, description="The beginning or end of a run's id; without it the latest of all."
    )
    limit: int | None = Field(None, ge=1)
    cursor: str | None = Field(None, description="`next` of the page before.")
    format: Tabular = "json"


@router.get("/columns", response_model=list_schemas.ColumnPage)
def columns(wanted: Annotated[SearchParameters, Query()], asked: Asked) -> Response:
    """Columns whose names contain a text, then those of datasets whose names do."""
    return asked.answered(lambda: _columns(wanted, asked))


@router.get("/search", response_model=list_schemas.TextPage)
def search(wanted: Annotated[SearchParameters, Query()], asked: Asked) -> Response:
    """Datasets, columns and jobs: names that contain a text, then tags, descriptions and SQL that have its words."""
    return asked.answered(lambda: _search(wanted, asked))


@router.get("/datasets", response_model=list_schemas.DatasetPage)
def datasets(wanted: Annotated[DatasetsParameters, Query()], asked: Asked) -> Response:
    """Datasets by name, each with its columns."""
    return asked.answered(lambda: _datasets(wanted, asked))


@router.get("/versions", response_model=list_schemas.VersionPage)
def versions(wanted: Annotated[VersionsParameters, Query()], asked: Asked) -> Response:
    """The versions of a dataset, the newest first, each with the columns that it had."""
    return asked.answered(lambda: _versions(wanted, asked))


@router.get("/coverage", response_model=list_schemas.CoveragePage, responses=TABULAR)
def covered(wanted: Annotated[CoverageParameters, Query()], asked: Asked) -> Response:
    """How much of the lineage of each output is known, the least first, and what is missing."""
    return asked.answered(lambda: _coverage(wanted, asked))


def _columns(wanted: SearchParameters, asked: Question) -> Reply:
    rank, last = place_of(wanted.cursor, (int, int)) if wanted.cursor is not None else (0, 0)
    found = find_columns(asked.store, wanted.q, wanted.limit, after=(rank, last), sees=asked.sees)
    shown = [
        of_column(asked.shown(one.column)) | {"id": one.column.id, "type": one.column.type, "match": one.match.value}
        for one in found.found
    ]
    return told({"columns": shown, "next": cursor_of(found.next) if found.next is not None else None})


def _search(wanted: SearchParameters, asked: Question) -> Reply:
    stage, last = place_of(wanted.cursor, (int, int)) if wanted.cursor is not None else (0, 0)
    page = find_texts(asked.store, wanted.q, wanted.limit, after=(stage, last), sees=asked.sees)
    # A text may name what is hidden, as descriptions of steps may.
    found = page.found if asked.sees is None else tuple(replace(one, excerpt="") for one in page.found)
    shown = [of_found_text(asked.shown(one)) for one in found]
    return told({"results": shown, "next": cursor_of(page.next) if page.next is not None else None})


def _datasets(wanted: DatasetsParameters, asked: Question) -> Reply:
    namespace, name = place_of(wanted.cursor, (str, str)) if wanted.cursor is not None else (None, None)
    after = (namespace, name) if namespace is not None and name is not None else None
    page = dataset_page(
        asked.store, wanted.limit, WantedDatasets(wanted.q, after, asked.sees, wanted.moment(asked.store))
    )
    shown = [
        of_dataset(asked.shown(dataset))
        | {"columns": [{"id": one.id, "field": one.name, "type": one.type} for one in given]}
        for dataset, given in page.datasets
    ]
    return told({"datasets": shown, "next": cursor_of(page.next) if page.next is not None else None})


def _versions(wanted: VersionsParameters, asked: Question) -> Reply:
    at, run = place_of(wanted.cursor, (int, str)) if wanted.cursor is not None else (None, None)
    after = (at, run) if at is not None and run is not None else None
    page = version_page(asked.store, wanted.name(), wanted.limit, after=after, sees=asked.sees)
    shown = [_seen_version(one, asked) for one in page.versions]
    document = of_versions(asked.shown(replace(page, versions=tuple(shown)), page.dataset))
    return told(document | {"next": cursor_of(page.next) if page.next is not None else None})


def _seen_version(one: ListedVersion, asked: Question) -> ListedVersion:
    """Of a hidden job's run only that it was."""
    return one if not asked.redaction.hides(one.job) else replace(one, run="")


def _coverage(wanted: CoverageParameters, asked: Question) -> Reply:
    # By what is shown: a cursor tells its place, and hidden names would be in it.
    found = sorted(
        (_shown(one, asked) for one in coverage(asked.store, wanted.run) if _seen(one, asked)), key=worst_first
    )
    if wanted.format == "csv":
        whole(wanted.limit, wanted.cursor)
        header = ("coverage", "namespace", "dataset", "job", "run", "kind", "what", "why")
        return tabled((header, [row for one in found for row in _rows(one)]))
    page = page_after(found, worst_first, wanted.limit, wanted.cursor, (int, str, str, str, str))
    counts = {kind.value: sum(one.covered is kind for one in found) for kind in Covered}
    shown = [of_coverage(one) for one in page.items]
    return told({"outputs": shown, "total": counts, "next": page.next})


def _seen(one: Coverage, asked: Question) -> bool:
    about = one.output if one.output is not None else one.job
    return not asked.redaction.hides(about)


def _shown(one: Coverage, asked: Question) -> Coverage:
    """Of a hidden job only what kinds of gaps there are: the rest is about what it reads and does."""
    shown = asked.shown(one)
    if not asked.redaction.hides(one.job):
        return shown
    return replace(shown, gaps=tuple(replace(gap, what="", why="", output="") for gap in one.gaps))


def _rows(one: Coverage) -> list[tuple[Any, ...]]:
    dataset = one.output.dataset if one.output is not None else None
    start = (one.covered.value, *((dataset.namespace, dataset.name) if dataset else ("", "")), one.job.name, one.run)
    return [(*start, gap.kind, gap.what, gap.why) for gap in one.gaps] or [(*start, "", "", "")]
