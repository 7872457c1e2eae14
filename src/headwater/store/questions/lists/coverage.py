"""Which outputs have no lineage, or only part of it, and why."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from sqlalchemy import ColumnElement, Connection, Subquery, and_, case, func, or_, select

from headwater.model import Gap, Job
from headwater.openlineage.reading.events import SUCCESSFUL
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import KnownDataset, KnownJob
from headwater.store.questions.lists.listing import find_run
from headwater.store.questions.lookup.typed_names import fit
from headwater.store.read_model.fields import replaced_datasets
from headwater.store.sql.databases import rows_for
from headwater.store.store import Store

_RUN = schema.run
_JOB = schema.job
_WRITES = schema.run_dataset


class Covered(str, Enum):
    """How much of an output's lineage is known."""

    NONE = "none"  # its run has no column lineage
    PARTIAL = "partial"  # something was not understood, or cut by a budget
    OPAQUE = "opaque"  # whole, but conservative: a function nobody can see into
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much is known of one output of a run, and what is missing.

    ``output`` is None for gaps of a run without outputs.
    """

    run: str
    job: Job
    output: KnownDataset | None
    covered: Covered
    gaps: tuple[Gap, ...]


def coverage(store: Store, run: str = "") -> tuple[Coverage, ...]:
    """The coverage of each job's outputs by its latest successful run, or of one run and the runs it started.

    Outputs whose names are others' now, of tables that were dropped and made anew, are in that of a run alone.

    Args:
        run: the beginning or the end of a run's id; empty for everything.

    Raises:
        UnknownName, AmbiguousName: no run has that id, or several.
    """
    with store.read() as connection:
        outputs = _outputs()
        wanted = _in_family(connection, outputs, run) if run else and_(outputs.c.successful, outputs.c.place == 1)
        gone = set() if run else replaced_datasets(connection)
        rows = [row for row in connection.execute(select(outputs).where(wanted)) if row.dataset_id not in gone]
        gaps = _gaps(connection, {row.id for row in rows})
        datasets = names.datasets(connection, {row.dataset_id for row in rows if row.dataset_id is not None})
    found = [_coverage(row, datasets.get(row.dataset_id), gaps.get(row.id, [])) for row in rows]
    return tuple(sorted((one for one in found if one.output is not None or one.gaps), key=worst_first))


def _outputs() -> Subquery:
    """Each run with each of its outputs; ``place`` counts back from the latest successful one."""
    successful = _RUN.c.state.in_(SUCCESSFUL)
    latest_first = (case((successful, 0), else_=1), _RUN.c.state_at.desc(), _RUN.c.uuid.desc())
    place = func.row_number().over(partition_by=(_RUN.c.job_id, _WRITES.c.dataset_id), order_by=latest_first)
    columns = (
        _RUN.c.id,
        func.coalesce(_RUN.c.shown, _RUN.c.uuid).label("uuid"),
        _RUN.c.parent_id,
        _RUN.c.job_id,
        _JOB.c.namespace,
        _JOB.c.name,
    )
    question = select(
        *columns, _WRITES.c.dataset_id, _WRITES.c.has_lineage, place.label("place"), successful.label("successful")
    )
    written = and_(_WRITES.c.run_id == _RUN.c.id, _WRITES.c.written)
    shown = and_(_JOB.c.id == _RUN.c.job_id, _JOB.c.hidden_at.is_(None))
    return question.join(_JOB, shown).outerjoin(_WRITES, written).subquery()


def _in_family(connection: Connection, outputs: Subquery, run: str) -> ColumnElement[bool]:
    mine = find_run(connection, run).row_id
    return or_(outputs.c.id == mine, outputs.c.parent_id == mine)


def _gaps(connection: Connection, runs: set[int]) -> dict[int, list[Gap]]:
    gap = schema.gap
    question = select(gap).order_by(gap.c.kind, gap.c.what, gap.c.why)
    found: dict[int, list[Gap]] = {}
    for row in rows_for(connection, runs, lambda some: question.where(gap.c.run_id.in_(some))):
        found.setdefault(row.run_id, []).append(Gap(row.kind, row.what, row.why, row.output))
    return found


def _coverage(row: Any, output: KnownDataset | None, gaps: list[Gap]) -> Coverage:
    own = tuple(gap for gap in gaps if output is None or _is_about(gap, output))
    return Coverage(
        row.uuid,
        KnownJob(row.namespace, row.name, row.job_id),
        output,
        _covered(own, has_lineage=bool(row.has_lineage)),
        own,
    )


def _is_about(gap: Gap, output: KnownDataset) -> bool:
    return not gap.output or any(fit(name, gap.output) is not None for name in output.names)


def _covered(gaps: tuple[Gap, ...], *, has_lineage: bool) -> Covered:
    if not has_lineage:
        return Covered.NONE
    if any(gap.kind != "opaque" for gap in gaps):
        return Covered.PARTIAL
    return Covered.OPAQUE if gaps else Covered.FULL


def worst_first(coverage: Coverage) -> tuple[int, str, str, str, str]:
    """The place of an output among others: the least known first, then by name, job and run."""
    return (
        list(Covered).index(coverage.covered),
        str(coverage.output or ""),
        coverage.job.namespace,
        coverage.job.name,
        coverage.run,
    )
