"""The input columns of the fields of datasets, one step back."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from headwater.model import Transformation
from headwater.store import schema
from headwater.store.questions import names
from headwater.store.questions.answers import Column, Overwrite
from headwater.store.questions.hops import replaced_links
from headwater.store.questions.walk.edges import Link
from headwater.store.read_model.fields import lasting
from headwater.store.read_model.presence import presence
from headwater.store.read_model.visibility import references, unseen_datasets
from headwater.store.sql.rows import rows_for

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
