"""The input columns of the fields of datasets, one step back; and the columns around some columns.

These are walked by levels, never by paths.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from uuid import UUID

from sqlalchemy import Connection, select

from headwater.graph import reachable
from headwater.model import Transformation
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import Bounds, Column, Direction, Overwrite
from headwater.store.questions.hops import replaced_links
from headwater.store.questions.walk.closure import Closure, walk
from headwater.store.questions.walk.edges import Link
from headwater.store.read_model import versions
from headwater.store.read_model.fields import lasting
from headwater.store.read_model.presence import presence
from headwater.store.read_model.visibility import described_fields, references, unseen_datasets
from headwater.store.sql.databases import rows_for

_EDGE = schema.edge
_WHOLE = schema.dataset_edge
_FIELD = schema.field
_Link = tuple[int, int, int]


@dataclass(frozen=True, slots=True, order=True)
class InputColumn:
    """A column that takes part in another, and how: ``type`` is MASKED, or the subtype of the transformation.

    ``replaced_by`` is the run that may have replaced the rows that were made so.
    """

    column: Column
    type: str
    description: str
    direct: bool = True
    replaced_by: Overwrite | None = field(default=None, compare=False)

    @classmethod
    def of(cls, column: Column, transformation: Transformation, replaced_by: Overwrite | None = None) -> "InputColumn":
        """In the words of columnLineage facet 1-0-0, which is what Marquez and its clients know."""
        return cls(
            column,
            "MASKED" if transformation.masking else transformation.subtype.value,
            transformation.description,
            transformation.direct,
            replaced_by,
        )


def of_datasets(connection: Connection, ids: Collection[int]) -> dict[int, dict[str, tuple[InputColumn, ...]]]:
    """For each dataset its fields that are made of others, by name.

    What acts on every row of a dataset (a filter, a join) is there for each of its fields.
    """
    fields = {row.id: (row.dataset_id, row.name) for row in lasting(connection, ids)}
    of_dataset: dict[int, list[int]] = {}
    for one, (dataset, _) in fields.items():
        of_dataset.setdefault(dataset, []).append(one)
    of_fields = [Link(*row) for row in _of_fields(connection, fields)]
    of_wholes = [Link(source, -dataset, *how) for source, dataset, *how in _of_wholes(connection, ids)]
    owners = {one: dataset for one, (dataset, _) in fields.items()}
    replaced = replaced_links(connection, [*of_fields, *of_wholes], owners)
    links = {(one.output, one.input, one.transformation): replaced.get(one[:3]) for one in of_fields}
    for one in of_wholes:
        for output in of_dataset.get(-one.output, ()):
            links[output, one.input, one.transformation] = replaced.get(one[:3])
    inputs = _named(connection, {link: links[link] for link in _seen(connection, links)})
    found: dict[int, dict[str, tuple[InputColumn, ...]]] = {}
    for output in sorted(inputs, key=lambda one: fields[one]):
        dataset, name = fields[output]
        found.setdefault(dataset, {})[name] = tuple(sorted(inputs[output]))
    return found


def _seen(connection: Connection, links: Collection[_Link]) -> list[_Link]:
    """The links without references whose input may not be seen; their outputs are what was asked for."""
    marked = references(connection)
    sources = {source for _, source, transformation in links if transformation in marked}
    question = select(_FIELD.c.id, _FIELD.c.dataset_id)
    rows = rows_for(connection, sources, lambda some: question.where(_FIELD.c.id.in_(some)))
    owner = {row.id: row.dataset_id for row in rows}
    unseen = unseen_datasets(connection, set(owner.values()))
    return [link for link in links if link[2] not in marked or owner[link[1]] not in unseen]


def _named(connection: Connection, links: Mapping[_Link, Overwrite | None]) -> dict[int, set[InputColumn]]:
    columns = names.columns(connection, {source for _, source, _ in links})
    transformations = names.transformations(connection, {transformation for *_, transformation in links})
    inputs: dict[int, set[InputColumn]] = {}
    for (output, source, transformation), replaced_by in links.items():
        inputs.setdefault(output, set()).add(
            InputColumn.of(columns[source], transformations[transformation], replaced_by)
        )
    return inputs


def _of_fields(connection: Connection, fields: Collection[int]) -> Iterable[tuple[int, int, int, int]]:
    question = select(_EDGE.c.input_field, _EDGE.c.output_field, _EDGE.c.transformation_id, _EDGE.c.job_id)
    return rows_for(connection, fields, lambda some: question.where(_EDGE.c.output_field.in_(some)))


def _of_wholes(connection: Connection, datasets: Collection[int]) -> Iterable[tuple[int, int, int, int]]:
    if not presence(connection).dataset_edges:
        return ()
    question = select(_WHOLE.c.input_field, _WHOLE.c.output_dataset, _WHOLE.c.transformation_id, _WHOLE.c.job_id)
    return rows_for(connection, datasets, lambda some: question.where(_WHOLE.c.output_dataset.in_(some)))


_DATASET = schema.dataset
_WRITES = schema.run_dataset


@dataclass(frozen=True, slots=True)
class ColumnNode:
    """A column and what it is made of; nothing when it is only there because others are made of it."""

    column: Column
    inputs: tuple[InputColumn, ...]


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
    links: dict[_Link, Overwrite | None] = {}
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
    closure: Closure, hidden: Collection[int], gone: Collection[int], replaced: Mapping[_Link, Overwrite]
) -> dict[_Link, Overwrite | None]:
    """The links of a closure from field to field, without those of hidden datasets and to fields that are gone.

    Each has the run that may have ``replaced`` it.
    """
    of_dataset: dict[int, list[int]] = {}
    for one, dataset in closure.dataset_of.items():
        if dataset not in hidden and one not in gone:
            of_dataset.setdefault(dataset, []).append(one)
    shown = {one for fields in of_dataset.values() for one in fields}
    links: dict[_Link, Overwrite | None] = {}
    for source, output, transformation, _ in closure.links:
        outputs = [output] if output > 0 else of_dataset.get(-output, [])
        by = replaced.get((source, output, transformation))
        links |= {(source, one, transformation): by for one in outputs if source in shown and one in shown}
    return links


def _reached(links: Collection[_Link], seeds: Collection[int], *, forward: bool) -> set[_Link]:
    """The links that still lead somewhere from the seeds."""
    near, far = (0, 1) if forward else (1, 0)
    onward: dict[int, list[int]] = {}
    for link in links:
        onward.setdefault(link[near], []).append(link[far])
    reached = reachable(seeds, lambda node: onward.get(node, ()))
    return {link for link in links if link[near] in reached}


def _nodes(connection: Connection, links: Mapping[_Link, Overwrite | None], at: int | None) -> tuple[ColumnNode, ...]:
    columns = names.columns(connection, {end for source, output, _ in links for end in (source, output)}, at)
    transformations = names.transformations(connection, {transformation for *_, transformation in links})
    inputs: dict[int, set[InputColumn]] = {}
    for (source, output, transformation), replaced_by in links.items():
        inputs.setdefault(output, set()).add(
            InputColumn.of(columns[source], transformations[transformation], replaced_by)
        )
    return tuple(ColumnNode(column, tuple(sorted(inputs.get(one, ())))) for one, column in columns.items())
