"""``diff``: the difference between the lineage of two moments."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from headwater.answers.documents import of_difference
from headwater.answers.spreadsheets import difference_sheet
from headwater.errors import QuestionError
from headwater.model.time import iso
from headwater.server.columns import list_schemas
from headwater.server.columns.query_params import NameParams, Tabular
from headwater.server.columns.replies import (
    TABULAR,
    LineageQuestion,
    Question,
    Reply,
    answered,
    csv_reply,
    json_reply,
    question_router,
)
from headwater.store.questions import Bounds, Difference, difference, difference_of_job, moment_of

router = question_router()


class DifferenceParameters(NameParams):
    """A column, a dataset or a job to compare, and two moments."""

    job: str | None = Field(None, description="All outputs of a job: NAME or NAMESPACE/NAME.")
    before: str = Field(description="ISO 8601, or the id of a run.")
    after: str | None = Field(None, description="The same; without it, now.")
    format: Tabular = "json"


@router.get("/diff", response_model=list_schemas.Difference, responses=TABULAR)
@answered()
def diff(query: Annotated[DifferenceParameters, Query()], question: LineageQuestion) -> Reply:
    """List the steps that came, went or changed between two moments or two runs.

    For a dataset or a job the steps into their columns are compared; for a column, all steps that lead to it.
    """
    before = moment_of(question.store, query.before)
    after = moment_of(question.store, query.after) if query.after is not None else None
    found = _compared(query, question, before, after)
    answer = question.redacted(found, found.about)
    if query.format == "csv":
        return csv_reply(difference_sheet(answer), answer.truncated)
    moments = {"before": iso(before), "after": iso(after) if after is not None else None}
    return json_reply(moments | of_difference(answer))


def _compared(query: DifferenceParameters, question: Question, before: int, after: int | None) -> Difference:
    limits = question.settings
    bounds = Bounds(depth=limits.depth_limit, columns=limits.node_limit, seconds=limits.time_limit, sees=question.sees)
    if query.job is None:
        return difference(question.store, query.name(), before, after, bounds)
    if query.column is not None or query.dataset is not None:
        raise QuestionError("Expected a column, a dataset or a job to compare, not several.")
    return difference_of_job(question.store, query.job, before, after, bounds)
