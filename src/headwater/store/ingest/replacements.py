"""Replacements of all rows of a dataset: by which runs, and which lineage of other runs they end.

Lineage holds until the next run of its job, or until another run has replaced all rows of the output. Runs go by when
they ended; of equal times by their ids. A stream that still runs may write again after everything.

A restored version has the lineage that held when the run which made it had ended. Where that run cannot be found, all
lineage that the dataset ever had may hold again.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, FromClause, Select, and_, bindparam, delete, or_, select, union

from headwater.errors import SettingError
from headwater.model.time import FOREVER
from headwater.openlineage.reading.events import FINAL, SUCCESSFUL
from headwater.store import schema
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Edge, Pair, Scope, Tables, note
from headwater.store.sql.databases import Lookup, add_rows, pairs_for, rows_for

BELIEVE_OVERWRITE = "HEADWATER_BELIEVE_OVERWRITE"
"""The variable of the environment that says whether OVERWRITE of other producers replaces all rows."""

_FLAGS = {"": False, **dict.fromkeys(("1", "true", "yes", "on"), True)}
_FLAGS |= dict.fromkeys(("0", "false", "no", "off"), False)
_REPLACEMENT = schema.replacement
_LINEAGE = schema.lineage.c
_RUN = schema.run.c
_ENDED = frozenset((*FINAL, *SUCCESSFUL))
_COLUMNS = ("dataset_id", "at", "run_id", "certain", "has_schema", "restores")


_OTHER = _REPLACEMENT.alias().c
_LAST = select(_OTHER.at).where(_OTHER.dataset_id == _REPLACEMENT.c.dataset_id, _OTHER.certain)
_LAST = _LAST.order_by(_OTHER.at.desc()).limit(1).correlate(_REPLACEMENT)
_LATEST = Lookup(
    select(_REPLACEMENT.c.dataset_id, _REPLACEMENT.c.at, _REPLACEMENT.c.run_id).where(
        _REPLACEMENT.c.certain, _REPLACEMENT.c.at == _LAST.scalar_subquery()
    ),
    _REPLACEMENT.c.dataset_id,
)


class Run(NamedTuple):
    """A run's row, as far as its lineage goes."""

    id: int
    uuid: str
    job_id: int
    state: str
    state_at: int

    @property
    def last(self) -> int:
        """When it can have written last."""
        return self.state_at if self.state in _ENDED else FOREVER


class Replacement(NamedTuple):
    """The replacement of a dataset's rows by a run; ``certain`` where its event has it, or its producer is believed.

    ``restores`` says that they are those of an earlier version, which was found where it is ``certain``.
    """

    at: int
    certain: bool
    has_schema: bool
    restores: bool = False


class RunEnd(NamedTuple):
    """A run and when it ended; the run is None where several ended then."""

    at: int
    run: int | None


def believes_overwrite(environment: Mapping[str, str] | None = None) -> bool:
    """Whether OVERWRITE of producers who do not say which rows they replaced counts as a replacement of all.

    Raises:
        SettingError: the variable is neither yes nor no.

    >>> believes_overwrite({}), believes_overwrite({BELIEVE_OVERWRITE: "on"})
    (False, True)
    """
    value = (os.environ if environment is None else environment).get(BELIEVE_OVERWRITE, "")
    if value.lower() not in _FLAGS:
        raise SettingError(f"{BELIEVE_OVERWRITE} is {value!r}: expected 1, true, yes, on, 0, false, no or off.")
    return _FLAGS[value.lower()]


def stored_replacements(connection: Connection, runs: Collection[int]) -> dict[int, dict[int, Replacement]]:
    """Return the replacements that the store has of runs: by run and dataset."""
    found: dict[int, dict[int, Replacement]] = {}
    question = select(_REPLACEMENT)
    for row in rows_for(connection, runs, lambda some: question.where(_REPLACEMENT.c.run_id.in_(some))):
        one = Replacement(row.at, row.certain, row.has_schema, row.restores)
        found.setdefault(row.run_id, {})[row.dataset_id] = one
    return found


