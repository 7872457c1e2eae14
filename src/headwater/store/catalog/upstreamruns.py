"""The runs that made what a run read, and those that made what they read, and so on."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from sqlalchemy import Connection, select

from headwater.store import schema
from headwater.store.catalog import runs
from headwater.store.catalog.runs import KeptRun
from headwater.store.catalog.sight import runs_seen
from headwater.store.sql.rows import rows_for

_RUN = schema.run


def upstream(connection: Connection, run_id: int, depth: int, most: int = 1_000) -> Iterator[KeptRun]:
    """A run and those before it, level by level, each once (Marquez, LineageDao.getUpstreamRuns).

    Runs of jobs that may not be seen are left out, their ids too, and what is before them.
    """
    known: set[int] = set()
    frontier = {run_id}
    for _ in range(depth + 1):
        level = runs.outlines(connection, frontier)
        known |= frontier
        producers = _seen(connection, {used.run_id for run in level.values() for used in run.inputs if used.run})
        shown = [_shown(run, producers) for run in level.values()]
        yield from sorted(shown, key=lambda run: (run.job.name, run.uuid))
        frontier = producers - known
        if not frontier or len(known) > most:
            return


def _seen(connection: Connection, runs_read: Collection[int]) -> set[int]:
    question = select(_RUN.c.id).where(runs_seen(connection))
    return {row.id for row in rows_for(connection, runs_read, lambda some: question.where(_RUN.c.id.in_(some)))}


def _shown(run: KeptRun, producers: Collection[int]) -> KeptRun:
    inputs = (used if used.run_id in producers else replace(used, run="") for used in run.inputs)
    return replace(run, inputs=tuple(inputs))
