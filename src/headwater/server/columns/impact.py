"""``impact``: what is affected when a column or a dataset changes."""

from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any, Literal

from fastapi import Query, Response

from headwater.answers.documents import of_column, of_impact, of_job
from headwater.answers.spreadsheets import impact_sheet
from headwater.model import Job
from headwater.server.columns import schemas
from headwater.server.columns.asking import Bounded, Named, Paged, Tabular
from headwater.server.columns.pages import page_of
from headwater.server.columns.replies import TABULAR, Asked, Question, Reply, question_router, tabled, told, whole
from headwater.store.questions import Impact, ImpactedColumn, ImpactedDataset, impact_of

router = question_router()


class ImpactParameters(Named, Bounded, Paged):
    """What changes, and how far to look; ``limit`` counts columns, or jobs when grouped by them."""

    by: Literal["dataset", "job"] = "dataset"
    format: Tabular = "json"


@router.get("/impact", response_model=schemas.Impact, responses=TABULAR)
def impact(wanted: Annotated[ImpactParameters, Query()], asked: Asked) -> Response:
    """The datasets, columns and jobs that depend on a column or a dataset: the nearest first, and how many."""
    return asked.answered(lambda: _impact(wanted, asked))


def _impact(wanted: ImpactParameters, asked: Question) -> Reply:
    answer = impact_of(asked.store, wanted.name(), asked.bounds(wanted))
    answer = asked.shown(answer, answer.start)
    if wanted.format == "csv":
        whole(wanted.limit, wanted.cursor)
        return tabled(impact_sheet(answer, guess=wanted.guess), answer.truncated)
    if wanted.by == "job":
        return told(_by_job(answer, wanted) | {"total": _total(answer)})
    rows = [(dataset, column) for dataset in answer.datasets for column in dataset.columns or (None,)]
    page = page_of(rows, wanted.limit, wanted.cursor)
    document = of_impact(replace(answer, datasets=_grouped(page.items)))
    return told(document | {"total": _total(answer), "next": page.next})


def _grouped(rows: Any) -> tuple[ImpactedDataset, ...]:
    return tuple(
        replace(dataset, columns=tuple(column for _, column in given if column is not None))
        for dataset, given in groupby(rows, itemgetter(0))
    )


def _by_job(answer: Impact, wanted: ImpactParameters) -> dict[str, Any]:
    together: dict[Job, list[dict[str, Any]]] = {}
    for dataset in answer.datasets:
        columns = [_of_impacted(one) for one in dataset.columns]
        for job in dataset.jobs:
            together.setdefault(job, []).extend(columns)
    page = page_of(list(together.items()), wanted.limit, wanted.cursor)
    document = of_impact(replace(answer, datasets=()))
    del document["datasets"]
    jobs = [{"job": of_job(job), "columns": columns} for job, columns in page.items]
    return document | {"jobs": jobs, "next": page.next}


def _of_impacted(one: ImpactedColumn) -> dict[str, Any]:
    document = of_column(one.column) | {"distance": one.distance}
    return document | {"guess": True} if all(way.transformation.guess for way in one.ways) else document


def _total(answer: Impact) -> dict[str, int]:
    return {
        "datasets": len(answer.datasets),
        "columns": sum(len(dataset.columns) for dataset in answer.datasets),
        "jobs": len({job for dataset in answer.datasets for job in dataset.jobs}),
    }
