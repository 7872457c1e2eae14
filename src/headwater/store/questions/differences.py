"""The changes of edges between two moments."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from headwater.errors import UnknownName
from headwater.model import Job
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import UNBOUNDED, Bounds, Column, Direction, Hop, KnownDataset
from headwater.store.questions.hops import named_hops
from headwater.store.questions.lists.versions import NO_CHANGES, ColumnChanges, column_changes
from headwater.store.questions.lookup.find import Name, find
from headwater.store.questions.walk.closure import walk
from headwater.store.questions.walk.conditions import job_ids
from headwater.store.questions.walk.edges import Link, edges_within
from headwater.store.sql.databases import rows_for
from headwater.store.store import Store

Ends = tuple[int, int, int]
"""Input, output and job of links that are one hop."""


@dataclass(frozen=True, slots=True)
class ChangedHop:
    """A step that stayed, with other transformations."""

    before: Hop
    after: Hop


@dataclass(frozen=True, slots=True)
class Difference:
    """The steps that came, went, or changed between two moments, and the columns; ``about`` is what was compared."""

    about: Column | KnownDataset | Job
    added: tuple[Hop, ...]
    removed: tuple[Hop, ...]
    changed: tuple[ChangedHop, ...]
    truncated: tuple[str, ...] = ()
    columns: ColumnChanges = NO_CHANGES


@dataclass(frozen=True, slots=True)
class _LinksAtMoment:
    """The links of a moment."""

    links: tuple[Link, ...]
    truncated: tuple[str, ...] = ()

    def together(self) -> dict[Ends, frozenset[int]]:
        """The transformations of each hop."""
        found: dict[Ends, set[int]] = {}
        for link in self.links:
            found.setdefault((link.input, link.output, link.job), set()).add(link.transformation)
        return {ends: frozenset(transformations) for ends, transformations in found.items()}


def difference(
    store: Store, name: Name, before: int, after: int | None = None, bounds: Bounds = UNBOUNDED
) -> Difference:
    """Compares what makes a dataset, or all that is upstream of a column, at a moment and at another (None is now).

    Raises:
        UnknownName, AmbiguousName: the name fits none at either moment, or several.
    """
    earlier, later = replace(bounds, as_of=before), replace(bounds, as_of=after)
    with store.read() as connection:
        try:
            about = find(connection, name, after, bounds.sees)
        except UnknownName:
            about = find(connection, name, before, bounds.sees)
        then = (_links(connection, about, earlier), _links(connection, about, later))
        columns = _columns(connection, about, before, after)
        return replace(_compared(connection, about, then, (before, after)), columns=columns)


def difference_of_job(
    store: Store, job: str, before: int, after: int | None = None, bounds: Bounds = UNBOUNDED
) -> Difference:
    """Compares what a job makes of all of its outputs.

    Raises:
        UnknownName: no job has that name.
    """
    mine = replace(bounds, jobs=(job,))
    with store.read() as connection:
        ids = job_ids(connection, job, bounds.sees)
        table = schema.lineage
        written = select(table.c.output_id).where(table.c.job_id.in_(ids)).distinct()
        outputs = connection.execute(written).scalars().all()
        then = (
            _into(connection, outputs, replace(mine, as_of=before)),
            _into(connection, outputs, replace(mine, as_of=after)),
        )
        run, touch = schema.run.c, schema.run_dataset.c
        touched = (
            select(touch.dataset_id).join(schema.run, run.id == touch.run_id).where(run.job_id.in_(ids), touch.written)
        )
        columns = column_changes(connection, connection.execute(touched.distinct()).scalars().all(), before, after)
        found = _compared(connection, names.jobs(connection, ids)[ids[0]], then, (before, after))
        return replace(found, columns=columns)


def _links(connection: Connection, about: Column | KnownDataset, bounds: Bounds) -> _LinksAtMoment:
    if isinstance(about, KnownDataset):
        return _into(connection, [about.id], bounds)
    closure = walk(connection, [about.id], Direction.UP, bounds)
    return _LinksAtMoment(closure.links, closure.truncated)


def _columns(connection: Connection, about: Column | KnownDataset, before: int, after: int | None) -> ColumnChanges:
    """Return the changes of the columns of a dataset, or of one of them."""
    if isinstance(about, KnownDataset):
        return column_changes(connection, [about.id], before, after)
    found = column_changes(connection, [about.dataset.id], before, after)
    return ColumnChanges(
        tuple(one for one in found.added if one.id == about.id),
        tuple(one for one in found.removed if one.id == about.id),
        tuple(one for one in found.changed if one.after.id == about.id),
    )


def _into(connection: Connection, datasets: Iterable[int], bounds: Bounds) -> _LinksAtMoment:
    """The links into whole datasets and all of their columns."""
    into, field = list(datasets), schema.field
    question = select(field.c.id)
    of_datasets = rows_for(connection, into, lambda some: question.where(field.c.dataset_id.in_(some)))
    fields, edges = [row.id for row in of_datasets], edges_within(connection, bounds)
    rows = [*edges.of_fields(Direction.UP, fields).links, *edges.of_datasets(Direction.UP, into).links]
    return _LinksAtMoment(tuple(map(Link._make, rows)))


def _compared(
    connection: Connection,
    about: Column | KnownDataset | Job,
    then: tuple[_LinksAtMoment, _LinksAtMoment],
    moments: tuple[int, int | None],
) -> Difference:
    before, after = then
    was, now = before.together(), after.together()
    changed = {ends for ends in was.keys() & now.keys() if was[ends] != now[ends]}
    earlier = _hops(connection, before, (was.keys() - now.keys()) | changed, moments[0])
    later = _hops(connection, after, (now.keys() - was.keys()) | changed, moments[1])
    return Difference(
        about,
        _sorted(hop for ends, hop in later.items() if ends not in changed),
        _sorted(hop for ends, hop in earlier.items() if ends not in changed),
        tuple(sorted((ChangedHop(earlier[ends], later[ends]) for ends in changed), key=lambda one: _place(one.after))),
        tuple(sorted({*before.truncated, *after.truncated})),
    )


def _hops(connection: Connection, then: _LinksAtMoment, pairs: Iterable[Ends], at: int | None) -> Mapping[Ends, Hop]:
    ends = set(pairs)
    links = [link for link in then.links if (link.input, link.output, link.job) in ends]
    nodes = {node for link in links for node in (link.input, link.output) if node > 0}
    columns = names.columns(connection, nodes, at)
    transformations = names.transformations(connection, {link.transformation for link in links})
    ordered = dict.fromkeys((link.input, link.output, link.job) for link in links)
    return dict(zip(ordered, named_hops(connection, links, columns, transformations, at), strict=True))


def _sorted(hops: Iterable[Hop]) -> tuple[Hop, ...]:
    return tuple(sorted(hops, key=_place))


def _place(hop: Hop) -> tuple[object, ...]:
    output = hop.output.name if hop.output is not None else ""
    return hop.output_dataset, output, hop.input, hop.job.namespace, hop.job.name
