"""The runs that made what a run read, and those that made what they read, and so on."""

from collections.abc import Iterator

from sqlalchemy import Connection, select

from headwater.store import schema
from headwater.store.catalog import runs
from headwater.store.catalog.runs import KeptRun
from headwater.store.rows import rows_for

_RUN = schema.run


def upstream(connection: Connection, run_id: int, depth: int, most: int = 1_000) -> Iterator[KeptRun]:
    """A run and those before it, level by level, each once (Marquez, LineageDao.getUpstreamRuns)."""
    known: set[int] = set()
    frontier = {run_id}
    for _ in range(depth + 1):
        level = runs.outlines(connection, frontier)
        yield from sorted(level.values(), key=lambda run: (run.job.name, run.uuid))
        known |= frontier
        producers = {used.run for run in level.values() for used in run.inputs if used.run}
        frontier = _ids(connection, producers) - known
        if not frontier or len(known) > most:
            return


def _ids(connection: Connection, uuids: set[str]) -> set[int]:
    question = select(_RUN.c.id)
    return {row.id for row in rows_for(connection, uuids, lambda some: question.where(_RUN.c.uuid.in_(some)))}
