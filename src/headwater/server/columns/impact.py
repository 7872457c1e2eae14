"""``impact``: the columns and jobs that depend on a column or a dataset."""

from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any, Literal

from fastapi import Query, Response

from headwater.answers.documents import of_column, of_impact, of_job
from headwater.answers.spreadsheets import impact_sheet
from headwater.model import Job
from headwater.server.columns import schemas
from headwater.server.columns.pages import page_of
from headwater.server.columns.query_params import BoundsParams, NameParams, PageParams, Tabular
from headwater.server.columns.replies import (
    TABULAR,
    AskedQuestion,
    Question,
    Reply,
    csv_reply,
    json_reply,
    question_router,
    require_whole,
)
from headwater.store.questions import Impact, ImpactedColumn, ImpactedDataset, impact_of

router = question_router()


class ImpactParameters(NameParams, BoundsParams, PageParams):
    """The start, and how far to look; ``limit`` counts columns, or jobs when grouped by them."""

    by: Literal["dataset", "job"] = "dataset"
    format: Tabular = "json"


@router.get("/impact", response_model=schemas.Impact, responses=TABULAR)
def impact(query: Annotated[ImpactParameters, Query()], question: AskedQuestion) -> Response:
    """List the datasets, columns and jobs that depend on a column or a dataset: the nearest first, and how many."""
    return question.respond(lambda: _impact(query, question))


def _impact(query: ImpactParameters, question: Question) -> Reply:
    answer = impact_of(question.store, query.name(), question.bounds(query))
    answer = question.redacted(answer, answer.start)
    if query.format == "csv":
        require_whole(query.limit, query.cursor)
        return csv_reply(impact_sheet(answer, guess=query.guess), answer.truncated)
    if query.by == "job":
        return json_reply(_by_job(answer, query) | {"total": _total(answer)})
    rows = [(dataset, column) for dataset in answer.datasets for column in dataset.columns or (None,)]
    page = page_of(rows, query.limit, query.cursor)
    document = of_impact(replace(answer, datasets=_grouped(page.items)))
    return json_reply(document | {"total": _total(answer), "next": page.next})


def _grouped(rows: Any) -> tuple[ImpactedDataset, ...]:
    return tuple(
        replace(dataset, columns=tuple(column for _, column in given if column is not None))
        for dataset, given in groupby(rows, itemgetter(0))
    )


def _by_job(answer: Impact, query: ImpactParameters) -> dict[str, Any]:
    together: dict[Job, list[dict[str, Any]]] = {}
    for dataset in answer.datasets:
        columns = [_of_impacted(one) for one in dataset.columns]
        for job in dataset.jobs:
            together.setdefault(job, []).extend(columns)
    page = page_of(list(together.items()), query.limit, query.cursor)
    document = of_impact(replace(answer, datasets=()))
    del document["datasets"]
    jobs = [{"job": of_job(job), "columns": columns} for job, columns in page.items]
    return document | {"jobs": jobs, "next": page.next}


def _of_impacted(one: ImpactedColumn) -> dict[str, Any]:
    document = of_column(one.column) | {"distance": one.distance}
    return document | {"guess": True} if all(way.transformation.guess for way in one.transformations) else document


def _total(answer: Impact) -> dict[str, int]:
    return {
        "datasets": len(answer.datasets),
        "columns": sum(len(dataset.columns) for dataset in answer.datasets),
        "jobs": len({job for dataset in answer.datasets for job in dataset.jobs}),
    }
