"""Columns around some columns, each with what it is made of: walked by levels, never by paths."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import Connection, select

from headwater.graph import reachable
from headwater.store import schema
from headwater.store.catalog.field_lineage import InputColumn
from headwater.store.questions import names
from headwater.store.questions.answers import Bounds, Column, Direction, Overwrite
from headwater.store.questions.hops import replaced_links
from headwater.store.questions.walk.closure import Closure, walk
from headwater.store.read_model import versions
from headwater.store.read_model.fields import lasting
from headwater.store.read_model.presence import presence
from headwater.store.read_model.visibility import described_fields
from headwater.store.sql.rows import rows_for

_DATASET = schema.dataset
_WRITES = schema.run_dataset

Link = tuple[int, int, int]
"""The input, the output, the transformation; both ends are fields."""


@dataclass(frozen=True, slots=True)
class ColumnNode:
    """A column and what it is made of; nothing when it is only there because others are made of it."""

    column: Column
    given: tuple[InputColumn, ...]


@dataclass(frozen=True, slots=True)
class ColumnGraph:
    """The columns in no order, the versions of their datasets by id, and which limits cut the walk."""

    nodes: tuple[ColumnNode, ...]
    versions: dict[int, UUID]
    truncated: tuple[str, ...] = ()


def around(connection: Connection, seeds: Collection[int], bounds: Bounds, *, downstream: bool = False) -> ColumnGraph:
    """Everything upstream of some columns, and everything downstream when asked.

    A link to a whole dataset holds for each of its columns that are in the graph: that is what Marquez and
    its clients understand. Hidden datasets end the walk.
    """
    up = walk(connection, seeds, Direction.UP, bounds)
    closures = [up, walk(connection, seeds, Direction.DOWN, bounds)] if downstream else [up]
    datasets = {dataset for closure in closures for dataset in closure.dataset_of.values()}
    hidden = _hidden(connection, datasets)
    gone = _gone(connection, closures) if bounds.as_of is None else set()
    links: dict[Link, Overwrite | None] = {}
    for closure, forward in zip(closures, (False, True), strict=False):
        replaced = replaced_links(connection, closure.links, closure.dataset_of, bounds.as_of)
        of_fields = _field_links(closure, hidden, gone, replaced)
        links |= {link: of_fields[link] for link in _reached(of_fields, seeds, forward=forward)}
    nodes = _nodes(connection, links, bounds.as_of)
    named = {node.column.dataset.id: node.column.dataset.dataset for node in nodes}
    current = versions.latest(connection, named, bounds.as_of)
    cut = sorted({limit for closure in closures for limit in closure.truncated if limit != "depth"})
    return ColumnGraph(nodes, {one: version.uuid for one, version in current.items()}, tuple(cut))


def written_by(connection: Connection, run_id: int) -> list[int]:
    """The fields of the datasets that a run wrote."""
    field = schema.field
    question = select(field.c.id).join(_WRITES, _WRITES.c.dataset_id == field.c.dataset_id)
    mine = question.where(_WRITES.c.run_id == run_id, _WRITES.c.written, described_fields(connection))
    return list(connection.execute(mine).scalars())


def within(bounds: Bounds, depth: int) -> Bounds:
    """Bounds with a depth as Marquez counts it: 0 and 1 are one step (ColumnLineageDao)."""
    return replace(bounds, depth=max(depth, 1))


def _hidden(connection: Connection, datasets: Collection[int]) -> set[int]:
    if not presence(connection).hidden_datasets:
        return set()
    question = select(_DATASET.c.id).where(_DATASET.c.hidden_at.is_not(None))
    return {row.id for row in rows_for(connection, datasets, lambda some: question.where(_DATASET.c.id.in_(some)))}


def _gone(connection: Connection, closures: Collection[Closure]) -> set[int]:
    """The fields that are no more in the schemas of datasets which links lead to as a whole."""
    wholes = {-link.output for closure in closures for link in closure.links if link.output < 0}
    mine = {field for one in closures for field, dataset in one.dataset_of.items() if dataset in wholes}
    return mine - {row.id for row in lasting(connection, wholes)}


def _field_links(
    closure: Closure, hidden: Collection[int], gone: Collection[int], replaced: Mapping[Link, Overwrite]
) -> dict[Link, Overwrite | None]:
    """The links of a closure from field to field, without those of hidden datasets and to fields that are gone.

    Each has the run that may have ``replaced`` it.
    """
    of_dataset: dict[int, list[int]] = {}
    for field, dataset in closure.dataset_of.items():
        if dataset not in hidden and field not in gone:
            of_dataset.setdefault(dataset, []).append(field)
    shown = {field for fields in of_dataset.values() for field in fields}
    links: dict[Link, Overwrite | None] = {}
    for source, output, transformation, _ in closure.links:
        outputs = [output] if output > 0 else of_dataset.get(-output, [])
        by = replaced.get((source, output, transformation))
        links |= {(source, one, transformation): by for one in outputs if source in shown and one in shown}
    return links


def _reached(links: Collection[Link], seeds: Collection[int], *, forward: bool) -> set[Link]:
    """The links that still lead somewhere from the seeds."""
    near, far = (0, 1) if forward else (1, 0)
    onward: dict[int, list[int]] = {}
    for link in links:
        onward.setdefault(link[near], []).append(link[far])
    reached = reachable(seeds, lambda node: onward.get(node, ()))
    return {link for link in links if link[near] in reached}


def _nodes(connection: Connection, links: Mapping[Link, Overwrite | None], at: int | None) -> tuple[ColumnNode, ...]:
    columns = names.columns(connection, {end for source, output, _ in links for end in (source, output)}, at)
    ways = names.transformations(connection, {way for *_, way in links})
    given: dict[int, set[InputColumn]] = {}
    for (source, output, way), replaced_by in links.items():
        given.setdefault(output, set()).add(InputColumn.of(columns[source], ways[way], replaced_by))
    return tuple(ColumnNode(column, tuple(sorted(given.get(one, ())))) for one, column in columns.items())
