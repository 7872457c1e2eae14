"""``impact``: the columns and jobs that depend on a column or a dataset."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any, Literal

from fastapi import Query

from headwater.answers.documents import of_column, of_impact, of_job
from headwater.answers.spreadsheets import impact_sheet
from headwater.model import Job
from headwater.server.columns import schemas
from headwater.server.columns.pages import page_after
from headwater.server.columns.query_params import BoundsParams, NameParams, PageParams, Tabular
from headwater.server.columns.replies import (
    TABULAR,
    LineageQuestion,
    Reply,
    answered,
    csv_reply,
    json_reply,
    question_router,
    require_whole,
)
from headwater.store.questions import Impact, ImpactedColumn, ImpactedDataset, impact_of

router = question_router()

Row = tuple[ImpactedDataset, ImpactedColumn | None]
"""An impacted column with its dataset; a dataset alone where no column of it is known."""


class ImpactParameters(NameParams, BoundsParams, PageParams):
    """The start, and how far to look; ``limit`` counts columns, or jobs when grouped by them."""

    by: Literal["dataset", "job"] = "dataset"
    format: Tabular = "json"


@router.get("/impact", response_model=schemas.Impact, responses=TABULAR)
@answered()
def impact(query: Annotated[ImpactParameters, Query()], question: LineageQuestion) -> Reply:
    """List the datasets, columns and jobs that depend on a column or a dataset: the nearest first, and how many."""
    answer = impact_of(question.store, query.name(), question.bounds(query))
    answer = question.redacted(answer, answer.start)
    if query.format == "csv":
        require_whole(query.limit, query.cursor)
        return csv_reply(impact_sheet(answer, guess=query.guess), answer.truncated)
    if query.by == "job":
        return json_reply(_by_job(answer, query) | {"total": _total(answer)})
    rows = sorted(
        ((dataset, column) for dataset in answer.datasets for column in dataset.columns or (None,)), key=_place
    )
    page = page_after(rows, _place, query.limit, query.cursor, (int, str, str, int, str, int))
    document = of_impact(replace(answer, datasets=_grouped(page.items)))
    return json_reply(document | {"total": _total(answer), "next": page.next})


def _place(row: Row) -> tuple[int, str, str, int, str, int]:
    """Return the place of a column among others, by what is shown of it: the nearest dataset first."""
    dataset, column = row
    within = (column.distance, column.column.name, column.column.id) if column is not None else (0, "", 0)
    return *_nearest_first(dataset), *within


def _nearest_first(dataset: ImpactedDataset) -> tuple[int, str, str]:
    named = dataset.dataset.dataset
    return dataset.distance, named.namespace, named.name


def _grouped(rows: Iterable[Row]) -> tuple[ImpactedDataset, ...]:
    return tuple(
        replace(dataset, columns=tuple(column for _, column in together if column is not None))
        for dataset, together in groupby(rows, itemgetter(0))
    )


def _by_job(answer: Impact, query: ImpactParameters) -> dict[str, Any]:
    together: dict[Job, list[dict[str, Any]]] = {}
    places: dict[Job, tuple[int, str, str, str, str]] = {}
    for dataset in sorted(answer.datasets, key=_nearest_first):
        columns = [_of_impacted(one) for one in dataset.columns]
        for job in sorted(dataset.jobs, key=lambda one: (one.namespace, one.name)):
            together.setdefault(job, []).extend(columns)
            places.setdefault(job, (*_nearest_first(dataset), job.namespace, job.name))
    page = page_after(list(together), places.__getitem__, query.limit, query.cursor, (int, str, str, str, str))
    document = of_impact(replace(answer, datasets=()))
    del document["datasets"]
    jobs = [{"job": of_job(job), "columns": together[job]} for job in page.items]
    return document | {"jobs": jobs, "next": page.next}


def _of_impacted(column: ImpactedColumn) -> dict[str, Any]:
    document = of_column(column.column) | {"distance": column.distance}
    return document | {"guess": True} if all(each.transformation.guess for each in column.transformations) else document


def _total(answer: Impact) -> dict[str, int]:
    return {
        "datasets": len(answer.datasets),
        "columns": sum(len(dataset.columns) for dataset in answer.datasets),
        "jobs": len({job for dataset in answer.datasets for job in dataset.jobs}),
    }
