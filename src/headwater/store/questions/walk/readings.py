"""The parts of the time in which an edge held, between which its job wrote all rows of the output anew.

A job that runs again with the same lineage adds no edge: one holds from its first run on. Each run has read what its
inputs had then, though, and where it replaced all rows of the output, who read these before has what the run before
had read. So the time of such an edge has parts, each with the time in which the job read for it.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import accumulate
from typing import Any, NamedTuple

from sqlalchemy import Connection, FromClause, Select, and_, select

from headwater.model.time import FOREVER
from headwater.store import schema
from headwater.store.graph.timeline import Pair, Span
from headwater.store.ingest.replacements import Run
from headwater.store.sql.databases import pairs_for

READINGS_APART = 7
"""Parts at most, beside the last one: earlier ones are one. A job whose output goes back into its input has read, over
two steps for each of its runs, what all of them had read."""

_LINEAGE = schema.lineage.c
_REPLACEMENT = schema.replacement.c
_RUN = schema.run.c


def read_until(since: Any, last: Any) -> tuple[Any, Any]:
    """When a link of now was read: by the runs from one that ended at a moment to the last one, before each ended.

    The moments are those of Python or of Spark; the second is not included, as in all spans.
    """
    return since - 1, last


def read_during(start: Any, end: Any) -> tuple[Any, Any]:
    """When a past link was read, which held from a moment to another; as `read_until`."""
    return start - 1, end + 1


def overlap(start: Any, end: Any, other_start: Any, other_end: Any) -> Any:
    """Whether spans have a moment in common; of Python or of Spark.

    >>> overlap(1, 3, *read_until(3, 4)), overlap(1, 3, *read_until(4, 4))
    (True, False)
    """
    return (start < other_end) & (end > other_start)


class Renewal(NamedTuple):
    """When a job replaced all rows of an output of its own, and when its runs before that had ended."""

    at: int
    read_to: int


def parts(held: Span, renewals: Collection[Renewal]) -> Iterator[Span]:
    """Yield the parts of a span in which an edge held, without the last one of an edge that still holds.

    >>> for one in parts(Span(1, 9), [Renewal(1, 0), Renewal(5, 3)]): print(*one)
    1 5
    5 9
    """
    start = held.start
    for at, _ in renewals:
        if held.start < at < held.end:
            yield Span(start, at)
            start = at
    if held.end != FOREVER:
        yield Span(start, held.end)


def read_for(part: Span, renewals: Collection[Renewal]) -> Span:
    """Return when a job read for a part: by its runs before it replaced all rows again, or during all of the part.

    >>> read_for(Span(1, 5), [Renewal(5, 3)]), read_for(Span(5, 9), [Renewal(5, 3)])
    (Span(start=0, end=3), Span(start=4, end=10))
    """
    ends = [read_to for at, read_to in renewals if at == part.end]
    return Span(*(read_until(part.start, min(ends[0], part.end)) if ends else read_during(*part)))


def renewals(connection: Connection, pairs: Collection[Pair]) -> dict[Pair, list[Renewal]]:
    """Return for each job and output the last times that the job replaced all rows of it, in order."""
    at: dict[Pair, set[int]] = {}
    for job, output, moment in pairs_for(connection, pairs, _renewed):
        at.setdefault((job, output), set()).add(moment)
    runs: dict[Pair, list[tuple[int, int]]] = {}
    for job, output, moment, *run in pairs_for(connection, at, _runs):
        runs.setdefault((job, output), []).append((moment, Run(*run).last))
    return {pair: list(_with_runs(sorted(moments)[-READINGS_APART:], runs[pair])) for pair, moments in at.items()}


def _with_runs(moments: list[int], runs: list[tuple[int, int]]) -> Iterator[Renewal]:
    """Add to moments when runs before them had ended; a first run has none before it, and makes no parts."""
    runs.sort()
    ends = list(accumulate((end for _, end in runs), max))
    for at in moments:
        before = bisect_left(runs, (at,))
        if before:
            yield Renewal(at, ends[before - 1])


def _renewed(pair: FromClause) -> Select[Any]:
    own = and_(_LINEAGE.job_id == pair.c.one, _LINEAGE.output_id == pair.c.other)
    by = and_(_REPLACEMENT.run_id == _LINEAGE.run_id, _REPLACEMENT.dataset_id == _LINEAGE.output_id)
    question = select(_LINEAGE.job_id, _LINEAGE.output_id, _REPLACEMENT.at).where(_REPLACEMENT.certain)
    return question.select_from(pair).join(schema.lineage, own).join(schema.replacement, by)


def _runs(pair: FromClause) -> Select[Any]:
    own = and_(_LINEAGE.job_id == pair.c.one, _LINEAGE.output_id == pair.c.other)
    run = (_RUN.id, _RUN.uuid, _RUN.job_id, _RUN.state, _RUN.state_at)
    question = select(_LINEAGE.job_id, _LINEAGE.output_id, _LINEAGE.at, *run)
    return question.select_from(pair).join(schema.lineage, own).join(schema.run, _RUN.id == _LINEAGE.run_id)
