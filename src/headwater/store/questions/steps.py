"""When a step of a view was first and last seen, and by which run."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, literal, select

from headwater.errors import UnknownName
from headwater.model import Job
from headwater.model.time import FOREVER
from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES
from headwater.store.questions import names
from headwater.store.questions.answers import Column, KnownDataset
from headwater.store.store import Store

_LINEAGE = schema.lineage.c
_RUN = schema.run.c


@dataclass(frozen=True, slots=True)
class StepHistory:
    """The span in which a job was known to make an output depend on an input, in microseconds since 1970.

    ``run`` is the last successful run of the job that wrote the output, where the step still holds.
    """

    input: Column
    output: Column | KnownDataset
    job: Job
    first: int
    last: int
    run: str


def step_history(store: Store, input_: int, output: int, job: int) -> StepHistory:
    """Return the history of a step by the ids of its ends and its job, as a view has them.

    Args:
        store: with the lineage.
        input_: the id of a column.
        output: the id of a column, or that of a dataset with a minus sign for a step to all of its rows.
        job: the id of the job.

    Raises:
        UnknownName: there is and was no such step.
    """
    with store.read() as connection:
        spans = [(row.start, row.end) for row in connection.execute(_spans(input_, output, job))]
        columns = names.columns(connection, {one for one in (input_, output) if one > 0})
        ends = columns if output > 0 else {output: names.datasets(connection, [-output])[-output]} if spans else {}
        if not spans or input_ not in columns:
            raise UnknownName("There is no such step: expected the ids of an input, an output and a job of a view.")
        end = ends[output]
        owner = end.dataset.id if isinstance(end, Column) else end.id
        first, last = min(span[0] for span in spans), max(span[1] for span in spans)
        at, run = _latest(connection, job, owner) if last == FOREVER else (last, "")
        return StepHistory(columns[input_], end, names.jobs(connection, [job])[job], first, at, run)


def _spans(input_: int, output: int, job: int) -> Select[Any]:
    """Return the question for the spans of a step, those of now without an end."""
    current, history = FIELD_EDGES if output > 0 else DATASET_EDGES
    name = "output_field" if output > 0 else "output_dataset"

    def of(table: Any, end: Any) -> Any:
        mine = and_(table.c.input_field == input_, table.c[name] == abs(output), table.c.job_id == job)
        return select(table.c.valid_from.label("start"), end.label("end")).where(mine)

    spans = of(current, literal(FOREVER)).union_all(of(history, history.c.valid_to)).subquery()
    return select(spans.c.start, spans.c.end)


def _latest(connection: Connection, job: int, output: int) -> tuple[int, str]:
    mine = select(_LINEAGE.at, _RUN.uuid, _RUN.shown).join(schema.run, _RUN.id == _LINEAGE.run_id)
    mine = mine.where(_LINEAGE.job_id == job, _LINEAGE.output_id == output).order_by(_LINEAGE.at.desc()).limit(1)
    row = connection.execute(mine).one()
    return row.at, row.shown or row.uuid
