"""Guesses: which columns a run with inputs and outputs, but no column lineage, may have made of which; never stored.

The third and last of what is believed of an event, after the ``lineage`` facet and ``columnLineage``: that every input
went into every output. Nothing of it is stored, so that events of any age answer as well.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, exists, func, select

from headwater.model import Subtype, Transformation
from headwater.openlineage.reading.events import SUCCESSFUL
from headwater.store import schema
from headwater.store.questions.answers import Bounds, Direction
from headwater.store.read_model.visibility import described_fields, referred_reads, sight_of
from headwater.store.sql.databases import Lookup

GUESS = Transformation(
    Subtype.TRANSFORMATION,
    opaque=True,
    description="guess: the event has inputs and outputs, but no columns",
    guess=True,
)
GUESS_ID = 0
"""Its id among those of transformations; those of the store begin at 1."""

_RUN = schema.run
_TOUCH = schema.run_dataset
_FIELD = schema.field
_LINEAGE = schema.lineage.c
_COLUMNS = Lookup(select(_FIELD.c.dataset_id, _FIELD.c.id), _FIELD.c.id)
_COLUMNS_OF = Lookup(select(_FIELD.c.dataset_id, _FIELD.c.id), _FIELD.c.dataset_id)
_READ = Lookup(select(_TOUCH.c.run_id, _TOUCH.c.dataset_id).where(~_TOUCH.c.written), _TOUCH.c.run_id)


class Guess(NamedTuple):
    """A column of an input, the dataset that it may have gone into, and the job that would have made that."""

    input: int
    output: int
    job: int


class _Unexplained(NamedTuple):
    """The latest successful run of a job that wrote a dataset, and has no columns of it."""

    run: int
    output: int
    job: int


def follows_guesses(bounds: Bounds) -> bool:
    """Whether a walk is to follow guesses: it asks for them, and for no kind of edge that they are not known to be.

    A guess has no type and no subtype, and is not known to mask.
    """
    return bounds.guess and bounds.edge_type is None and not bounds.subtypes and not bounds.masking


class Guesses:
    """The guesses of a moment in microseconds since 1970, None for now; of some jobs, or of all where none are given.

    They are about the latest successful run of each job and output: what is missing from an earlier one is past.
    """

    def __init__(self, connection: Connection, moment: int | None, jobs: Collection[int]) -> None:
        self._connection = connection
        self._questions = _questions(moment, tuple(jobs))

    def of(self, direction: Direction, ids: Collection[int]) -> Iterator[Guess]:
        """The guesses upstream of these datasets, or downstream of these columns."""
        if direction is Direction.UP:
            unexplained = self._unexplained(ids)
            read = self._read_by(unexplained)
            inputs = {dataset for some in read.values() for dataset in some}
            columns = self._columns(_COLUMNS_OF, inputs)
        else:
            columns = self._columns(_COLUMNS, ids)
            unexplained = self._unexplained(self._written_from(columns))
            read = self._read_by(unexplained)
        for run, output, job in unexplained:
            for dataset in read.get(run, ()):
                yield from (Guess(column, output, job) for column in columns.get(dataset, ()))

    def between_datasets(self) -> Iterator[Guess]:
        """All guesses, with datasets in the place of their columns."""
        written = select(_TOUCH.c.dataset_id).distinct().where(_TOUCH.c.written, ~_TOUCH.c.has_lineage)
        unexplained = self._unexplained(self._connection.execute(written).scalars().all())
        read = self._read_by(unexplained)
        for run, output, job in unexplained:
            yield from (Guess(dataset, output, job) for dataset in read.get(run, ()))

    def _unexplained(self, outputs: Collection[int]) -> list[_Unexplained]:
        return [_Unexplained(*row) for row in self._questions.unexplained.bare(self._connection, outputs)]

    def _read_by(self, unexplained: Iterable[_Unexplained]) -> dict[int, list[int]]:
        """The datasets that each run read."""
        read = self._grouped(_READ, {one.run for one in unexplained})
        gone = referred_reads(self._connection, ((run, one) for run, some in read.items() for one in some))
        return {run: [one for one in some if (run, one) not in gone] for run, some in read.items()}

    def _written_from(self, inputs: Collection[int]) -> set[int]:
        """The datasets that some run wrote which read these, and has no columns of."""
        return {one for (one,) in self._questions.written_from.bare(self._connection, inputs)}

    def _columns(self, lookup: Lookup, ids: Collection[int]) -> dict[int, list[int]]:
        """Columns by their datasets."""
        if sight_of(self._connection) is None:
            return self._grouped(lookup, ids)
        described = select(_FIELD.c.dataset_id, _FIELD.c.id).where(described_fields(self._connection))
        return self._grouped(Lookup(described, lookup.near), ids)

    def _grouped(self, lookup: Lookup, ids: Collection[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for key, value in lookup.bare(self._connection, ids):
            found.setdefault(key, []).append(value)
        return found


class _Questions(NamedTuple):
    """The latest runs that wrote datasets and have no columns of them, and what runs wrote so that read datasets."""

    unexplained: Lookup
    written_from: Lookup


@lru_cache(100)
def _questions(moment: int | None, jobs: tuple[int, ...]) -> _Questions:
    then: list[ColumnElement[bool]] = [_RUN.c.state.in_(SUCCESSFUL)]
    lineage_then: list[ColumnElement[bool]] = []
    if moment is not None:
        then.append(_RUN.c.state_at <= moment)
        lineage_then.append(_LINEAGE.at <= moment)
    if jobs:
        then.append(_RUN.c.job_id.in_(jobs))
    # Runs of one moment go by their ids, as everywhere.
    latest_first = (_RUN.c.state_at.desc(), _RUN.c.uuid.desc())
    place = func.row_number().over(partition_by=(_RUN.c.job_id, _TOUCH.c.dataset_id), order_by=latest_first)
    written = select(_RUN.c.id, _RUN.c.job_id, _RUN.c.state_at, _TOUCH.c.dataset_id, _TOUCH.c.has_lineage)
    written = written.add_columns(place.label("place")).join(_TOUCH, _TOUCH.c.run_id == _RUN.c.id)
    written = written.where(_TOUCH.c.written, *then)

    def unexplained(near: ColumnElement[bool]) -> Select[Any]:
        run = written.where(near).subquery().c
        # A stream has lineage before it ends.
        since = (_LINEAGE.job_id == run.job_id, _LINEAGE.output_id == run.dataset_id, _LINEAGE.at > run.state_at)
        has_columns = exists().where(*since, *lineage_then)
        return select(run.id, run.dataset_id, run.job_id).where(run.place == 1, ~run.has_lineage, ~has_columns)

    read = _TOUCH.alias("read")
    wrote = select(_TOUCH.c.dataset_id).distinct().join(_RUN, _RUN.c.id == _TOUCH.c.run_id)
    wrote = wrote.join(read, read.c.run_id == _RUN.c.id)
    wrote = wrote.where(_TOUCH.c.written, ~_TOUCH.c.has_lineage, ~read.c.written, *then)
    return _Questions(Lookup(unexplained, _TOUCH.c.dataset_id), Lookup(wrote, read.c.dataset_id))