def add_replacements(connection: Connection, rows: Iterable[tuple[int, int, Replacement]]) -> None:
    """Add the replacements of datasets (first) by runs (second)."""
    flat = ((dataset, one.at, run, *one[1:]) for dataset, run, one in rows)
    add_rows(connection, _REPLACEMENT, _COLUMNS, flat)


def any_replacement(connection: Connection) -> bool:
    """Whether a run has certainly replaced all rows of any dataset."""
    question = select(_REPLACEMENT.c.run_id).where(_REPLACEMENT.c.certain).limit(1)
    return connection.execute(question).first() is not None


def latest_replacements(connection: Connection, datasets: Collection[int]) -> dict[int, RunEnd]:
    """The last certain replacement of each dataset that has one."""
    found: dict[int, RunEnd] = {}
    for dataset, at, run in _LATEST.bare(connection, datasets):
        found[dataset] = RunEnd(at, None if dataset in found else run)
    return found


Writers = dict[int, tuple[int, Run]]
"""Of each job that wrote a dataset, the last run with lineage of it, and from when on that holds (first)."""


def with_writer(writers: Writers, at: int, run: Run) -> None:
    """Add a run to the writers of a dataset, unless a later one of its job is there."""
    last = writers.get(run.job_id)
    if last is None or (last[0], last[1].uuid) < (at, run.uuid):
        writers[run.job_id] = (at, run)


def writers_since(connection: Connection, moments: Collection[tuple[int, int]]) -> dict[int, Writers]:
    """The writers of datasets (first) whose lineage holds from a moment (second) on, or from a later one."""
    found: dict[int, Writers] = {}
    for dataset, at, *run in pairs_for(connection, moments, _since):
        with_writer(found.setdefault(dataset, {}), at, Run(*run))
    return found


def _since(pair: FromClause) -> Select[Any]:
    mine = and_(_LINEAGE.output_id == pair.c.one, _LINEAGE.at >= pair.c.other)
    question = select(_LINEAGE.output_id, _LINEAGE.at, _RUN.id, _RUN.uuid, _LINEAGE.job_id, _RUN.state, _RUN.state_at)
    return question.select_from(pair).join(schema.lineage, mine).join(schema.run, _RUN.id == _LINEAGE.run_id)


_MOMENT, _UUID = bindparam("moment", type_=BigInteger()), bindparam("the_uuid", type_=_RUN.uuid.type)
_FIRST_AFTER = (
    select(_REPLACEMENT.c.at)
    .join(schema.run, _RUN.id == _REPLACEMENT.c.run_id)
    .where(
        _REPLACEMENT.c.dataset_id == bindparam("dataset"),
        _REPLACEMENT.c.certain,
        _REPLACEMENT.c.run_id != bindparam("row"),
        or_(_REPLACEMENT.c.at > _MOMENT, and_(_REPLACEMENT.c.at == _MOMENT, _RUN.uuid > _UUID)),
    )
    .order_by(_REPLACEMENT.c.at)
    .limit(1)
)


def first_after(connection: Connection, dataset: int, run: Run) -> int:
    """When another run than this first replaced a dataset after it; FOREVER where none has."""
    place = {"dataset": dataset, "row": run.id, "moment": run.last, "the_uuid": run.uuid}
    found = connection.execute(_FIRST_AFTER, place).scalar()
    return FOREVER if found is None else int(found)


def jobs_of(connection: Connection, dataset: int) -> list[int]:
    """The jobs that have lineage of a dataset."""
    question = select(_LINEAGE.job_id).where(_LINEAGE.output_id == dataset).distinct()
    return list(connection.execute(question).scalars())


_RESTORATIONS = select(_REPLACEMENT.c.dataset_id, _REPLACEMENT.c.run_id, _REPLACEMENT.c.at).where(
    _REPLACEMENT.c.restores
)

Restoration = tuple[int, int]
"""A run that restored (first), and the dataset."""


def later_restorations(connection: Connection, changed: Mapping[int, int]) -> list[Restoration]:
    """The restorations of datasets that ended at a moment or after it."""
    rows = rows_for(connection, changed, lambda some: _RESTORATIONS.where(_REPLACEMENT.c.dataset_id.in_(some)))
    return [(row.run_id, row.dataset_id) for row in rows if row.at >= changed[row.dataset_id]]


