"""Links with names, those of one job as one hop, and the runs that may have replaced what the job wrote.

Lineage is possibly replaced when another run has overwritten the dataset since, perhaps only partitions of it.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, FromClause, Select, and_, select

from headwater.model import Transformation
from headwater.store import schema
from headwater.store.graph.timeline import Pair
from headwater.store.ingest.replacements import Run
from headwater.store.questions import names
from headwater.store.questions.answers import (
    Column,
    Hop,
    Overwrite,
)
from headwater.store.questions.walk.edges import Link, Row
from headwater.store.questions.walk.path_transformations import strongest_first
from headwater.store.read_model.presence import presence
from headwater.store.sql.databases import pairs_for, rows_for

_REPLACEMENT = schema.replacement.c
_LINEAGE = schema.lineage.c
_RUN = schema.run.c
_POSSIBLE = select(_REPLACEMENT.dataset_id, _REPLACEMENT.at, _RUN.uuid, _RUN.job_id)
_POSSIBLE = _POSSIBLE.join(schema.run, _RUN.id == _REPLACEMENT.run_id).where(~_REPLACEMENT.certain)


def pairs_of(rows: Iterable[Row], dataset_of: Mapping[int, int]) -> set[Pair]:
    """The jobs and outputs of some links."""
    return {(job, dataset_of[output] if output > 0 else -output) for _, output, _, job in rows}


def overwrites(connection: Connection, pairs: Iterable[Pair], at: int | None = None) -> dict[Pair, Overwrite]:
    """The last run that may have replaced what a job (first) wrote to a dataset (second), where there is one.

    None are given of another time than now.
    """
    if at is not None or not presence(connection).possible_replacements:
        return {}
    pairs = set(pairs)
    last = _last(connection, {dataset for _, dataset in pairs})
    found: dict[Pair, tuple[int, str, int]] = {}
    written = [pair for pair in pairs if pair[1] in last]
    for job, dataset, uuid, *run in pairs_for(connection, written, _written):
        moment, by, _ = last[dataset]
        if (moment, by) > (Run(0, uuid, job, *run).last, uuid):
            found[job, dataset] = last[dataset]
        else:
            found.pop((job, dataset), None)
    jobs = names.jobs(connection, {job for *_, job in found.values()})
    return {pair: Overwrite(by, jobs[job], moment) for pair, (moment, by, job) in found.items()}


def replaced_links(
    connection: Connection, links: Collection[Link], dataset_of: Mapping[int, int], at: int | None = None
) -> dict[tuple[int, int, int], Overwrite]:
    """The links that are possibly replaced, whichever job's, by input, output and transformation: by the last run."""
    found = overwrites(connection, pairs_of(links, dataset_of), at)
    if not found:
        return {}
    marks: dict[tuple[int, int, int], list[Overwrite | None]] = {}
    for one in links:
        pair = (one.job, dataset_of[one.output] if one.output > 0 else -one.output)
        marks.setdefault(one[:3], []).append(found.get(pair))
    return {ends: some[0] for ends, some in marks.items() if some[0] is not None and None not in some}


def _last(connection: Connection, datasets: Collection[int]) -> dict[int, tuple[int, str, int]]:
    """Of each dataset the last run that may have replaced its rows: when, which and of which job."""
    found: dict[int, tuple[int, str, int]] = {}
    for row in rows_for(connection, datasets, lambda some: _POSSIBLE.where(_REPLACEMENT.dataset_id.in_(some))):
        one = (row.at, row.uuid, row.job_id)
        found[row.dataset_id] = max(found.get(row.dataset_id, one), one)
    return found


def _written(pair: FromClause) -> Select[Any]:
    """The runs with lineage of pairs, each pair's in the order of their times."""
    mine = and_(_LINEAGE.job_id == pair.c.one, _LINEAGE.output_id == pair.c.other)
    question = select(_LINEAGE.job_id, _LINEAGE.output_id, _RUN.uuid, _RUN.state, _RUN.state_at).select_from(pair)
    question = question.join(schema.lineage, mine).join(schema.run, _RUN.id == _LINEAGE.run_id)
    return question.order_by(_LINEAGE.at, _RUN.uuid)


def named_hops(
    connection: Connection,
    links: Iterable[Link],
    columns: Mapping[int, Column],
    transformations: Mapping[int, Transformation],
    at: int | None = None,
) -> tuple[Hop, ...]:
    """Links with names, those of one job between the same two ends as one hop."""
    together: dict[tuple[int, int, int], list[Transformation]] = {}
    for link in links:
        together.setdefault((link.input, link.output, link.job), []).append(transformations[link.transformation])
    jobs = names.jobs(connection, {job for *_, job in together})
    datasets = names.datasets(connection, {-output for _, output, _ in together if output < 0}, at)
    owner_of = {output: columns[output].dataset.id for _, output, _ in together if output > 0}
    runs = overwrites(connection, {(job, owner_of.get(output, -output)) for _, output, job in together}, at)
    hops = []
    for (source, output, job), how in together.items():
        column = columns[output] if output > 0 else None
        dataset = column.dataset if column is not None else datasets[-output]
        overwritten = runs.get((job, dataset.id))
        hops.append(Hop(columns[source], column, dataset, strongest_first(dict.fromkeys(how)), jobs[job], overwritten))
    return tuple(hops)
