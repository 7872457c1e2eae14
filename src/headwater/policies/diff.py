"""The effects of a change on lineage: columns, edges, what breaks and whose it is, and where tags newly arrive."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from sqlalchemy import Connection

from headwater.model import Dataset
from headwater.policies.documents import path_lines
from headwater.policies.flows import Flows, TagPath
from headwater.policies.owners import owners_of_datasets
from headwater.policies.selectors import Names
from headwater.policies.tag_file import TagFile
from headwater.store import Store
from headwater.store.questions import Column
from headwater.store.questions.leaf_snapshots import by_leaf
from headwater.store.questions.snapshots import ColumnName, NamedEdge, Snapshot, SnapshotDifference, compared, snapshot
from headwater.store.questions.walk.tag_walk import Arriving


@dataclass(frozen=True, slots=True)
class NewFlow:
    """A tag that arrives at a column where it did not, or only masked; with its path."""

    tag: str
    column: ColumnName
    arriving: Arriving
    path: tuple[str, ...]
    steps: tuple[NamedEdge, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """The difference of two snapshots, the owners of datasets that it breaks, and new flows of tags.

    ``notes`` are lines on what is not known of it.
    """

    difference: SnapshotDifference
    owners: Mapping[str, tuple[str, ...]]
    flows: tuple[NewFlow, ...]
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.difference or self.flows)


@dataclass(frozen=True, slots=True)
class Side:
    """A store at a moment in microseconds since 1970, None for now."""

    store: Store
    at: int | None = None


def change_between(before: Side, after: Side, file: TagFile, today: date, *, nested: bool = False) -> Change:
    """Return what is different in the second of two stores, or of two moments of one.

    Args:
        before, after: the sides.
        file: tags and breakers beside those of the stores.
        today: the day by which breakers expire.
        nested: whether fields within columns are compared one by one, where both sides know them.

    Raises:
        StoreError: a store cannot be read.
    """
    with before.store.read() as earlier, after.store.read() as later:
        was = snapshot(earlier, before.at, nested=nested)
        now = snapshot(later, after.at, was.known, nested=nested)
        found = compared(*by_leaf(was, now)) if nested else compared(was, now)
        owners = _owners(earlier, was) | _owners(later, now)
        flows = _new_flows((earlier, before.at, was.known), (later, after.at, now.known), file, today)
    return Change(found, {one.dataset: owners.get(one.dataset, ()) for one in found.broken}, tuple(flows))


_AtMoment = tuple[Connection, int | None, Mapping[Dataset, str]]


def _new_flows(before: _AtMoment, after: _AtMoment, file: TagFile, today: date) -> list[NewFlow]:
    known = {(one.tag, one.column): one.arriving for one in reversed(_flows(before, file, today))}
    order = list(Arriving)
    return [
        one
        for one in _flows(after, file, today)
        if (one.tag, one.column) not in known or order.index(one.arriving) < order.index(known[one.tag, one.column])
    ]


def _flows(of: _AtMoment, file: TagFile, today: date) -> list[NewFlow]:
    connection, at, known = of
    flows = Flows(connection, file, today, as_of=at)
    return [
        NewFlow(str(tag), _named(path.column, known), kind, tuple(path_lines(path)), tuple(_steps(path, known)))
        for tag in flows.tags
        for kind in (Arriving.VALUE, Arriving.MASKED)
        for path in flows.paths(tag, (kind,))
    ]


def _steps(path: TagPath, names: Mapping[Dataset, str]) -> Iterator[NamedEdge]:
    columns = [_named(one, names) for one in (*(hop.input for hop in path.steps), path.column)]
    return map(NamedEdge, columns, columns[1:])


def _named(column: Column, names: Mapping[Dataset, str]) -> ColumnName:
    return ColumnName(names.get(column.dataset.dataset, str(column.dataset)), column.name)


def _owners(connection: Connection, of: Snapshot) -> dict[str, tuple[str, ...]]:
    every = Names(connection)
    found = owners_of_datasets(connection, every)
    named = {id_: of.known[one.dataset] for id_, one in every.datasets.items() if one.dataset in of.known}
    return {name: found[id_] for id_, name in named.items() if found.get(id_)}
