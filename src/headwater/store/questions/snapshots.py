"""The lineage of a whole store at a moment as names, and how two of them differ: of two stores, or of two moments."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple

from sqlalchemy import Connection, select

from headwater.graph import reachable
from headwater.model import Dataset, Transformation
from headwater.model.names import name_before_drop
from headwater.model.nested_fields import Path
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import Bounds, Direction, KnownDataset
from headwater.store.questions.lists.versions import columns_then
from headwater.store.questions.walk.closure import Closure
from headwater.store.questions.walk.edges import Row, edges_within
from headwater.store.questions.walk.leaf_steps import UNDETAILED, related
from headwater.store.questions.walk.nested_events import NestedEvents

WHOLE = "*"
"""The column of edges that act on a whole dataset."""


class ColumnName(NamedTuple):
    """A dataset and a column of it."""

    dataset: str
    column: str

    def __str__(self) -> str:
        return f"{self.dataset}.{self.column}"


class NamedEdge(NamedTuple):
    """An edge by names, whatever the job."""

    input: ColumnName
    output: ColumnName


Kinds = frozenset[Transformation]
"""The transformations of an edge, without descriptions."""


class Leaf(NamedTuple):
    """A column, or a field within it by the path from the column inwards."""

    column: ColumnName
    path: Path = ()


class LeafEdge(NamedTuple):
    """A part of an edge, between fields within its columns."""

    input: Leaf
    output: Leaf


LeafEdges = Mapping[LeafEdge, Kinds]


@dataclass(frozen=True)
class Snapshot:
    """Columns with their types where these are known, edges, and the jobs that make each dataset.

    ``known`` are the names of each dataset, by which those of another store are recognized. ``leaves`` are the parts of
    edges of which these are known, ``within`` the fields within columns that are among the columns.
    """

    columns: Mapping[ColumnName, str]
    edges: Mapping[NamedEdge, Kinds]
    jobs: Mapping[str, frozenset[str]]
    known: Mapping[Dataset, str]
    leaves: Mapping[NamedEdge, LeafEdges] = field(default_factory=dict)
    within: Mapping[ColumnName, Leaf] = field(default_factory=dict)

    def downstream(self, columns: Collection[ColumnName]) -> set[ColumnName]:
        """Return the columns that depend on some columns, without those."""
        outputs: dict[ColumnName, list[tuple[Path, ColumnName]]] = {}
        for source, output in self.edges:
            column, path = self._leaf(source)
            outputs.setdefault(column, []).append((path, output))
        of_dataset: dict[str, list[ColumnName]] = {}
        for one in self.columns.keys() - self.within.keys():
            of_dataset.setdefault(one.dataset, []).append(one)

        def after(name: ColumnName) -> Iterable[ColumnName]:
            if name.column == WHOLE:
                return of_dataset.get(name.dataset, ())
            column, path = self._leaf(name)
            return [output for other, output in outputs.get(column, ()) if related(path, other)]

        return reachable(columns, after) - {*columns}

    def _leaf(self, name: ColumnName) -> Leaf:
        return self.within.get(name, Leaf(name))


def snapshot(
    connection: Connection, at: int | None = None, same: Mapping[Dataset, str] | None = None, *, nested: bool = False
) -> Snapshot:
    """Return the lineage of a store.

    Args:
        connection: of the store.
        at: a moment in microseconds since 1970; None for now.
        same: the names of datasets in another snapshot: those that this store has too are called as there.
        nested: whether the parts of edges are read from events, some milliseconds for each output with nested fields.
    """
    listed = connection.execute(names.listed(connection, select(schema.dataset.c.id))).scalars()
    datasets = names.datasets(connection, list(listed), at)
    shown = {id_: _shown(dataset, same or {}) for id_, dataset in datasets.items()}
    fields = _fields(connection, at, shown)
    rows = _rows(connection, at, fields, shown)
    edges, jobs = _edges(connection, rows, fields, shown)
    described = columns_then(connection, datasets, at)
    columns = {ColumnName(shown[id_], one.name): one.type for id_, own in described.items() for one in own}
    # An edge from a column that a schema no longer has is that of a reader which has not run since.
    with_schema = {shown[id_] for id_ in described}
    ends = {name for edge in edges for name in edge if name.column != WHOLE and name.dataset not in with_schema}
    columns |= dict.fromkeys(ends, "")
    known = {one: shown[id_] for id_, dataset in datasets.items() for one in dataset.names}
    within = [row for row in rows if not all(is_flat(columns.get(fields[end], "")) for end in row[:2] if end > 0)]
    leaves = _leaf_edges(connection, at, within if nested else [], fields, shown)
    return Snapshot(columns, edges, jobs, known, leaves)


def _shown(dataset: KnownDataset, same: Mapping[Dataset, str]) -> str:
    every = dataset.names
    return next((same[one] for one in every if one in same), str(dataset))


def _fields(connection: Connection, at: int | None, shown: Mapping[int, str]) -> dict[int, ColumnName]:
    """The columns by id; one that was dropped is still called what it was, unless another is called so now."""
    called, own = names.NamesAtMoment(connection, at), schema.field.c
    rows = connection.execute(select(own.id, own.dataset_id, own.name))
    found = {id_: ColumnName(shown[of], called(of, name)) for id_, of, name in rows if of in shown}
    taken = {*found.values()}
    former = {id_: one._replace(column=name_before_drop(one.column)) for id_, one in found.items()}
    return {id_: found[id_] if one in taken else one for id_, one in former.items()}


def _rows(
    connection: Connection, at: int | None, fields: Mapping[int, ColumnName], shown: Mapping[int, str]
) -> list[Row]:
    edges, up = edges_within(connection, Bounds(as_of=at)), Direction.UP
    rows = [*edges.of_fields(up, fields).links, *edges.of_datasets(up, shown).links]
    return [row for row in rows if row[0] in fields]


def _edges(
    connection: Connection, rows: Sequence[Row], fields: Mapping[int, ColumnName], shown: Mapping[int, str]
) -> tuple[dict[NamedEdge, Kinds], dict[str, frozenset[str]]]:
    kinds = {
        id_: replace(one, description="")
        for id_, one in names.transformations(connection, {row[2] for row in rows}).items()
    }
    found: dict[NamedEdge, set[Transformation]] = {}
    writers: dict[str, set[int]] = {}
    for source, output, how, job in rows:
        end = _end(output, fields, shown)
        found.setdefault(NamedEdge(fields[source], end), set()).add(kinds[how])
        writers.setdefault(end.dataset, set()).add(job)
    called = names.jobs(connection, {job for some in writers.values() for job in some})
    jobs = {dataset: frozenset(called[job].name for job in some) for dataset, some in writers.items()}
    return {edge: frozenset(some) for edge, some in found.items()}, jobs


def _end(output: int, fields: Mapping[int, ColumnName], shown: Mapping[int, str]) -> ColumnName:
    return fields[output] if output > 0 else ColumnName(shown[-output], WHOLE)


def is_flat(kind: str) -> bool:
    """Whether a type is known to have no fields within.

    >>> is_flat("decimal(10,2)"), is_flat("array<int>"), is_flat("")
    (True, False, False)
    """
    return "<" not in kind and kind not in UNDETAILED


def _leaf_edges(
    connection: Connection,
    at: int | None,
    rows: Sequence[Row],
    fields: Mapping[int, ColumnName],
    shown: Mapping[int, str],
) -> dict[NamedEdge, LeafEdges]:
    """The parts of edges, where the events of all their jobs have them."""
    owned = connection.execute(select(schema.field.c.id, schema.field.c.dataset_id, schema.field.c.name)).all()
    owners, called = {row.id: row.dataset_id for row in owned}, {row.id: row.name for row in owned}
    links = Closure({}, owners, called, tuple(rows), frozenset(), ())
    events = NestedEvents(connection, links, Bounds(as_of=at, seconds=inf), len(rows))
    found: dict[NamedEdge, dict[LeafEdge, Kinds]] = {}
    unknown: set[NamedEdge] = set()
    for source, output, job in dict.fromkeys((row[0], row[1], row[3]) for row in rows):
        edge = NamedEdge(fields[source], _end(output, fields, shown))
        known = events.links(source, output, job)
        if known is None:
            unknown.add(edge)
            continue
        parts = found.setdefault(edge, {})
        for link in known.links:
            part = LeafEdge(Leaf(edge.input, link.input), Leaf(edge.output, link.output))
            kinds = {replace(one, description="") for one in link.transformations}
            parts[part] = parts.get(part, frozenset()) | kinds
    return {edge: parts for edge, parts in found.items() if edge not in unknown}


@dataclass(frozen=True, slots=True)
class RetypedColumn:
    """A column that has another type."""

    column: ColumnName
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ReroutedColumn:
    """A column that is made of other columns than before."""

    column: ColumnName
    before: tuple[ColumnName, ...]
    after: tuple[ColumnName, ...]


@dataclass(frozen=True, slots=True)
class ChangedEdge:
    """An edge that came, went (no transformations on that side), or is of another kind; ``note`` says what is lost."""

    edge: NamedEdge
    before: Kinds
    after: Kinds
    note: str


@dataclass(frozen=True, slots=True)
class SnapshotDifference:
    """How two snapshots differ; ``broken`` are the columns downstream of what went or changed, each with those.

    ``changed`` are edges that no list of columns has, ``edges`` all that differ.
    """

    added: tuple[ColumnName, ...] = ()
    removed: tuple[ColumnName, ...] = ()
    retyped: tuple[RetypedColumn, ...] = ()
    rerouted: tuple[ReroutedColumn, ...] = ()
    changed: tuple[ChangedEdge, ...] = ()
    broken: Mapping[ColumnName, tuple[ColumnName, ...]] = field(default_factory=dict)
    edges: tuple[ChangedEdge, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.retyped or self.rerouted or self.changed)


def compared(before: Snapshot, after: Snapshot) -> SnapshotDifference:
    """Return how two snapshots differ. Edges into columns that came or went are not listed beside those."""
    removed = before.columns.keys() - after.columns.keys()
    added = after.columns.keys() - before.columns.keys()
    retyped = [
        RetypedColumn(one, before.columns[one], after.columns[one])
        for one in sorted(before.columns.keys() & after.columns.keys())
        if before.columns[one] and after.columns[one] and before.columns[one] != after.columns[one]
    ]
    rerouted = _rerouted(before, after)
    edges = tuple(_changed(before, after))
    causes = dict.fromkeys([*sorted(removed), *(one.column for one in retyped), *(one.column for one in rerouted)])
    broken: dict[ColumnName, list[ColumnName]] = {}
    for cause in causes:
        for column in before.downstream([cause]):
            if column.column != WHOLE:
                broken.setdefault(column, []).append(cause)
    return SnapshotDifference(
        tuple(sorted(added)),
        tuple(sorted(removed)),
        tuple(retyped),
        rerouted,
        tuple(_unlisted(edges, removed | added, {one.column for one in rerouted})),
        {column: tuple(causes) for column, causes in sorted(broken.items())},
        edges,
    )


def _rerouted(before: Snapshot, after: Snapshot) -> tuple[ReroutedColumn, ...]:
    was, now = _inputs(before), _inputs(after)
    both = [one for one in sorted(was.keys() | now.keys()) if one in before.columns and one in after.columns]
    return tuple(
        ReroutedColumn(one, tuple(sorted(was.get(one, ()))), tuple(sorted(now.get(one, ()))))
        for one in both
        if was.get(one, set()) != now.get(one, set())
    )


def _inputs(of: Snapshot) -> dict[ColumnName, set[ColumnName]]:
    """Return the columns whose values make each column."""
    found: dict[ColumnName, set[ColumnName]] = {}
    for edge, kinds in of.edges.items():
        if any(kind.direct for kind in kinds):
            found.setdefault(edge.output, set()).add(edge.input)
    return found


def _changed(before: Snapshot, after: Snapshot) -> Iterable[ChangedEdge]:
    for edge in sorted(before.edges.keys() | after.edges.keys()):
        was, now = before.edges.get(edge, frozenset()), after.edges.get(edge, frozenset())
        if was != now:
            yield ChangedEdge(edge, was, now, _note(was, now))


def _unlisted(
    edges: Iterable[ChangedEdge], columns: Collection[ColumnName], rerouted: Collection[ColumnName]
) -> Iterable[ChangedEdge]:
    """Yield the edges but for DIRECT ones of columns that are listed already."""
    for one in edges:
        only_direct = all(kind.direct for kind in one.before ^ one.after)
        rerouting = one.edge.output in rerouted and only_direct and not (one.before and one.after)
        if one.edge.output not in columns and not rerouting:
            yield one


_NOTES: tuple[tuple[str, Callable[[Kinds, Kinds], bool]], ...] = (
    ("mask lost", lambda was, now: _masked(was) and not _masked(now) and _direct(now)),
    ("mask added", lambda was, now: _direct(was) and not _masked(was) and _masked(now)),
    ("opaque now", lambda was, now: _opaque(now) and not _opaque(was)),
    ("value arrives now", lambda was, now: _direct(now) and not _direct(was)),
    ("value arrives no more", lambda was, now: _direct(was) and not _direct(now)),
)


def _note(was: Kinds, now: Kinds) -> str:
    """Return what the change means, the gravest first; for INDIRECT edges which of them came and went."""
    for text, holds in _NOTES:
        if holds(was, now):
            return text
    came = sorted(kind.subtype.value for kind in now - was if not kind.direct)
    went = sorted(kind.subtype.value for kind in was - now if not kind.direct)
    parts = [f"{name} added" for name in came] + [f"{name} removed" for name in went]
    return ", ".join(dict.fromkeys(parts)) or "another transformation"


def _direct(kinds: Kinds) -> bool:
    return any(kind.direct for kind in kinds)


def _masked(kinds: Kinds) -> bool:
    return _direct(kinds) and all(kind.masking for kind in kinds if kind.direct)


def _opaque(kinds: Kinds) -> bool:
    return any(kind.opaque for kind in kinds)
