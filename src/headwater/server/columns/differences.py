"""``diff``: how lineage came to be another."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from headwater.answers.documents import of_difference
from headwater.answers.spreadsheets import difference_sheet
from headwater.errors import QuestionError
from headwater.server.columns import list_schemas
from headwater.server.columns.asking import Named, Tabular
from headwater.server.columns.replies import TABULAR, Asked, Question, Reply, question_router, tabled, told
from headwater.store.questions import Bounds, Difference, difference, difference_of_job, iso, moment_of

router = question_router()


class DifferenceParameters(Named):
    """What to compare (one of a column, a dataset and a job), and when."""

    job: str | None = Field(None, description="All outputs of a job: NAME or NAMESPACE/NAME.")
    before: str = Field(description="ISO 8601, or the id of a run.")
    after: str | None = Field(None, description="The same; without it, now.")
    format: Tabular = "json"


@router.get("/diff", response_model=list_schemas.Difference, responses=TABULAR)
def diff(wanted: Annotated[DifferenceParameters, Query()], asked: Asked) -> Response:
    """The steps that came, went or changed between two moments or two runs.

    Of a dataset and a job those into their columns are compared; of a column all that lead to it.
    """
    return asked.answered(lambda: _difference(wanted, asked))


def _difference(wanted: DifferenceParameters, asked: Question) -> Reply:
    before = moment_of(asked.store, wanted.before)
    after = moment_of(asked.store, wanted.after) if wanted.after is not None else None
    found = _compared(wanted, asked, before, after)
    answer = asked.shown(found, found.about)
    if wanted.format == "csv":
        return tabled(difference_sheet(answer), answer.truncated)
    moments = {"before": iso(before), "after": iso(after) if after is not None else None}
    return told(moments | of_difference(answer))


def _compared(wanted: DifferenceParameters, asked: Question, before: int, after: int | None) -> Difference:
    limits = asked.settings
    bounds = Bounds(depth=limits.depth_limit, columns=limits.node_limit, seconds=limits.time_limit, sees=asked.sees)
    if wanted.job is None:
        return difference(asked.store, wanted.name(), before, after, bounds)
    if wanted.column is not None or wanted.dataset is not None:
        raise QuestionError("Expected a column, a dataset or a job to compare, not several.")
    return difference_of_job(asked.store, wanted.job, before, after, bounds)