def earlier_writers(connection: Connection, dataset: int, before: int) -> list[tuple[int, int]]:
    """The runs that have lineage of a dataset or replaced its rows, and when: before a moment, the last one first."""
    lineage = select(_LINEAGE.run_id).where(_LINEAGE.output_id == dataset)
    replaced = select(_REPLACEMENT.c.run_id).where(_REPLACEMENT.c.dataset_id == dataset)
    question = select(_RUN.id, _RUN.state_at).where(_RUN.id.in_(union(lineage, replaced)), _RUN.state_at < before)
    return [(row.id, row.state_at) for row in connection.execute(question.order_by(_RUN.state_at.desc()))]


def restored_edges(
    connection: Connection, dataset: int, by: Run, moment: int | None
) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """The edges into a dataset that a run brings back: to its fields, and to the whole of it.

    They are those that held at a ``moment``; without one all that ever held before the run had ended.
    """
    fields, of_dataset = (
        tuple(sorted(set(_edges(connection, tables, dataset, by, moment)))) for tables in (FIELD_EDGES, DATASET_EDGES)
    )
    return fields, of_dataset


def _edges(connection: Connection, tables: Tables, dataset: int, by: Run, moment: int | None) -> Iterator[Edge]:
    for table in tables:
        output = table.c.output_field if tables is FIELD_EDGES else table.c.output_dataset
        mine = output == dataset
        if tables is FIELD_EDGES:
            mine = output.in_(select(schema.field.c.id).where(schema.field.c.dataset_id == dataset))
        held = table.c.valid_from < by.state_at if moment is None else table.c.valid_from <= moment
        if moment is not None and table is tables.history:
            held = and_(held, table.c.valid_to > moment)
        rows = connection.execute(select(output, table.c.input_field, table.c.transformation_id).where(mine, held))
        yield from (tuple(row) for row in rows)


_FIELD = schema.field


def retract_lineage(connection: Connection, pairs: Iterable[Pair]) -> set[int]:
    """Remove the lineage of (job, output) pairs; return the runs that it was of, whose lineage is to be recomputed."""
    runs: set[int] = set()
    for job, output in pairs:
        mine = (_LINEAGE.job_id == job, _LINEAGE.output_id == output)
        runs.update(connection.execute(select(_LINEAGE.run_id).where(*mine)).scalars())
        connection.execute(delete(schema.lineage).where(*mine))
        Scope(connection, job, output).clear()
        note(connection, [(job, output)])
    return runs


def retract_replacements(connection: Connection, datasets: Collection[int]) -> set[int]:
    """Remove the replacements of datasets; return the runs that made them, which are to be looked at again."""
    question = select(_REPLACEMENT.c.run_id)
    rows = rows_for(connection, datasets, lambda some: question.where(_REPLACEMENT.c.dataset_id.in_(some)))
    runs = {row.run_id for row in rows}
    connection.execute(delete(_REPLACEMENT).where(_REPLACEMENT.c.dataset_id.in_(datasets)))
    return runs


def pairs_of_dataset(connection: Connection, dataset: int) -> set[Pair]:
    """The (job, output) pairs whose lineage reads or writes a dataset, now or in the past."""
    mine = select(_FIELD.c.id).where(_FIELD.c.dataset_id == dataset)
    questions = [select(_LINEAGE.job_id, _LINEAGE.output_id).where(_LINEAGE.output_id == dataset)]
    for edges in (schema.edge, schema.edge_history):
        output = select(edges.c.job_id, _FIELD.c.dataset_id).join(_FIELD, _FIELD.c.id == edges.c.output_field)
        questions.append(output.where(edges.c.input_field.in_(mine)).distinct())
    for edges in (schema.dataset_edge, schema.dataset_edge_history):
        output = select(edges.c.job_id, edges.c.output_dataset).where(edges.c.input_field.in_(mine))
        questions.append(output.distinct())
    return {(job, output) for question in questions for job, output in connection.execute(question)}
