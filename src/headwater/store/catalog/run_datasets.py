"""The inputs and outputs of runs, and their versions."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy import Connection, select

from headwater.model import Dataset
from headwater.store import schema
from headwater.store.read_model import versions
from headwater.store.read_model.versions import Place, dataset_version
from headwater.store.read_model.visibility import referred_reads
from headwater.store.sql.databases import rows_for

_TOUCH = schema.run_dataset
_DATASET = schema.dataset


@dataclass(frozen=True, slots=True)
class RunDatasets:
    """The names of the datasets that a run read and wrote, by their ids."""

    read: dict[int, Dataset] = field(default_factory=dict)
    written: dict[int, Dataset] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DatasetUse:
    """A dataset in the version that a run read or wrote; ``run`` wrote that version, empty when no known one did."""

    named: Dataset
    version: UUID
    run: str = ""
    run_id: int = 0


def by_runs(connection: Connection, runs: Collection[int]) -> dict[int, RunDatasets]:
    """The inputs and outputs of each run; runs without any are left out."""
    question = select(_TOUCH.c.run_id, _TOUCH.c.dataset_id, _TOUCH.c.written, _DATASET.c.namespace, _DATASET.c.name)
    question = question.join(_DATASET, _DATASET.c.id == _TOUCH.c.dataset_id)
    rows = list(rows_for(connection, runs, lambda some: question.where(_TOUCH.c.run_id.in_(some))))
    gone = referred_reads(connection, ((row.run_id, row.dataset_id) for row in rows if not row.written))
    found: dict[int, RunDatasets] = {}
    for row in rows:
        used = found.setdefault(row.run_id, RunDatasets())
        if row.written or (row.run_id, row.dataset_id) not in gone:
            (used.written if row.written else used.read)[row.dataset_id] = Dataset(row.namespace, row.name)
    return found


def named(touched: Iterable[RunDatasets]) -> dict[int, Dataset]:
    """The names of all datasets that were read or written."""
    return {id_: one for some in touched for id_, one in (some.read | some.written).items()}


def names(connection: Connection, ids: Collection[int]) -> dict[int, Dataset]:
    """The names that datasets go by."""
    question = select(_DATASET.c.id, _DATASET.c.namespace, _DATASET.c.name)
    rows = rows_for(connection, ids, lambda some: question.where(_DATASET.c.id.in_(some)))
    return {row.id: Dataset(row.namespace, row.name) for row in rows}


def written_by(dataset: Dataset, run: str, shown: str | None = None) -> DatasetUse:
    """The version of a dataset that a run wrote, which may be shown by another id."""
    return DatasetUse(dataset, dataset_version(dataset, run), shown or run)


def at_moments(
    connection: Connection, datasets: Mapping[int, Dataset], places: Collection[Place]
) -> dict[Place, DatasetUse]:
    """The version of each dataset that there was at a moment, for all at once."""
    known = versions.at_moments(connection, datasets, places)
    used = {place: DatasetUse(datasets[place[0]], one.uuid, one.run, one.run_id) for place, one in known.items()}
    unknown = {place: datasets[place[0]] for place in places if place not in known}
    return used | {place: DatasetUse(named, dataset_version(named, "")) for place, named in unknown.items()}
