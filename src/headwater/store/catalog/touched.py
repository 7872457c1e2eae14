"""What runs read and wrote, and in which versions."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import Connection, select

from headwater.model import Dataset
from headwater.store import schema
from headwater.store.catalog import versions
from headwater.store.catalog.identities import dataset_version
from headwater.store.rows import rows_for

_TOUCH = schema.run_dataset
_DATASET = schema.dataset


@dataclass(frozen=True, slots=True)
class Touched:
    """The datasets that a run read and wrote, by their ids."""

    read: frozenset[int] = frozenset()
    written: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Used:
    """A dataset in the version that a run read or wrote; ``run`` wrote that version, empty when no known one did."""

    named: Dataset
    version: UUID
    run: str = ""


def by_runs(connection: Connection, runs: Collection[int]) -> dict[int, Touched]:
    """What each run read and wrote; nothing for those without datasets."""
    question = select(_TOUCH.c.run_id, _TOUCH.c.dataset_id, _TOUCH.c.written)
    found: dict[int, tuple[set[int], set[int]]] = {}
    for row in rows_for(connection, runs, lambda some: question.where(_TOUCH.c.run_id.in_(some))):
        found.setdefault(row.run_id, (set(), set()))[row.written].add(row.dataset_id)
    return {run: Touched(frozenset(read), frozenset(written)) for run, (read, written) in found.items()}


def named(connection: Connection, touched: Iterable[Touched]) -> dict[int, Dataset]:
    """The names of all datasets that were read or written."""
    ids = {one for some in touched for one in some.read | some.written}
    return names(connection, ids)


def names(connection: Connection, ids: Collection[int]) -> dict[int, Dataset]:
    """The names that datasets go by."""
    question = select(_DATASET.c.id, _DATASET.c.namespace, _DATASET.c.name)
    rows = rows_for(connection, ids, lambda some: question.where(_DATASET.c.id.in_(some)))
    return {row.id: Dataset(row.namespace, row.name) for row in rows}


def written_by(dataset: Dataset, run: str) -> Used:
    """The version of a dataset that a run wrote."""
    return Used(dataset, dataset_version(dataset, run), run)


class VersionsThen:
    """Which version of a dataset there was at each of some moments.

    All runs of a page are answered for by two questions: what was before the first moment, and what came until the
    last.
    """

    def __init__(self, connection: Connection, datasets: Mapping[int, Dataset], moments: Collection[int]) -> None:
        self._datasets = datasets
        self._known: dict[int, list[tuple[int, Used]]] = {}
        if not moments:
            return
        before = versions.latest(connection, datasets, min(moments)).values()
        for one in (*before, *versions.between(connection, datasets, min(moments), max(moments))):
            used = Used(datasets[one.dataset_id], one.uuid, one.run)
            self._known.setdefault(one.dataset_id, []).append((one.at, used))

    def __call__(self, dataset: int, moment: int) -> Used:
        """The version of a dataset at a moment."""
        known = self._known.get(dataset, [])
        place = bisect_right(known, moment, key=_at)
        if place:
            return known[place - 1][1]
        return Used(self._datasets[dataset], dataset_version(self._datasets[dataset], ""))


def _at(known: tuple[int, Used]) -> int:
    return known[0]
